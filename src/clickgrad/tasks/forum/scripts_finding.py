"""How the templates that ask for facts are done."""

from __future__ import annotations

from collections.abc import Callable

from clickgrad.tasks.forum.ways import (
    city_of,
    date_of,
    facts_of,
    has_next,
    listed,
    open_author,
    open_post,
    open_user,
    remarks,
    scores,
    texts_of,
    turn_page,
    turn_to_comment,
)
from clickgrad.tasks.moves import Script, click, finish, labelled, noted, search, seek
from clickgrad.types import Observation, Task


def post_fact(task: Task, page: Observation) -> Script:
    if task.param("kind") == "posts":
        yield from _facts_of_posts(task, page)
        return
    title = str(task.param("post"))
    if task.param("kind") == "comment":
        author = str(task.param("author"))
        page = yield from open_post(page, title)
        page = yield from turn_to_comment(page, author)
        score = next(remark.score for remark in remarks(page) if remark.author == author)
        yield finish(str(score), f"{author} has {score} points", "the thread shows the score of each comment")
        return
    fact = str(task.param("fact"))
    if fact in ("score", "comments", "author"):
        page = yield search(page, title, f"I need to find the post {title}")
        answer = str(getattr(facts_of(page, title), fact))
        yield finish(answer, f"{fact} {answer}", "the list already shows this")
        return
    page = yield from open_post(page, title)
    if fact == "date":
        answer = labelled(page, "Posted")
        yield finish(answer, f"Posted: {answer}", "the post says when it was written")
        return
    page = yield from open_author(page)
    answer = labelled(page, "Joined") if fact == "joined" else city_of(page)
    yield finish(answer, f"{fact} {answer}", "the author's page says it")


def _facts_of_posts(task: Task, page: Observation) -> Script:
    found: list[str] = []
    for title in texts_of(task, "posts"):
        page = yield from open_post(page, title, found[-1] if found else "")
        if task.param("fact") == "city":
            page = yield from open_author(page)
        found.append(city_of(page) if task.param("fact") == "city" else labelled(page, "Posted"))
    answer = "; ".join(found)
    yield finish(answer, answer, "I have seen all of them")


def compare_posts(task: Task, page: Observation) -> Script:
    """Each page is left with a note of what it said; the answer comes from the notes."""
    what, titles = str(task.param("what")), texts_of(task, "posts")
    names = [] if what == "joined" else titles
    found: list[int] = []
    note = ""
    for title in titles:
        if what in ("date", "joined"):
            page = yield from open_post(page, title, note)
            if what == "joined":
                page = yield from open_author(page)
                names.append(page.title)
            when = date_of(page, "Joined" if what == "joined" else "Posted")
            found.append(-when.toordinal())
            note = f"{names[len(found) - 1]}: {when.isoformat()}"
        else:
            move = search(page, title, f"I need to find the post {title}")
            page = yield noted(move, note) if note else move
            facts = facts_of(page, title)
            found.append(facts.score if what == "score" else facts.comments)
            note = f"{title}: {found[-1]}"
    if what == "total":
        yield finish(str(sum(found)), f"{found[-1]}, so {sum(found)} in all", "I have seen all of them and can add up")
        return
    best = names[found.index(max(found))]
    yield finish(best, f"{note.rpartition(': ')[2]}, so {best}", "I have seen all of them and can compare")


def user_fact(task: Task, page: Observation) -> Script:
    kind = str(task.param("kind"))
    if kind == "compare":
        yield from _compare_users(task, page)
        return
    user = str(task.param("user"))
    if seek(page, "link", f"Author: {user}") is not None:
        page = yield from open_author(page)
    else:
        page = yield from open_user(page, user)
    if kind == "best":
        yield from _best_post(page)
        return
    if kind == "newest_comment":
        page = yield click(page, "link", "Comments", "the newest comment comes first there")
    reading: dict[str, Callable[[], str]] = {
        "joined": lambda: labelled(page, "Joined"),
        "comments": lambda: labelled(page, "Number of comments"),
        "city": lambda: city_of(page),
        "newest": lambda: listed(page)[0],
        "newest_comment": lambda: str(scores(page)[0]),
    }
    answer = reading[kind]()
    yield finish(answer, f"{user} {answer}", "this page says it")


def _compare_users(task: Task, page: Observation) -> Script:
    what, names = str(task.param("what")), texts_of(task, "users")
    found: list[int] = []
    note = ""
    for name in names:
        page = yield from open_user(page, name, note)
        if what == "joined":
            joined = date_of(page, "Joined")
            found.append(-joined.toordinal())
            note = f"{name} {joined.isoformat()}"
        else:
            found.append(int(labelled(page, "Number of comments")))
            note = f"{name} {found[-1]} comments"
    best = names[found.index(max(found))]
    yield finish(best, f"{note.rpartition(': ')[2]}, so {best}", "I have seen all of them and can compare")


def _best_post(page: Observation) -> Script:
    best = (-1_000_000, "")
    while True:
        best = max(best, *((facts_of(page, title).score, title) for title in listed(page)))
        if not has_next(page):
            break
        page = yield from turn_page(page, f"best so far {best[1]} with {best[0]}")
    yield finish(best[1], f"{best[1]} has {best[0]} points", "I have seen all posts of this user")

"""How the templates about lists are done."""

from __future__ import annotations

from clickgrad.tasks.forum.ways import (
    facts_of,
    has_next,
    listed,
    open_author,
    open_forum,
    open_post,
    open_user,
    remarks,
    scores,
    set_and_apply,
    sort_by,
    texts_of,
    turn_page,
)
from clickgrad.tasks.moves import ExpertLost, Script, Way, click, finish, labelled, search, seek
from clickgrad.types import Observation, Task


def _first(page: Observation) -> str:
    titles = listed(page)
    if not titles:
        raise ExpertLost(f"no posts on {page.url}")
    return titles[0]


def list_leader(task: Task, page: Observation) -> Script:
    if task.param("kind") == "rivals":
        yield from _rivals(task, page)
        return
    page = yield from open_forum(page, str(task.param("forum")))
    page = yield from sort_by(page, str(task.param("sort")), str(task.param("range")))
    title, asked = _first(page), str(task.param("asked"))
    if asked == "date":
        page = yield click(page, "link", title, "its own page says when it was posted")
        answer = labelled(page, "Posted")
    elif asked == "title":
        answer = title
    else:
        answer = str(getattr(facts_of(page, title), asked))
    yield finish(answer, f"the first one is {title}", "in this order the first one is meant")


def _rivals(task: Task, page: Observation) -> Script:
    names = texts_of(task, "forums")
    found: list[int] = []
    note = ""
    for name in names:
        page = yield from open_forum(page, name, note)
        page = yield from sort_by(page, str(task.param("sort")), str(task.param("range")))
        found.append(facts_of(page, _first(page)).score)
        note = f"{name} {found[-1]} points"
    best = names[found.index(max(found))]
    yield finish(best, f"{note}, so {best}", "I have seen the top post of each forum")


def open_list(task: Task, page: Observation) -> Script:
    page = yield from _way_to_list(task, page)
    yield finish("done", "this is the page I was asked for")


def _way_to_list(task: Task, page: Observation) -> Way:
    kind = str(task.param("kind"))
    if kind == "comments":
        user = str(task.param("user"))
        on_post = seek(page, "link", f"Author: {user}") is not None
        page = yield from open_author(page) if on_post else open_user(page, user)
        return (yield click(page, "link", "Comments", "the comments are on a page of their own"))
    if kind == "search":
        page = yield search(page, str(task.param("word")), "I was asked to search for this")
        return (yield from set_and_apply(page, "Forum", str(task.param("forum"))))
    page = yield from open_forum(page, str(task.param("forum")))
    page = yield from sort_by(page, str(task.param("sort")), str(task.param("range")))
    if kind == "sorted":
        for number in range(1, int(str(task.param("page")))):
            page = yield from turn_page(page, f"this is page {number}")
        return page
    page = yield click(page, "link", _first(page), "in this order the first one is meant")
    if kind == "author":
        page = yield from open_author(page)
        if task.param("comments"):
            page = yield click(page, "link", "Comments", "the comments are on a page of their own")
    return page


def count_comments(task: Task, page: Observation) -> Script:
    """The count so far is noted on every page that is left."""
    count = 0
    if task.param("kind") == "user":
        user = str(task.param("user"))
        if page.title != user:
            page = yield from open_user(page, user)
            page = yield click(page, "link", "Comments", "the comments are on a page of their own")
        while True:
            count += sum(score < 0 for score in scores(page))
            if not has_next(page):
                break
            page = yield from turn_page(page, f"{count} so far")
    else:
        note = ""
        for title in texts_of(task, "posts"):
            page = yield from open_post(page, title, note)
            while True:
                count += _wanted(task, page)
                note = f"{count} so far"
                if not has_next(page):
                    break
                page = yield from turn_page(page, note)
    yield finish(str(count), f"{count} in all", "I have seen every page of it")


def _wanted(task: Task, page: Observation) -> int:
    user, negative = str(task.param("user")), bool(task.param("negative"))
    return sum(user in ("", remark.author) and (remark.score < 0 or not negative) for remark in remarks(page))

"""How the templates that vote, subscribe and write are done."""

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
    sort_by,
    texts_of,
    turn_page,
    turn_to_comment,
)
from clickgrad.tasks.moves import Script, Way, click, fill, find, finish, noted, select
from clickgrad.types import Observation, Task

# --- subscribing and voting -----------------------------------------------------------------------------------------


def subscribe(task: Task, page: Observation) -> Script:
    if task.param("kind") == "post":
        page = yield from open_post(page, str(task.param("post")))
        page = yield click(page, "link", _forum_of(page), "this is the forum of the post")
        page = yield click(page, "button", "Subscribe", "this is what I was asked to do")
    else:
        for button, param in (("Subscribe", "join"), ("Unsubscribe", "leave")):
            for name in filter(None, texts_of(task, param)):
                page = yield from open_forum(page, name)
                page = yield click(page, "button", button, "this is what I was asked to do")
    yield finish("done", "the subscriptions are as asked")


def _forum_of(page: Observation) -> str:
    """A post's page names its forum right after the site's own links."""
    inbox = page.elements.index(find(page, "link", "Inbox"))
    return page.elements[inbox + 2].name


def vote_post(task: Task, page: Observation) -> Script:
    kind, way = str(task.param("kind")), str(task.param("way"))
    if kind == "of user":
        yield from _vote_posts_of_user(task, page, way)
        return
    if kind == "leading":
        page = yield from open_forum(page, str(task.param("forum")))
        page = yield from sort_by(page, str(task.param("sort")), str(task.param("range")))
        page = yield click(page, "link", listed(page)[0], "in this order the first one is meant")
        page = yield click(page, "button", way, "this is the vote I was asked for")
    else:
        for title in texts_of(task, "posts"):
            page = yield from open_post(page, title)
            page = yield click(page, "button", way, "this is the vote I was asked for")
    yield finish("done", "the vote is as asked")


def _vote_posts_of_user(task: Task, page: Observation, way: str) -> Script:
    forum = str(task.param("forum"))
    page = yield from open_user(page, str(task.param("user")))
    wanted = [title for title in listed(page) if facts_of(page, title).forum == forum]
    for number, title in enumerate(wanted, 1):
        move = click(page, "link", title, f"this one is in {forum}")
        page = yield noted(move, f"{len(wanted)} posts in {forum}, now {title}")
        page = yield click(page, "button", way, "this is the vote I was asked for")
        if number < len(wanted):
            page = yield from open_author(page)
    yield finish("done", f"voted on {len(wanted)} posts")


def vote_comment(task: Task, page: Observation) -> Script:
    kind, way, author = (str(task.param(name)) for name in ("kind", "way", "author"))
    page = yield from open_post(page, str(task.param("post")))
    if kind == "one":
        page = yield from turn_to_comment(page, author)
        page = yield click(page, "button", f"{way} {author}", "this is the vote I was asked for")
        yield finish("done", "the vote is as asked")
        return
    count = 0
    while True:
        for name, nth in _wanted_remarks(page, author if kind == "all" else ""):
            page = yield click(page, "button", f"{way} {name}", "this comment is one of those I was asked for", nth)
            count += 1
        if not has_next(page):
            break
        page = yield from turn_page(page, f"{count} votes so far")
    yield finish("done", f"{count} votes in all", "I have seen every page of the thread")


def _wanted_remarks(page: Observation, author: str) -> list[tuple[str, int]]:
    """(author, which of theirs on this page): of one author, or all with a negative score."""
    shown = remarks(page)
    found = []
    for place, remark in enumerate(shown):
        if remark.author == author or (not author and remark.score < 0):
            found.append((remark.author, [other.author for other in shown[:place]].count(remark.author)))
    return found


# --- writing --------------------------------------------------------------------------------------------------------


def submit_post(task: Task, page: Observation) -> Script:
    title, body, url = (str(task.param(name)) for name in ("title", "body", "url"))
    for forum in texts_of(task, "forums"):
        if page.title != "Submit":
            page = yield click(page, "link", "Submit", "new posts are written there")
        if find(page, "select", "Forum").value != forum:
            page = yield select(page, "Forum", forum, "the post belongs there")
        page = yield from _fill_in(page, {"Title": title, "Body": body, "URL": url})
        page = yield click(page, "button", "Create Post", "the form is complete")
    yield finish("done", "the post is there")


def _fill_in(page: Observation, fields: dict[str, str]) -> Way:
    for name, text in fields.items():
        if text:
            page = yield fill(page, name, text, f"this {name} was asked for")
    return page


def write_comment(task: Task, page: Observation) -> Script:
    kind, text = str(task.param("kind")), str(task.param("text"))
    if kind == "reply":
        page = yield from open_post(page, str(task.param("post")))
        for author in texts_of(task, "authors"):
            page = yield from turn_to_comment(page, author)
            page = yield click(page, "link", f"Reply to {author}", "the answer goes under this comment")
            page = yield fill(page, "Reply", text, "this text was asked for")
            page = yield click(page, "button", "Post Reply", "the text is complete")
    elif kind == "newest":
        page = yield from open_forum(page, str(task.param("forum")))
        page = yield from sort_by(page, "New")
        page = yield click(page, "link", listed(page)[0], "the newest one comes first")
        page = yield from _comment(page, text)
    else:
        for title in texts_of(task, "posts"):
            page = yield from open_post(page, title)
            page = yield from _comment(page, text)
    yield finish("done", "it is written")


def _comment(page: Observation, text: str) -> Way:
    page = yield fill(page, "Comment", text, "this text was asked for")
    return (yield click(page, "button", "Post Comment", "the text is complete"))


def edit_own(task: Task, page: Observation) -> Script:
    if task.param("kind") == "comment":
        page = yield from open_post(page, str(task.param("posts")))
        page = yield from _turn_to_own(page, "link", "Edit")
        page = yield click(page, "link", "Edit", "this is my comment")
        page = yield fill(page, "Comment", str(task.param("text")), "this text was asked for")
        page = yield click(page, "button", "Save", "the text is complete")
        yield finish("done", "the comment is changed")
        return
    fields = {"Title": "title", "Body": "body", "URL": "url"}
    new = {name: str(task.param(param)) for name, param in fields.items()}
    titles = [""] if task.param("kind") == "newest" else texts_of(task, "posts")
    for title in titles:
        if not page.title.startswith("Edit "):
            page = yield from open_post(page, title) if title else _open_newest(task, page)
            page = yield click(page, "link", "Edit Post", "I wrote this post and may change it")
        page = yield from _fill_in(page, new)
        page = yield click(page, "button", "Save", "all is as I was asked")
    yield finish("done", "it is changed")


def delete_own(task: Task, page: Observation) -> Script:
    kind = str(task.param("kind"))
    if kind == "comment":
        page = yield from open_post(page, str(task.param("posts")))
        page = yield from _turn_to_own(page, "button", "Delete")
        page = yield click(page, "button", "Delete", "this is my comment")
    elif kind == "newest":
        page = yield from _open_newest(task, page)
        page = yield click(page, "button", "Delete Post", "this is what I was asked to do")
    else:
        for title in texts_of(task, "posts"):
            page = yield from open_post(page, title)
            page = yield click(page, "button", "Delete Post", "this is what I was asked to do")
    yield finish("done", "it is deleted")


def _open_newest(task: Task, page: Observation) -> Way:
    """By way of one's own page."""
    page = yield click(page, "link", str(task.param("user")), "my own posts are listed there")
    return (yield click(page, "link", listed(page)[0], "the newest one comes first"))


def _turn_to_own(page: Observation, role: str, name: str) -> Way:
    """Through the thread until a comment of one's own is in sight."""
    while not any(element.role == role and element.name == name for element in page.elements):
        page = yield click(page, "link", "Next", "my comment is not on this page of the thread")
    return page

"""How the templates about messages, settings and forums, and those that cannot be done, are done."""

from __future__ import annotations

import re
from collections.abc import Generator

from clickgrad.tasks.forum.ways import (
    date_of,
    facts_of,
    has_next,
    links_and_lines,
    listed,
    open_author,
    open_forum,
    open_post,
    open_user,
    remarks,
    sort_by,
    texts_of,
    turn_page,
)
from clickgrad.tasks.moves import (
    ExpertLost,
    Move,
    Script,
    Way,
    click,
    fill,
    finish,
    labelled,
    search,
    seek,
    select,
    texts,
)
from clickgrad.types import Observation, Task

Look = Generator[Move, Observation, bool]  # moves that end in knowing whether something is missing

# --- messages -------------------------------------------------------------------------------------------------------


def message(task: Task, page: Observation) -> Script:
    kind = str(task.param("kind"))
    if kind == "read":
        page = yield from _open_message(page, str(task.param("sender")))
        said = next((found for line in texts(page) if (found := re.search(str(task.param("pattern")), line))), None)
        if said is None:
            raise ExpertLost(f"no answer on {page.url}")
        yield finish(said[1], said[0].strip(), "the message says it")
        return
    text = str(task.param("text"))
    if kind == "reply":
        page = yield from _open_message(page, str(task.param("sender")))
        page = yield fill(page, "Reply", text, "this text was asked for")
        page = yield click(page, "button", "Send Reply", "the text is complete")
    elif kind == "author":
        page = yield from open_post(page, str(task.param("post")))
        page = yield from open_author(page)
        page = yield from _send(page, str(task.param("subject")), text)
    else:
        for user in texts_of(task, "users"):
            if page.title != "New Message":
                page = yield from open_user(page, user)
            page = yield from _send(page, str(task.param("subject")), text)
    yield finish("done", "the message is sent")


def _open_message(page: Observation, sender: str) -> Way:
    """By way of the inbox, unless it is open already."""
    if any(line == f"From: {sender}" for line in texts(page)):
        return page
    if page.title != "Inbox":
        page = yield click(page, "link", "Inbox", "messages to me are there")
    while not (subject := _subject_from(page, sender)):
        page = yield click(page, "link", "Next", f"no message from {sender} is on this page")
    return (yield click(page, "link", subject, f"this one is from {sender}"))


def _subject_from(page: Observation, sender: str) -> str:
    found = (element.name for element, line in links_and_lines(page) if line.startswith(f"from {sender}, "))
    return next(found, "")


def _send(page: Observation, subject: str, text: str) -> Way:
    if seek(page, "link", "Send Message") is not None:
        page = yield click(page, "link", "Send Message", "the message is written there")
    page = yield fill(page, "Subject", subject, "this subject was asked for")
    page = yield fill(page, "Message", text, "this text was asked for")
    return (yield click(page, "button", "Send Message", "the message is complete"))


# --- settings and forums --------------------------------------------------------------------------------------------


def profile(task: Task, page: Observation) -> Script:
    if page.title != "Settings":
        page = yield click(page, "link", str(task.param("user")), "the settings are reached from my own page")
        page = yield click(page, "link", "Settings", "this is where I can change it")
    if bio := str(task.param("bio")):
        page = yield fill(page, "Bio", bio, "this bio was asked for")
    for name, param in (("Sort posts by", "default_sort"), ("Front page", "front_page")):
        if option := str(task.param(param)):
            page = yield select(page, name, option, f"{option} was asked for")
    if task.param("messages"):
        page = yield click(page, "checkbox", "Accept messages", "this is to be changed")
    page = yield click(page, "button", "Save Settings", "all is as I was asked")
    yield finish("done", "the settings are saved")


def forum_fact(task: Task, page: Observation) -> Script:
    kind, names = str(task.param("kind")), texts_of(task, "forums")
    if kind.startswith("compare"):
        found: list[int] = []
        note = ""
        for name in names:
            page = yield from open_forum(page, name, note)
            if kind == "compare subscribers":
                found.append(int(labelled(page, "Subscribers")))
                note = f"{name} {found[-1]} subscribers"
            else:
                created = date_of(page, "Created")
                found.append(-created.toordinal())
                note = f"{name} {created.isoformat()}"
        best = names[found.index(max(found))]
        yield finish(best, f"{note}, so {best}", "I have seen all of them and can compare")
        return
    page = yield from open_forum(page, names[0])
    label = {"created": "Created", "moderator": "Moderators", "subscribers": "Subscribers"}[kind]
    answer = labelled(page, label)
    yield finish(answer, f"{label}: {answer}", "the forum's page says it")


# --- what cannot be done --------------------------------------------------------------------------------------------


def impossible(task: Task, page: Observation) -> Script:
    """Look where it would be; say so when it is not there."""
    kind = str(task.param("kind"))
    if kind == "search":
        page = yield search(page, str(task.param("text")), "I need to find it first")
        missing = seek(page, "link", str(task.param("text"))) is None
    elif kind == "button":
        page = yield from open_post(page, str(task.param("posts")))
        missing = not any(element.name == task.param("button") for element in page.elements)
    elif kind in ("thread", "leader"):
        missing = yield from _not_in_threads(task, page)
    elif kind == "inbox":
        missing = yield from _not_in_inbox(page, str(task.param("user")))
    else:
        page = yield from open_user(page, str(task.param("user")))
        missing = yield from _not_on_user_page(task, page)
    if not missing:
        raise ExpertLost(f"it is there after all, on {page.url}")
    yield finish("N/A", "this is not possible here", "what I was asked for does not exist or is not allowed")


def _not_in_threads(task: Task, page: Observation) -> Look:
    user, note = str(task.param("user")), ""
    for title in texts_of(task, "posts") if task.param("kind") == "thread" else [""]:
        page = yield from open_post(page, title, note) if title else _open_leader(task, page)
        note = f"no comment of {user} so far"
        while user not in [remark.author for remark in remarks(page)] and has_next(page):
            page = yield from turn_page(page, note)
        if user in [remark.author for remark in remarks(page)]:
            return False
    return True


def _open_leader(task: Task, page: Observation) -> Way:
    page = yield from open_forum(page, str(task.param("forum")))
    page = yield from sort_by(page, str(task.param("sort")), str(task.param("range")))
    return (yield click(page, "link", listed(page)[0], "in this order the first one is meant"))


def _not_in_inbox(page: Observation, user: str) -> Look:
    page = yield click(page, "link", "Inbox", "messages to me are there")
    while not _subject_from(page, user):
        if not has_next(page):
            return True
        page = yield from turn_page(page, f"no message from {user} so far")
    return False


def _not_on_user_page(task: Task, page: Observation) -> Look:
    kind = str(task.param("kind"))
    if kind == "messages":
        return seek(page, "link", "Send Message") is None
    if kind == "phone":
        return not any("phone" in line.lower() for line in texts(page))
    while not any(facts_of(page, title).forum == task.param("forum") for title in listed(page)):
        if not has_next(page):
            return True
        page = yield from turn_page(page, f"nothing in {task.param('forum')} so far")
    return False

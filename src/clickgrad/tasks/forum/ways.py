"""How the forum is read and walked: what its experts have in common."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import NamedTuple

from clickgrad.tasks.moves import (
    ExpertLost,
    Move,
    Way,
    about,
    click,
    find,
    labelled,
    line_after,
    line_of,
    noted,
    search,
    seek,
    select,
    texts,
)
from clickgrad.types import Click, Element, Observation, Task

FRONT_PAGE = "Pocket Forum"


class Facts(NamedTuple):
    """The line under a post in a list: `14 points, 3 comments, by nora.hill, in Books, 2 days ago`."""

    score: int
    comments: int
    author: str
    forum: str


class Remark(NamedTuple):
    """A comment as a thread shows it."""

    author: str
    score: int


def texts_of(task: Task, name: str) -> list[str]:
    """A parameter that holds several texts."""
    return str(task.param(name)).split("|")


# --- reading --------------------------------------------------------------------------------------------------------


def facts_of(page: Observation, title: str) -> Facts:
    line = line_after(page, find(page, "link", title))
    found = re.match(r"(-?\d+) points?, (\d+) comments?(?:, by (\S+))?(?:, in (\w+))?, ", line)
    if found is None:
        raise ExpertLost(f"cannot read {line!r} on {page.url}")
    return Facts(int(found[1]), int(found[2]), found[3] or "", found[4] or "")


def listed(page: Observation) -> list[str]:
    """The titles of the posts in a list, in its order."""
    return [element.name for element, line in links_and_lines(page) if re.match(r"-?\d+ points?, \d+ comments?", line)]


def remarks(page: Observation) -> list[Remark]:
    """The comments in sight, on a post's page."""
    found = ((element, re.match(r"(-?\d+) points?, ", line)) for element, line in links_and_lines(page))
    return [Remark(element.name, int(match[1])) for element, match in found if match]


def scores(page: Observation) -> list[int]:
    """Of whatever the list in sight holds, posts or comments."""
    return [remark.score for remark in remarks(page)]


def author_of(page: Observation) -> str:
    return _author(page).name.removeprefix("Author: ")


def date_of(page: Observation, label: str) -> date:
    return datetime.strptime(labelled(page, label), "%B %d, %Y").date()


def city_of(page: Observation) -> str:
    """Bio: Nurse from Boston. I like ..."""
    found = re.search(r" from (\w+)\.", labelled(page, "Bio"))
    if found is None:
        raise ExpertLost(f"no city on {page.url}")
    return found[1]


def links_and_lines(page: Observation) -> list[tuple[Element, str]]:
    """Links with the line of text under each."""
    lines = (*texts(page), "")
    return [(element, lines[line_of(page, element) + 1]) for element in page.elements if element.role == "link"]


def _author(page: Observation) -> Element:
    for element in page.elements:
        if element.name.startswith("Author: "):
            return element
    raise ExpertLost(f"no author on {page.url}")


# --- walking --------------------------------------------------------------------------------------------------------


def open_post(page: Observation, title: str, note: str = "") -> Way:
    """To the post's page, wherever we are; `note` keeps what the page we leave said."""
    return _open(page, title, note, "post", "the post's own page says more")


def open_forum(page: Observation, name: str, note: str = "") -> Way:
    return _open(page, name, note, "forum", "this is the forum")


def open_user(page: Observation, name: str, note: str = "") -> Way:
    return _open(page, name, note, "user", "this is the user")


def _open(page: Observation, name: str, note: str, noun: str, why: str) -> Way:
    if page.title == name:
        return page
    if seek(page, "link", name) is None:
        move = search(page, name, f"I need to find the {noun} {name}")
        page = yield noted(move, note) if note else move
    return (yield click(page, "link", name, why))


def open_author(page: Observation) -> Way:
    """From a post to the page of its author."""
    element = _author(page)
    return (yield Move(Click(element.id), about(element), "the author's page says more"))


def sort_by(page: Observation, order: str, reach: str = "") -> Way:
    """Put a forum's posts in an order, the top ones of a time range if that is asked for."""
    page = yield click(page, "link", order, "this order puts what I look for first")
    if reach:
        page = yield from set_and_apply(page, "Time range", reach)
    return page


def set_and_apply(page: Observation, name: str, option: str) -> Way:
    page = yield select(page, name, option, f"{option} was asked for")
    return (yield click(page, "button", "Apply", "the list changes only when I apply this"))


def turn_page(page: Observation, note: str) -> Way:
    return (yield noted(click(page, "link", "Next", "the list goes on"), note))


def has_next(page: Observation) -> bool:
    return seek(page, "link", "Next") is not None


def turn_to_comment(page: Observation, author: str) -> Way:
    """Through the thread until a comment of this user is in sight."""
    while author not in [remark.author for remark in remarks(page)]:
        page = yield click(page, "link", "Next", f"no comment of {author} is on this page of the thread")
    return page

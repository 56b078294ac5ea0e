"""Ways around the code site that many scripts share."""

from __future__ import annotations

import re

from clickgrad.tasks.moves import (
    ExpertLost,
    Move,
    Way,
    about,
    click,
    find,
    line_after,
    line_of,
    noted,
    search,
    seek,
    select,
    texts,
)
from clickgrad.types import Click, Element, Observation, Task


def names(task: Task, param: str = "projects") -> list[str]:
    """A parameter that lists several."""
    return str(task.param(param)).split("|")


def starting_with(page: Observation, role: str, start: str) -> Element:
    """The element whose name begins so, such as the link `Issues (3)`."""
    for element in page.elements:
        if element.role == role and element.name.startswith(start):
            return element
    raise ExpertLost(f"no {role} {start!r} on {page.url}")


def click_starting(page: Observation, role: str, start: str, why: str) -> Move:
    return click_it(starting_with(page, role, start), why)


def listed(page: Observation, pattern: str) -> list[Element]:
    """The links of a list, known by what stands under each."""
    links = [element for element in page.elements if element.role == "link"]
    lines = texts(page)
    under = {link.id: line_of(page, link) + 1 for link in links}
    return [link for link in links if under[link.id] < len(lines) and re.search(pattern, lines[under[link.id]])]


def click_it(element: Element, why: str) -> Move:
    return Move(Click(element.id), about(element), why)


def inside(page: Observation, project: str) -> bool:
    return page.title == project or page.title.endswith(f" · {project}")


def to_project(page: Observation, name: str, note: str = "") -> Way:
    """To the project's own page; `note` is what must not be forgotten on leaving this one."""
    if page.title == name:
        return page
    if seek(page, "link", name) is None:
        move = search(page, name, f"I need to find the project {name}")
        page = yield noted(move, note) if note else move
        note = ""
    move = click(page, "link", name, "its own page leads to all the rest")
    return (yield noted(move, note) if note else move)


def to_tab(page: Observation, project: str, tab: str, note: str = "") -> Way:
    """To the project's Issues, Merge Requests, Commits, Members or Settings."""
    if page.title == f"{tab} · {project}":
        return page
    if not inside(page, project):
        page = yield from to_project(page, project, note)
    return (yield click(page, "link", tab, f"the project has a page for {tab.lower()}"))


def to_issue(page: Observation, project: str, title: str, closed: bool = False) -> Way:
    if page.title == f"{title} · {project}":
        return page
    page = yield from to_tab(page, project, "Issues")
    if seek(page, "link", title) is None:
        if closed:
            page = yield select(page, "State", "Closed", "the list shows only open issues, and this one is closed")
        page = yield search(page, title, "this page of the list does not have it", "Search issues")
    return (yield click(page, "link", title, "this is the issue"))


def to_issue_anywhere(page: Observation, title: str, note: str = "") -> Way:
    """Through the search of the whole site."""
    move = search(page, title, f"I need to find the issue {title}")
    page = yield noted(move, note) if note else move
    page = yield click_starting(page, "link", "Issues (", "I look for an issue, not for a project")
    return (yield click(page, "link", title, "this is the issue"))


def to_request(page: Observation, project: str, title: str, state: str = "Open") -> Way:
    if page.title == f"{title} · {project}":
        return page
    page = yield from to_tab(page, project, "Merge Requests")
    if seek(page, "link", title) is None:
        if state != "Open":
            page = yield select(page, "State", state, f"the list shows only open ones, and this one is {state.lower()}")
        page = yield search(page, title, "this page of the list does not have it", "Search merge requests")
    return (yield click(page, "link", title, "this is the merge request"))


def line_under(page: Observation, name: str) -> str:
    """The facts under the link of that name."""
    return line_after(page, find(page, "link", name))

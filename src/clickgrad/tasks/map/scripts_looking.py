"""How pages are opened, and how one finds out that something is not there."""

from __future__ import annotations

from clickgrad.tasks.map.scripts_finding import named
from clickgrad.tasks.map.ways import first_result, open_place, show_nearby
from clickgrad.tasks.moves import (
    ExpertLost,
    Move,
    Script,
    about,
    click,
    find,
    finish,
    labelled,
    search,
    seek,
    select,
    texts,
)
from clickgrad.types import Click, Observation, Task


def open_page(task: Task, page: Observation) -> Script:
    kind = task.param("kind")
    if kind == "here":
        page = yield search(page, str(task.param("at")), "the search takes coordinates too")
    elif kind == "category":
        page = yield click(page, "link", "Categories", "all categories are listed there")
        page = yield click(page, "link", str(task.param("category")), "this is the category")
        page = yield select(page, "Town", str(task.param("town")), "only this town was asked for")
        page = yield click(page, "button", "Apply", "the list changes only when I apply it")
    else:
        page = yield from open_place(page, str(task.param("a")))
    if kind == "nearest":
        page = yield from show_nearby(page, str(task.param("category")), "1 km")
        first = first_result(page, "Show")
        page = yield Move(Click(first.id), about(first), "the list begins with the nearest")
    if kind in ("nearby", "far nearby"):
        page = yield from show_nearby(page, str(task.param("category")), str(task.param("radius")))
    elif kind in ("report", "nearest"):
        page = yield click(page, "link", "Report a problem", "this opens the form")
    elif kind == "share":
        page = yield click(page, "link", "Share", "this opens the page for sharing")
    yield finish("done", "the page is open")


def unachievable(task: Task, page: Observation) -> Script:
    kind = task.param("kind")
    if kind == "no place":
        name = str(task.param("a"))
        page = yield search(page, name, f"I need to find {name}")
        if seek(page, "link", name):
            raise ExpertLost(f"{name} exists")
        yield finish("N/A", f"there is no {name}", "the search does not find it")
    elif kind == "no mode":
        page = yield click(page, "link", "Directions", "there I can ask for a route")
        vehicle = str(task.param("vehicle"))
        if vehicle.capitalize() in find(page, "select", "Travel by").options:
            raise ExpertLost(f"there are routes by {vehicle}")
        yield finish("N/A", f"no {vehicle} to travel by", "this way to travel is not offered")
    elif kind == "not saved":
        own, name = str(task.param("list")), str(task.param("a"))
        page = yield click(page, "link", "Saved", "my lists are there")
        page = yield click(page, "link", own, "the note should be in this list")
        if seek(page, "link", name):
            raise ExpertLost(f"{name} is in {own}")
        yield finish("N/A", f"{name} is not in {own}", "the list does not have it")
    elif kind == "none near":
        page = yield from open_place(page, str(task.param("a")))
        page = yield from show_nearby(page, str(task.param("category")), str(task.param("radius")))
        if labelled(page, "Found").partition(" ")[0] != "0":
            raise ExpertLost(f"there is something on {page.url}")
        yield finish("N/A", f"no {task.param('category')} so near", "the list is empty")
    else:
        yield from _no_phones(task, page)


def _no_phones(task: Task, page: Observation) -> Script:
    for name in named(task):
        page = yield from open_place(page, name)
        if any(line.startswith("Phone: ") for line in texts(page)):
            raise ExpertLost(f"{name} has a phone")
    yield finish("N/A", "no phone is listed", "the pages show no phone")


def best_rated(task: Task, page: Observation) -> Script:
    category = str(task.param("category"))
    if page.title != category:
        page = yield click(page, "link", "Categories", "all categories are listed there")
        page = yield click(page, "link", category, "this is the category")
    page = yield select(page, "Town", str(task.param("town")), "only this town was asked for")
    page = yield select(page, "Sort by", "Rating", "this puts the best one first")
    page = yield click(page, "button", "Apply", "the list changes only when I apply it")
    first = first_result(page, "Apply")
    if not task.param("phone"):
        yield finish(first.name, f"the first one is {first.name}", "in this order the first one is the answer")
        return
    page = yield Move(Click(first.id), about(first), "the first one is the best rated")
    answer = labelled(page, "Phone")
    yield finish(answer, f"Phone: {answer}", "the page names what I was asked for")

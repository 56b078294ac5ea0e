"""Parts of scripts that several of the map's templates share."""

from __future__ import annotations

import re

from clickgrad.tasks.moves import ExpertLost, Way, click, fill, find, labelled, noted, search, seek, select
from clickgrad.types import Element, Observation
from clickgrad.worlds.map.network import MODES

_TIME = re.compile(r"(?:(\d+) h )?(\d+) min")


def noting(way: Way, note: str) -> Way:
    """The same way, with a fact written down at its first move: pages are forgotten, remarks are not."""
    try:
        move = noted(next(way), note)
        while True:
            page = yield move
            move = way.send(page)
    except StopIteration as end:
        last: Observation = end.value
    return last


def open_place(page: Observation, name: str) -> Way:
    """To the place's own page, wherever this starts."""
    if page.title == name:
        return page
    if seek(page, "link", name) is None:
        page = yield search(page, name, f"I need to find {name}")
    return (yield click(page, "link", name, "its own page says more"))


def show_nearby(page: Observation, category: str, radius: str) -> Way:
    """From a place's page to the list of what is near it."""
    if not page.title.startswith("Near "):
        page = yield click(page, "link", "Nearby", "this lists what is around the place")
    if find(page, "select", "Category").value != category:
        page = yield select(page, "Category", category, f"I only look for {category}")
    if find(page, "select", "Radius").value != radius:
        page = yield select(page, "Radius", radius, f"{radius} was asked for")
    return (yield click(page, "button", "Show", "the list changes only when I ask for it"))


def ask_route(page: Observation, start: str, end: str, mode: str) -> Way:
    """To the directions from start to end, changing only what is not so yet."""
    if page.title != "Directions":
        page = yield click(page, "link", "Directions", "there I can ask for a route")
    return (yield from fill_route(page, start, end, mode))


def fill_route(page: Observation, start: str, end: str, mode: str) -> Way:
    changed = False
    for name, wanted, why in (("From", start, "the route begins there"), ("To", end, "the route ends there")):
        if find(page, "textbox", name).value != wanted:
            page = yield fill(page, name, wanted, why)
            changed = True
    travel = next(text for key, text in MODES.items() if key == mode)
    if find(page, "select", "Travel by").value != travel:
        page = yield select(page, "Travel by", travel, f"the trip is by {travel.lower()}")
        changed = True
    if changed:
        page = yield click(page, "button", "Get directions", "the form is complete")
    return page


def minutes(page: Observation) -> int:
    """The time of the route on the page."""
    found = _TIME.fullmatch(labelled(page, "Time"))
    if found is None:
        raise ExpertLost(f"no time on {page.url}")
    return 60 * int(found[1] or 0) + int(found[2])


def meters(text: str) -> float:
    """850 m -> 850.0, 3.4 km -> 3400.0"""
    number, _, unit = text.partition(" ")
    return float(number) * (1000 if unit == "km" else 1)


def first_result(page: Observation, button: str) -> Element:
    """The first link of a list that stands under the form with this button."""
    place = page.elements.index(find(page, "button", button))
    first = next((element for element in page.elements[place:] if element.role == "link"), None)
    if first is None or first.name.startswith(("Back to ", "Open map")):
        raise ExpertLost(f"no result on {page.url}")
    return first

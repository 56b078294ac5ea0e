"""How the templates about routes are done."""

from __future__ import annotations

import re
from itertools import pairwise

from clickgrad.tasks.map.scripts_finding import named
from clickgrad.tasks.map.ways import (
    ask_route,
    fill_route,
    first_result,
    meters,
    minutes,
    noting,
    open_place,
    show_nearby,
)
from clickgrad.tasks.moves import ExpertLost, Move, Script, click, finish, labelled, texts
from clickgrad.types import Click, Observation, Task
from clickgrad.worlds.map.network import MODES

_STEP = re.compile(r"\d+\. .*? on(?:to)? (?P<road>.+), (?P<length>[\d.]+ k?m)")


def route_fact(task: Task, page: Observation) -> Script:
    start, end = named(task)
    fact = str(task.param("fact"))
    if task.param("kind") == "all":
        shown: dict[str, str] = {}
        for mode, travel in MODES.items():
            way = ask_route(page, start, end, mode)
            page = yield from (
                noting(way, ", ".join(f"{key} {value}" for key, value in shown.items())) if shown else way
            )
            shown[travel] = labelled(page, fact)
        answer = ", ".join(f"{travel} {value}" for travel, value in shown.items())
        yield finish(answer, answer, "I have asked for all three")
        return
    if page.title == start:
        page = yield click(page, "link", "Directions from here", "the route begins at this place")
    page = yield from ask_route(page, start, end, str(task.param("mode")))
    answer = labelled(page, fact)
    yield finish(answer, f"{fact}: {answer}", "the route shows it")


def compare_routes(task: Task, page: Observation) -> Script:
    if task.param("kind") == "modes":
        start, end = named(task)
        fast, slow = str(task.param("mode")), str(task.param("mode_2"))
        page = yield from ask_route(page, start, end, fast)
        first = minutes(page)
        page = yield from noting(ask_route(page, start, end, slow), f"{fast} {first} min")
        second = minutes(page)
        yield finish(f"{second - first} min", f"{second} - {first} = {second - first} min", "this is the difference")
        return
    start, *ends = named(task)
    best, least, shown = "", 0.0, ""
    for end in ends:
        way = ask_route(page, start, end, str(task.param("mode")))
        page = yield from (noting(way, f"{best} {shown} is shortest so far") if best else way)
        value = labelled(page, "Distance")
        if not best or meters(value) < least:
            best, least, shown = end, meters(value), value
    yield finish(best, f"{best} {shown} is shortest", "I have seen them all")


def within_reach(task: Task, page: Observation) -> Script:
    start, *ends = named(task)
    fact, limit = str(task.param("kind")), float(str(task.param("limit")))
    inside, note = "", ""
    for end in ends:
        way = ask_route(page, start, end, str(task.param("mode")))
        page = yield from (noting(way, note) if note else way)
        size = float(minutes(page)) if fact == "Time" else meters(labelled(page, "Distance"))
        if size <= limit:
            inside = end
        note = f"{end} {labelled(page, fact)} {'is near enough' if size <= limit else 'is too far'}"
    if not inside:
        raise ExpertLost(f"nothing is within {limit} of {start}")
    yield finish(inside, f"{inside} is near enough", "only this one is near enough")


def tour(task: Task, page: Observation) -> Script:
    stops = named(task)
    total = 0
    for start, end in pairwise(stops):
        way = ask_route(page, start, end, str(task.param("mode")))
        page = yield from (noting(way, f"{total} min so far") if total else way)
        total += minutes(page)
    yield finish(f"{total} min", f"{total} min in all", "I have added all the legs")


def open_directions(task: Task, page: Observation) -> Script:
    mode, kind = str(task.param("mode")), task.param("kind")
    start = str(task.param("a"))
    if kind == "nearest":
        category = str(task.param("category"))
        page = yield from open_place(page, start)
        page = yield from show_nearby(page, category, "1 km")
        first = first_result(page, "Show")
        note = f"Note: nearest {category} is {first.name}"
        page = yield Move(Click(first.id), note, "its page leads to the directions")
        page = yield click(page, "link", "Directions to here", "the route ends here")
        page = yield from fill_route(page, start, first.name, mode)
    elif kind == "swap":
        page = yield click(page, "link", "Swap", "the route is shown the wrong way around")
    else:
        if page.title == start:
            page = yield click(page, "link", "Directions from here", "the route begins at this place")
        page = yield from ask_route(page, start, str(task.param("b")), mode)
    yield finish("done", "the directions are shown")


def route_steps(task: Task, page: Observation) -> Script:
    start, end = named(task)
    page = yield from ask_route(page, start, end, str(task.param("mode")))
    found = [step for step in map(_STEP.fullmatch, texts(page)) if step]
    if not found:
        raise ExpertLost(f"no steps on {page.url}")
    if task.param("kind") == "first":
        yield finish(found[0]["road"], found[0][0], "the first step names the road")
        return
    step = max(found, key=lambda step: meters(step["length"]))
    yield finish(step["road"], step[0], "no other step is as long")

"""How the templates about places are done."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from clickgrad.tasks.map.ways import fill_route, first_result, noting, open_place, show_nearby
from clickgrad.tasks.moves import (
    ExpertLost,
    Move,
    Script,
    about,
    click,
    find,
    finish,
    labelled,
    line_after,
    search,
)
from clickgrad.types import Click, Element, Observation, Task

_FAR = "1 km"  # the radius the list starts with


def named(task: Task) -> list[str]:
    """The places of the intent, in its order."""
    params = dict(task.params)
    return [str(params[letter]) for letter in "abcdef" if letter in params]


def place_fact(task: Task, page: Observation) -> Script:
    kind = task.param("kind")
    if kind == "one":
        yield from _one_fact(task, page)
    elif kind == "several":
        yield from _collect(named(task), page, str(task.param("fact")))
    else:
        yield from _compare(named(task), page, "Saturday", _closing, "closes latest")


def _one_fact(task: Task, page: Observation) -> Script:
    name, fact = str(task.param("a")), str(task.param("fact"))
    if fact == "Address" and page.title != name:
        page = yield search(page, name, f"I need to find {name}")
        _, _, facts = line_after(page, find(page, "link", name)).partition(", ")
        address = facts.rpartition(", rated ")[0]
        yield finish(address, f"Address: {address}", "the list already shows the address")
        return
    page = yield from open_place(page, name)
    if fact == "Closing":
        hours = labelled(page, "Saturday")
        yield finish(hours.partition("-")[2], f"Saturday: {hours}", "the second time is when it closes")
        return
    answer = labelled(page, fact)
    yield finish(answer, f"{fact}: {answer}", "the page names what I was asked for")


def _collect(names: Sequence[str], page: Observation, label: str) -> Script:
    """The same fact of each place; all of them make up the answer."""
    answers: list[str] = []
    for name in names:
        way = open_place(page, name)
        page = yield from (noting(way, f"{names[len(answers) - 1]} {answers[-1]}") if answers else way)
        answers.append(labelled(page, label))
    yield finish(", ".join(answers), f"{names[-1]} {answers[-1]}", "now I have what was asked of each of them")


def _compare(names: Sequence[str], page: Observation, label: str, worth: Callable[[str], float], what: str) -> Script:
    """The place whose fact is worth most. Only the best so far is written down."""
    best, most, shown = "", 0.0, ""
    for name in names:
        way = open_place(page, name)
        page = yield from (noting(way, f"{best} {shown} {what} so far") if best else way)
        value = labelled(page, label)
        if not best or worth(value) > most:
            best, most, shown = name, worth(value), value
    yield finish(best, f"{best} {shown} {what}", "I have seen them all")


def _closing(hours: str) -> float:
    found = re.fullmatch(r"[\d:]+-(\d+):(\d+)", hours)
    if found is None:
        raise ExpertLost(f"cannot read the hours {hours!r}")
    return 60 * int(found[1]) + int(found[2])


def _latitude(pair: str) -> float:
    return float(pair.partition(",")[0])


def coordinates(task: Task, page: Observation) -> Script:
    kind = task.param("kind")
    if kind == "of":
        yield from _collect(named(task), page, "Coordinates")
    elif kind == "north":
        yield from _compare(named(task), page, "Coordinates", _latitude, "is farthest north")
    else:
        page = yield search(page, str(task.param("at")), "the search takes coordinates too")
        here = first_result(page, "Look")
        if fact := task.param("fact"):
            page = yield Move(Click(here.id), about(here), "the nearest place is the one at this point")
            answer = labelled(page, str(fact))
            yield finish(answer, f"{fact}: {answer}", "the page names what I was asked for")
        else:
            yield finish(here.name, f"{here.name} {_how_far(page, here)}", "the first one is right at this point")


def _how_far(page: Observation, result: Element) -> str:
    """Under a result of these lists stands first how far it is."""
    return line_after(page, result).partition(", ")[0]


def nearest(task: Task, page: Observation) -> Script:
    name, category = str(task.param("a")), str(task.param("category"))
    if not page.title.startswith("Near "):
        page = yield from open_place(page, name)
    page = yield from show_nearby(page, category, _FAR)
    first = first_result(page, "Show")
    if task.param("kind") == "walk":
        note = f"nearest {category} is {first.name}"
        page = yield Move(Click(first.id), f"Note: {note}", "its page leads to the directions")
        page = yield click(page, "link", "Directions to here", "the walk ends here")
        page = yield from fill_route(page, name, first.name, "foot")
        yield finish(labelled(page, "Time"), f"Time: {labelled(page, 'Time')}", "the route shows the time")
    elif fact := task.param("fact"):
        page = yield Move(Click(first.id), about(first), "the list begins with the nearest")
        answer = labelled(page, str(fact))
        yield finish(answer, f"{fact}: {answer}", "the page names what I was asked for")
    else:
        yield finish(first.name, f"{first.name} {_how_far(page, first)}", "the list begins with the nearest")


def count_near(task: Task, page: Observation) -> Script:
    params, radius = dict(task.params), str(task.param("radius"))
    if "b" in params:
        yield from _more_around(task, page, radius)
        return
    if not page.title.startswith("Near "):
        page = yield from open_place(page, str(params["a"]))
    page = yield from show_nearby(page, str(params["category"]), radius)
    total = _found(page)
    if other := params.get("category_2"):
        note = f"{total} {params['category']}"
        page = yield from noting(show_nearby(page, str(other), radius), note)
        yield finish(str(total + _found(page)), f"{total} + {_found(page)} = {total + _found(page)}", "I add the two")
    else:
        yield finish(str(total), f"Found: {total} within {radius}", "the page counts them")


def _more_around(task: Task, page: Observation, radius: str) -> Script:
    counts: dict[str, int] = {}
    for name in named(task):
        way = open_place(page, name)
        page = yield from (noting(way, _first_count(counts)) if counts else way)
        page = yield from show_nearby(page, str(task.param("category")), radius)
        counts[name] = _found(page)
    best = max(counts, key=lambda name: counts[name])
    yield finish(best, f"{best} has {counts[best]}", "I have counted around both")


def _first_count(counts: Mapping[str, int]) -> str:
    return next(f"{name} has {count}" for name, count in counts.items())


def _found(page: Observation) -> int:
    return int(labelled(page, "Found").partition(" ")[0])

"""From A to B: the form, what the visitor may have meant, and the way with its steps."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.responses import Response

from clickgrad.worlds.map.browse import MAX_TEXT
from clickgrad.worlds.map.data import Place
from clickgrad.worlds.map.drawing import Pin
from clickgrad.worlds.map.geometry import Point, coordinates
from clickgrad.worlds.map.network import MODES, Mode
from clickgrad.worlds.map.pages import PAGE_SIZE, Visit, one_line, paging, panel, render, seed_of
from clickgrad.worlds.map.routing import Spot, find_route, nearest_spot
from clickgrad.worlds.map.search import Query, read_coordinates
from clickgrad.worlds.map.terrain import terrain
from clickgrad.worlds.map.view import WHOLE, fit
from clickgrad.worlds.pages import redirect

SUGGESTIONS = 5


@dataclass(frozen=True, slots=True)
class End:
    """A start or an end as it was typed, and what it stands for."""

    text: str
    spot: Spot | None = None
    point: Point = (0, 0)
    error: str = ""
    meant: tuple[str, ...] = ()  # names to choose from


def directions(visit: Visit) -> Response:
    typed = [one_line(visit.query.get(name, ""))[:MAX_TEXT] for name in ("from", "to")]
    mode: Mode = next((mode for mode in MODES if mode == visit.query.get("mode")), "car")
    start, end = (_read_end(visit.db, text) for text in typed)
    values: dict[str, object] = {"start": start, "end": end, "mode": mode, "modes": MODES}
    values["swap_url"] = directions_url(end.text, start.text, mode)
    if not (start.spot and end.spot):
        choices = {name: _choices(start, end, name, mode) for name in ("from", "to")}
        drawn = panel(visit, WHOLE)
        return render(visit, "directions.html", 200, route=None, steps=[], choices=choices, panel=drawn, **values)
    if [visit.query.get(name) for name in ("from", "to", "mode")] != [start.text, end.text, mode]:
        return redirect(directions_url(start.text, end.text, mode))  # one way has one address
    route = find_route(seed_of(visit.db), start.spot, end.spot, mode)
    pages = paging(visit, "/directions", len(route.steps), ("from", "to", "mode"))
    steps = list(enumerate(route.steps, 1))[pages.offset :][:PAGE_SIZE]
    pins = [Pin(start.point), Pin(end.point, "end")]
    drawn = panel(visit, fit([*route.line, start.point, end.point]), pins, line=route.line)
    return render(
        visit, "directions.html", 200, route=route, steps=steps, pages=pages, choices={}, panel=drawn, **values
    )


def directions_url(start: str, end: str, mode: str) -> str:
    return f"/directions?{urlencode({'from': start, 'to': end, 'mode': mode})}"


def _choices(start: End, end: End, field: str, mode: str) -> Sequence[tuple[str, str]]:
    """Name and address of each of the places that may have been meant."""
    if field == "from":
        return [(name, directions_url(name, end.text, mode)) for name in start.meant]
    return [(name, directions_url(start.text, name, mode)) for name in end.meant]


def _read_end(db: sqlite3.Connection, text: str) -> End:
    """By name first, then as coordinates, then as words of which only one place has all."""
    if not text:
        return End(text)
    row = db.execute("SELECT * FROM map_places WHERE name = ?", (text,)).fetchone()
    if row:
        return _at_place(Place(*row))
    point = read_coordinates(text)
    if point:
        return End(coordinates(point), nearest_spot(terrain(seed_of(db)).network, point), point)
    found = Query(text).run(db)
    if len(found) == 1:
        return _at_place(found[0])
    if not found:
        return End(text, error="No place found.")
    return End(text, error="Several places match. Choose one:", meant=tuple(one.name for one in found[:SUGGESTIONS]))


def _at_place(place: Place) -> End:
    return End(place.name, place.spot, place.point)

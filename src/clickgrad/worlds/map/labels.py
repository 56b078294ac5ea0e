"""The words and symbols on a drawn map. A label that would cover another one is left out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape

from clickgrad.worlds.map import words
from clickgrad.worlds.map.data import Place, map_data
from clickgrad.worlds.map.geometry import Point, between, distance
from clickgrad.worlds.map.land import HEIGHT
from clickgrad.worlds.map.network import Road
from clickgrad.worlds.map.terrain import terrain
from clickgrad.worlds.map.view import PANEL, View

# Drawn in a square of 16 pixels, as lines.
GLYPHS = {
    "food": "M5 3v4a1.5 1.5 0 0 0 3 0V3M6.5 8.5V13M10.8 3c-1.6 1-1.6 4 0 5V13",
    "drink": "M4 5h7v4a3 3 0 0 1-3 3H7a3 3 0 0 1-3-3zM11 6h1a1.5 1.5 0 0 1 0 3h-1",
    "shop": "M4 6.5h8l.5 6.5h-9zM6 6.5V5a2 2 0 0 1 4 0v1.5",
    "health": "M8 4v8M4 8h8",
    "culture": "M3.5 6.5L8 3.5l4.5 3zM5 7.5V12M8 7.5V12M11 7.5V12M3.5 12.5h9",
    "learn": "M8 5C6.5 4 5 4 3.5 4v7.5c1.5 0 3 0 4.5 1 1.5-1 3-1 4.5-1V4C11 4 9.5 4 8 5zM8 5v7.5",
    "stay": "M3.5 4.5V12M3.5 9.5h9V12M12.5 9.5V8A1.5 1.5 0 0 0 11 6.5H6.5v3",
    "office": "M3.5 6h9v6.5h-9zM6 6V4h4v2",
    "travel": "M5 3.5h6v7H5zM5 7.5h6M6.5 10.5L5 13M9.5 10.5L11 13",
    "leisure": "M8 3l3 4.5H9.5L12 11H4l2.5-3.5H5zM8 11v2.5",
}
_POI_FROM = 3  # zoom
_POI_ROOM = (20, 19, 19)  # pixels around a symbol, from that zoom on
_POI_MOST = (80, 90, 120)
_STREET_FROM = 3
_LETTER = 0.56  # width of a letter, in font sizes


@dataclass(slots=True)
class _Sheet:
    """The panel in pixels, with the boxes that are already written on."""

    view: View
    taken: list[tuple[float, float, float, float]] = field(default_factory=list)

    def place(self, point: Point) -> Point:
        return (
            (point[0] - self.view.x) / self.view.scale + PANEL[0] / 2,
            (point[1] - self.view.y) / self.view.scale + PANEL[1] / 2,
        )

    def take(self, left: float, top: float, right: float, bottom: float) -> bool:
        if any(left < r and right > x and top < b and bottom > y for x, y, r, b in self.taken):
            return False
        self.taken.append((left, top, right, bottom))
        return True

    def take_text(self, point: Point, text: str, size: float, below: float = 0.0) -> bool:
        x, y = self.place(point)
        half = len(text) * size * _LETTER / 2
        return self.take(x - half, y + below - size, x + half, y + below + size * 0.4)


@lru_cache(maxsize=256)
def draw_labels(seed: int, view: View, keep_free: tuple[Point, ...]) -> str:
    """Everything written on the map; around `keep_free`, where pins stand, nothing is."""
    sheet = _Sheet(view)
    for point in keep_free:
        x, y = sheet.place(point)
        sheet.take(x - 14, y - 36, x + 14, y + 4)
    parts = [*_towns(seed, sheet), *_water(seed, sheet), *_streets(seed, sheet)]
    if view.zoom >= _POI_FROM:
        parts = [*_places(seed, sheet), *parts]
    return "".join(parts)


def _towns(seed: int, sheet: _Sheet) -> Iterator[str]:
    zoom = sheet.view.zoom
    for town in terrain(seed).towns:
        if zoom <= 2 and sheet.view.shows(*town.center, *town.center):
            yield _text(sheet, town.center, town.name, "town", 19 if town.radius > 1_000 else 16)
        if 2 <= zoom <= 3:
            for district in town.districts:
                middle = town.middle_of(district)
                if sheet.view.shows(*middle, *middle, margin=0):
                    yield _text(sheet, middle, district.name.upper(), "district", 11)


def _water(seed: int, sheet: _Sheet) -> Iterator[str]:
    land = terrain(seed).land
    if sheet.view.zoom == 0:
        yield _text(sheet, (900, HEIGHT / 2), terrain(seed).name, "water-name", 15)
    elif sheet.view.zoom >= 2:
        near = min(land.river, key=lambda point: distance(point, (sheet.view.x, sheet.view.y)))
        if sheet.view.shows(*near, *near, margin=-0.08):
            yield _text(sheet, near, "River", "water-name", 12)


def _streets(seed: int, sheet: _Sheet) -> Iterator[str]:
    """Each street's name once, along the block nearest to the middle of the view; numbers of roads in the country."""
    view, network = sheet.view, terrain(seed).network
    middle: dict[str, tuple[float, Road]] = {}
    for road in network.roads:
        center = between(network.points[road.a], network.points[road.b], 0.5)
        wanted = view.zoom >= _STREET_FROM if road.town else view.zoom >= 1 and road.kind != "cycleway"
        if wanted and road.kind != "path" and view.shows(*center, *center, margin=-0.06):
            off = distance(center, (view.x, view.y))
            if road.name not in middle or off < middle[road.name][0]:
                middle[road.name] = (off, road)
    for name, (_, road) in sorted(middle.items(), key=lambda entry: entry[1][0]):
        a, b = network.points[road.a], network.points[road.b]
        if not road.town:
            yield _text(sheet, between(a, b, 0.5), name, "shield", 10)
        elif road.length / view.scale > 0.7 * len(name) * 10 * _LETTER:
            yield _along(sheet, a, b, name)


def _along(sheet: _Sheet, a: Point, b: Point, name: str) -> str:
    if a[0] > b[0]:
        a, b = b, a
    angle = math.degrees(math.atan2(b[1] - a[1], b[0] - a[0]))
    x, y = sheet.place(between(a, b, 0.5))
    half = len(name) * 10 * _LETTER / 2
    wide, high = half * abs(math.cos(math.radians(angle))), half * abs(math.sin(math.radians(angle)))
    if not sheet.take(x - wide - 4, y - high - 4, x + wide + 4, y + high + 4):
        return ""
    place = between(a, b, 0.5)
    return (
        f'<text class="street-name" transform="translate({place[0]:.0f} {place[1]:.0f}) rotate({angle:.0f})'
        f' scale({sheet.view.scale:.3f})" y="3.5">{escape(name)}</text>'
    )


def _text(sheet: _Sheet, point: Point, text: str, style: str, size: float) -> str:
    if not sheet.take_text(point, text, size):
        return ""
    return (
        f'<text class="{style}" font-size="{size}" transform="translate({point[0]:.0f} {point[1]:.0f})'
        f' scale({sheet.view.scale:.3f})">{escape(text)}</text>'
    )


def _places(seed: int, sheet: _Sheet) -> Iterator[str]:
    """Symbols, the best rated first where there is no room for all."""
    view = sheet.view
    room = _POI_ROOM[view.zoom - _POI_FROM]
    inside = [place for place in map_data(seed).places if view.shows(*place.point, *place.point, margin=0.05)]
    used: set[str] = set()
    drawn: list[str] = []
    for place in sorted(inside, key=lambda place: (-place.rating, place.id)):
        if len(drawn) == _POI_MOST[view.zoom - _POI_FROM]:
            break
        x, y = sheet.place(place.point)
        if sheet.take(x - room / 2, y - room / 2, x + room / 2, y + room / 2):
            group = words.KINDS[place.category].group
            used.add(group)
            named = view.zoom > _POI_FROM and sheet.take_text(place.point, place.name, 10, below=22)
            drawn.append(_symbol(place, group, view, named))
    yield "<defs>"
    yield from (f'<path id="g-{group}" d="{GLYPHS[group]}"/>' for group in sorted(used))
    yield "</defs>"
    yield from drawn


def _symbol(place: Place, group: str, view: View, named: bool) -> str:
    # Out of the order of Tab: the same places are links in the text.
    size = 7 if view.zoom == _POI_FROM else 8.5
    name = escape(place.name)
    label = f'<text y="20" class="poi-name">{name}</text>' if named else ""
    return (
        f'<a href="/place/{place.id}" tabindex="-1" class="poi {group}"'
        f' transform="translate({place.x} {place.y}) scale({view.scale:.3f})"><title>{name}</title>'
        f'<circle r="{size}"/><use href="#g-{group}" transform="scale({size / 9:.2f}) translate(-8 -8)"/>{label}</a>'
    )

"""The map as SVG, in meters: land, water, parks, roads, and on top a route, pins and labels.

Nothing of it is read by agents or screen readers; all that matters stands in the text beside it. No page changes a
place or a road, so the ground of each view is drawn once and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from clickgrad.worlds.map.geometry import Point
from clickgrad.worlds.map.labels import draw_labels
from clickgrad.worlds.map.land import RIVER_WIDTH
from clickgrad.worlds.map.network import RoadKind
from clickgrad.worlds.map.terrain import Terrain, terrain
from clickgrad.worlds.map.view import View

# zoom -> road kind -> width in pixels; a kind that is missing is not drawn so far out
_WIDTHS: tuple[dict[RoadKind, float], ...] = (
    {"avenue": 0.8, "country": 1.8, "highway": 3.0},
    {"cycleway": 0.8, "street": 0.5, "avenue": 1.4, "country": 3.0, "highway": 4.2},
    {"path": 0.7, "cycleway": 1.2, "square": 1.4, "street": 1.4, "avenue": 3.0, "country": 4.5, "highway": 6.0},
    {"path": 1.1, "cycleway": 1.6, "square": 3.6, "street": 3.6, "avenue": 6.0, "country": 7.0, "highway": 8.5},
    {"path": 1.6, "cycleway": 2.4, "square": 8.0, "street": 8.0, "avenue": 11.0, "country": 11.0, "highway": 13.0},
    {"path": 2.2, "cycleway": 3.2, "square": 14.0, "street": 14.0, "avenue": 19.0, "country": 19.0, "highway": 20.0},
)
_ORDER: tuple[RoadKind, ...] = ("path", "cycleway", "square", "street", "avenue", "country", "highway")
_DASHED = ("path", "cycleway")
_HOUSES: dict[RoadKind, str] = {"street": "22 7 15 6 31 9", "square": "30 3 24 4", "avenue": "34 8 21 7"}  # dashes
_CASED_FROM = 2  # zoom from which roads have an edge
_BUILDINGS_FROM = 4


@dataclass(frozen=True, slots=True)
class Stretch:
    """Roads that follow each other under one name: one line on the map."""

    name: str
    kind: RoadKind
    town: str
    points: tuple[Point, ...]
    box: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Pin:
    point: Point
    style: str = "main"  # main, end, small


def draw(
    seed: int, view: View, pins: Sequence[Pin] = (), line: Sequence[Point] = (), radius: tuple[Point, int] | None = None
) -> str:
    left, top, width, height = view.box
    parts = [
        f'<svg class="drawn" viewBox="{left} {top} {width} {height}" preserveAspectRatio="xMidYMid slice"'
        ' aria-hidden="true" focusable="false">',
        _ground(seed, view),
        *_radius(radius, view),
        *_route(line, view),
        draw_labels(seed, view, tuple(pin.point for pin in pins)),
        *(_pin(pin, view) for pin in pins),
        "</svg>",
    ]
    return "".join(parts)


@cache
def stretches(seed: int) -> tuple[Stretch, ...]:
    network = terrain(seed).network
    lines: list[tuple[str, RoadKind, str, list[int]]] = []
    for road in network.roads:
        if lines and lines[-1][:2] == (road.name, road.kind) and lines[-1][3][-1] == road.a:
            lines[-1][3].append(road.b)
        else:
            lines.append((road.name, road.kind, road.town, [road.a, road.b]))
    made = []
    for name, kind, town, nodes in lines:
        points = tuple(network.points[node] for node in nodes)
        xs, ys = [x for x, _ in points], [y for _, y in points]
        made.append(Stretch(name, kind, town, points, (min(xs), min(ys), max(xs), max(ys))))
    return tuple(made)


@lru_cache(maxsize=256)
def _ground(seed: int, view: View) -> str:
    ground = terrain(seed)
    shown = [stretch for stretch in stretches(seed) if view.shows(*stretch.box)]
    # Each kind of road is drawn several times over (built-up land, houses, edge, road): its lines are written once.
    lines = {kind: _path(stretch.points for stretch in shown if stretch.kind == kind) for kind in _ORDER}
    kinds = [kind for kind in _ORDER if lines[kind] and kind in _WIDTHS[view.zoom]]
    defined = "".join(f'<path id="r-{kind}" d="{lines[kind]}"/>' for kind in kinds)
    return "".join(
        (
            f"<defs>{defined}</defs>",
            *_built(view, kinds),
            *_areas(ground, view),
            *_roads(ground, view, kinds),
        )
    )


def _use(kind: RoadKind, style: str, width: float, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<use href="#r-{kind}" class="{style}" stroke-width="{width:.1f}"{dashed}/>'


def _built(view: View, kinds: Sequence[RoadKind]) -> Iterator[str]:
    """Built-up land, and on it houses on both sides of a street: a broad dashed line, whose middle is then covered."""
    streets = [kind for kind in kinds if kind in _HOUSES]
    yield from (_use(kind, "built", 230 if "street" in streets else 600) for kind in streets)
    if view.zoom >= _BUILDINGS_FROM:
        yield from (_use(kind, "house", 74, _HOUSES[kind]) for kind in streets)
        yield from (_use(kind, "yard", 32) for kind in streets)


def _areas(ground: Terrain, view: View) -> Iterator[str]:
    yield f'<path class="wood" d="{_path(_visible(view, ground.land.woods), close=True)}"/>'
    yield f'<path class="lake" d="{_path(_visible(view, ground.land.lakes), close=True)}"/>'
    cells = [cell for park in ground.parks for cell in park.cells]
    yield f'<path class="park" d="{_path(_visible(view, cells), close=True)}" stroke-width="3"/>'
    coast = [point for point in ground.land.coast if abs(point[1] - view.y) < 0.8 * view.height + 200]
    sea = [*coast, (-40_000, coast[-1][1]), (-40_000, coast[0][1])]
    yield f'<path class="sea" d="{_path([sea], close=True)}" stroke-width="{5 * view.scale:.0f}"/>'
    width = max(RIVER_WIDTH, 3 * view.scale)
    yield f'<path class="river" d="{_path([ground.land.river])}" stroke-width="{width:.0f}"/>'


def _roads(ground: Terrain, view: View, kinds: Sequence[RoadKind]) -> Iterator[str]:
    widths, scale = _WIDTHS[view.zoom], view.scale
    if view.zoom >= 1:
        track, gap = _path([ground.railway]), 8 * scale
        yield f'<path class="rail" d="{track}" stroke-width="{2.2 * scale:.1f}"/>'
        yield f'<path class="gap" d="{track}" stroke-width="{1.2 * scale:.1f}" stroke-dasharray="{gap:.0f} {gap:.0f}"/>'
    if view.zoom >= _CASED_FROM:
        for kind in kinds:
            if kind not in _DASHED:
                yield _use(kind, f"casing {kind}", (widths[kind] + 1.6) * scale)
    for kind in kinds:
        dashes = f"{5 * scale:.0f} {4 * scale:.0f}" if kind in _DASHED else ""
        yield _use(kind, f"road {kind}", widths[kind] * scale, dashes)


def _route(line: Sequence[Point], view: View) -> Iterator[str]:
    if line:
        path = _path([line])
        yield f'<path class="route-edge" d="{path}" stroke-width="{9 * view.scale:.1f}"/>'
        yield f'<path class="route" d="{path}" stroke-width="{5.5 * view.scale:.1f}"/>'


def _radius(radius: tuple[Point, int] | None, view: View) -> Iterator[str]:
    if radius:
        (x, y), meters = radius
        yield f'<circle class="radius" cx="{x}" cy="{y}" r="{meters}" stroke-width="{1.5 * view.scale:.1f}"/>'


def _pin(pin: Pin, view: View) -> str:
    x, y = pin.point
    shape = (
        '<circle class="dot" r="6"/>'
        if pin.style == "small"
        else '<path d="M0 0C-3-9-11-13-11-22a11 11 0 0 1 22 0c0 9-8 13-11 22z"/><circle cy="-22" r="4.2" class="hole"/>'
    )
    return f'<g class="pin {pin.style}" transform="translate({x} {y}) scale({view.scale:.3f})">{shape}</g>'


def _visible(view: View, shapes: Iterable[Sequence[Point]]) -> Iterator[Sequence[Point]]:
    for shape in shapes:
        xs, ys = [x for x, _ in shape], [y for _, y in shape]
        if view.shows(min(xs), min(ys), max(xs), max(ys)):
            yield shape


def _path(lines: Iterable[Sequence[Point]], *, close: bool = False) -> str:
    end = "z" if close else ""
    return "".join("M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points) + end for points in lines)

"""The streets of one town: a bent grid or rings with spokes, cut by water, with parks and a square without cars."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clickgrad.worlds.map import words
from clickgrad.worlds.map.geometry import Point, crosses, distance
from clickgrad.worlds.map.land import Land, Town
from clickgrad.worlds.map.network import Plan, Road, RoadKind

Key = tuple[int, int]

_BLOCK = 138  # meters between two streets of a grid
_RING = 122
_RING_COUNTS = (8, 8, 16, 16, 16, 32, 32)  # crossings on each ring
_TURN = 32  # crossings on the largest ring
_SQUARE = 230  # meters from the middle within which side streets are closed to cars
_WATER_MARGIN = 34
_BRIDGE = 420  # the longest one
_LOST_STREETS = 0.06  # share of blocks between which a side street is missing


@dataclass(frozen=True, slots=True)
class Line:
    """A street before it has a name."""

    keys: tuple[Key, ...]
    main: bool


@dataclass(frozen=True, slots=True)
class Pattern:
    points: Mapping[Key, Point]
    lines: tuple[Line, ...]
    cells: Mapping[Key, tuple[Key, ...]]  # the blocks, each with its corners in order


@dataclass(frozen=True, slots=True)
class Park:
    name: str
    town: str
    cells: tuple[tuple[Point, ...], ...]
    gates: tuple[int, ...]  # crossings at its border


@dataclass(frozen=True, slots=True)
class TownPlan:
    parks: tuple[Park, ...]
    gates: tuple[int, ...]  # where main streets end: country roads begin here


def build_town(plan: Plan, land: Land, town: Town, park_names: Sequence[str], rng: random.Random) -> TownPlan:
    """Adds the town to the plan, with at most as many parks as there are names."""
    pattern = _grid(town, rng) if town.pattern == "grid" else _rings(town, rng)
    nodes = {
        key: plan.add_point(point) for key, point in pattern.points.items() if not land.is_wet(point, _WATER_MARGIN)
    }
    green = dict(zip(park_names, _choose_parks(pattern, nodes, town, len(park_names), rng), strict=False))
    inner = {pair: name for name, cells in green.items() for pair in _inner_sides(pattern, cells)}
    names = _street_names(rng)
    river = [point for point in land.river if distance(point, town.center) < 1.5 * town.radius + 400]
    gates: list[int] = []
    for line in pattern.lines:
        name = next(names[line.main])
        start = 0.0
        for a, b in _stretches(line, nodes, plan, land, river):
            pair = frozenset((a, b))
            ends = nodes[a], nodes[b]
            if pair in inner:
                plan.add_road(*ends, f"{inner[pair]} Path", town.name, "path")
                continue
            if not line.main and rng.random() < _LOST_STREETS:
                continue
            road = plan.add_road(*ends, name, town.name, _kind(plan, town, ends, line.main), start)
            start += road.length
        kept = [nodes[key] for key in line.keys if key in nodes]
        if line.main and len(kept) > 3:
            gates += [end for end in (kept[0], kept[-1]) if distance(plan.points[end], town.center) > 0.6 * town.radius]
    return TownPlan(tuple(_park(pattern, nodes, town, name, cells) for name, cells in green.items()), tuple(gates))


def _kind(plan: Plan, town: Town, ends: tuple[int, int], main: bool) -> RoadKind:
    if main:
        return "avenue"
    near = max(distance(plan.points[end], town.center) for end in ends) < _SQUARE
    return "square" if near else "street"


def _stretches(
    line: Line, nodes: Mapping[Key, int], plan: Plan, land: Land, river: Sequence[Point]
) -> Iterator[tuple[Key, Key]]:
    """Neighbours along the line. Only main streets cross the river, and nothing crosses the sea."""
    kept = [(index, key) for index, key in enumerate(line.keys) if key in nodes]
    for (i, a), (j, b) in pairwise(kept):
        p, q = plan.points[nodes[a]], plan.points[nodes[b]]
        wet = j - i > 1 or crosses(p, q, river)
        if not wet or (line.main and distance(p, q) < _BRIDGE and not land.is_sea(p, 80)):
            yield a, b


def _street_names(rng: random.Random) -> dict[bool, Iterator[str]]:
    chosen = rng.sample(words.STREET_WORDS, len(words.STREET_WORDS))
    half = len(chosen) // 4
    return {
        True: (f"{word} {rng.choice(words.AVENUE_TYPES)}" for word in chosen[:half]),
        False: (f"{word} {rng.choice(words.STREET_TYPES)}" for word in chosen[half:]),
    }


# --- patterns -------------------------------------------------------------------------------------------------------


def _grid(town: Town, rng: random.Random) -> Pattern:
    reach = int(town.radius * 1.2 // _BLOCK)
    angle = rng.uniform(-0.6, 0.6)
    phases = [rng.uniform(0, math.tau) for _ in range(4)]
    points: dict[Key, Point] = {}
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            x = i * _BLOCK + 34 * math.sin(j * 0.55 + phases[0]) + rng.uniform(-11, 11)
            y = j * _BLOCK + 34 * math.sin(i * 0.5 + phases[1]) + rng.uniform(-11, 11)
            bearing = math.atan2(y, x)
            edge = 1 + 0.12 * math.sin(2 * bearing + phases[2]) + 0.07 * math.sin(5 * bearing + phases[3])
            if math.hypot(x, y) < town.radius * edge:
                points[i, j] = (
                    town.center[0] + x * math.cos(angle) - y * math.sin(angle),
                    town.center[1] + x * math.sin(angle) + y * math.cos(angle),
                )
    span = range(-reach, reach + 1)
    rows = [Line(tuple((i, j) for i in span if (i, j) in points), j % 4 == 0) for j in span]
    columns = [Line(tuple((i, j) for j in span if (i, j) in points), i % 4 == 0) for i in span]
    blocks = {(i, j): ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)) for i, j in points}
    cells = {key: corners for key, corners in blocks.items() if all(corner in points for corner in corners)}
    return Pattern(points, tuple(line for line in (*rows, *columns) if len(line.keys) > 1), cells)


def _rings(town: Town, rng: random.Random) -> Pattern:
    counts = _RING_COUNTS[: int(town.radius // _RING)]
    twist = rng.uniform(0, math.tau)
    points: dict[Key, Point] = {(0, 0): town.center}
    for ring, count in enumerate(counts, 1):
        for position in range(0, _TURN, _TURN // count):
            angle = twist + math.tau * position / _TURN + rng.uniform(-0.02, 0.02)
            radius = _RING * (ring - 0.15) + rng.uniform(-10, 10)
            points[ring, position] = (
                town.center[0] + 1.12 * radius * math.cos(angle),
                town.center[1] + 0.92 * radius * math.sin(angle),
            )
    lines = []
    cells: dict[Key, tuple[Key, ...]] = {}
    for ring, count in enumerate(counts, 1):
        around = [(ring, position) for position in range(0, _TURN, _TURN // count)]
        lines.append(Line((*around, around[0]), main=ring in (3, 6)))
        if ring < len(counts):
            cells.update(_ring_cells(ring, _TURN // count, _TURN // counts[ring]))
    for position in range(_TURN):
        spoke = [(ring, position) for ring, count in enumerate(counts, 1) if position % (_TURN // count) == 0]
        if position % 8 == 0:
            spoke.insert(0, (0, 0))
        if len(spoke) > 1:
            lines.append(Line(tuple(spoke), main=position % 8 == 0))
    return Pattern(points, tuple(lines), cells)


def _ring_cells(ring: int, step: int, outer_step: int) -> Iterator[tuple[Key, tuple[Key, ...]]]:
    for position in range(0, _TURN, step):
        outer = [(ring + 1, at % _TURN) for at in range(position + step, position - 1, -outer_step)]
        yield (ring, position), ((ring, position), (ring, (position + step) % _TURN), *outer)


# --- parks ----------------------------------------------------------------------------------------------------------


def _choose_parks(
    pattern: Pattern, nodes: Mapping[Key, int], town: Town, count: int, rng: random.Random
) -> list[tuple[Key, ...]]:
    """Groups of neighbouring blocks, apart from each other and from the middle of the town."""
    dry = {key for key, corners in pattern.cells.items() if all(corner in nodes for corner in corners)}
    chosen: list[tuple[Key, ...]] = []
    taken: set[Key] = set()
    for i, j in rng.sample(sorted(dry), len(dry)):
        if town.pattern == "grid":
            wide = rng.choice((2, 3))
            group = tuple((i + di, j + dj) for di in range(wide) for dj in range(2))
            cut_off = (j + 1) % 4 == 0 or any((i + di) % 4 == 0 for di in range(1, wide))
        else:
            step = next((other - j for ring, other in sorted(dry) if ring == i and other > j), 0)
            group = ((i, j), (i, j + step))
            cut_off = (j + step) % 8 == 0
        corners = {corner for cell in group if cell in dry for corner in pattern.cells[cell]}
        far = all(distance(pattern.points[corner], town.center) > _SQUARE + 60 for corner in corners)
        whole = len(set(group)) > 1 and all(cell in dry for cell in group)
        if whole and far and not cut_off and not corners & taken:  # no main street may be cut off
            chosen.append(group)
            taken |= corners
        if len(chosen) == count:
            break
    return chosen


def _inner_sides(pattern: Pattern, cells: tuple[Key, ...]) -> set[frozenset[Key]]:
    seen: set[frozenset[Key]] = set()
    shared: set[frozenset[Key]] = set()
    for cell in cells:
        corners = pattern.cells[cell]
        for pair in map(frozenset, pairwise((*corners, corners[0]))):
            (shared if pair in seen else seen).add(pair)
    return shared


def _park(pattern: Pattern, nodes: Mapping[Key, int], town: Town, name: str, cells: tuple[Key, ...]) -> Park:
    outlines = [tuple(pattern.points[corner] for corner in pattern.cells[cell]) for cell in cells]
    corners = sorted({nodes[corner] for cell in cells for corner in pattern.cells[cell]})
    shapes = tuple(tuple((round(x), round(y)) for x, y in outline) for outline in outlines)
    return Park(name, town.name, shapes, tuple(corners))


def is_on(road: Road, park: Park) -> bool:
    """Whether the road runs along the park's border."""
    return road.kind != "path" and road.a in park.gates and road.b in park.gates

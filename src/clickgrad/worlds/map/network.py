"""The roads as a graph: crossings, the roads between them, and who may use which at what speed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from clickgrad.worlds.map.geometry import Point, distance

Mode = Literal["car", "bike", "foot"]
MODES: dict[Mode, str] = {"car": "Car", "bike": "Bike", "foot": "Foot"}
RoadKind = Literal["highway", "country", "avenue", "street", "square", "cycleway", "path"]

_PACE_KMH: dict[Mode, float] = {"bike": 16.0, "foot": 5.0}
_CAR_KMH: dict[RoadKind, float] = {"highway": 100.0, "country": 70.0, "avenue": 45.0, "street": 25.0}
_CLOSED: dict[Mode, tuple[RoadKind, ...]] = {
    "car": ("square", "cycleway", "path"),
    "bike": ("highway", "path"),
    "foot": ("highway",),
}
_CROSSING_S = 4.0  # what a car loses at every crossing
_TOP_SPEED: dict[Mode, float] = {"car": 100 / 3.6, "bike": 16 / 3.6, "foot": 5 / 3.6}


@dataclass(frozen=True, slots=True)
class Road:
    """Between two neighbouring crossings."""

    id: int
    a: int
    b: int
    name: str
    town: str  # "" in the country
    kind: RoadKind
    length: float
    start: float  # how far a is from the beginning of the street


@dataclass(frozen=True, slots=True)
class Link:
    """A road as seen from one of its ends."""

    to: int
    road: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Network:
    points: tuple[Point, ...]
    roads: tuple[Road, ...]
    links: dict[Mode, tuple[tuple[Link, ...], ...]]  # mode -> crossing -> the roads that lead away
    reachable: dict[Mode, frozenset[int]]  # crossings among which the mode gets everywhere


def speed(kind: RoadKind, mode: Mode) -> float:
    """In meters a second; 0 where the mode is not allowed."""
    if kind in _CLOSED[mode]:
        return 0.0
    return (_CAR_KMH[kind] if mode == "car" else _PACE_KMH[mode]) / 3.6


def top_speed(mode: Mode) -> float:
    return _TOP_SPEED[mode]


def travel_s(road: Road, mode: Mode) -> float:
    return road.length / speed(road.kind, mode) + (_CROSSING_S if mode == "car" and road.kind != "highway" else 0.0)


class Plan:
    """A network in the making."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.roads: list[Road] = []

    def add_point(self, point: Point) -> int:
        self.points.append((round(point[0]), round(point[1])))
        return len(self.points) - 1

    def add_road(self, a: int, b: int, name: str, town: str, kind: RoadKind, start: float = 0.0) -> Road:
        length = distance(self.points[a], self.points[b])
        road = Road(len(self.roads), a, b, name, town, kind, length, start)
        self.roads.append(road)
        return road

    def finish(self) -> Network:
        """Without the roads that hang together with nothing."""
        whole = _largest_part(len(self.points), self.roads, "foot") | _largest_part(len(self.points), self.roads, "car")
        kept = [road for road in self.roads if road.a in whole and road.b in whole]
        roads = tuple(
            Road(index, road.a, road.b, road.name, road.town, road.kind, road.length, road.start)
            for index, road in enumerate(kept)
        )
        links = {mode: _links(len(self.points), roads, mode) for mode in MODES}
        reachable = {mode: _largest_part(len(self.points), roads, mode) for mode in MODES}
        return Network(tuple(self.points), roads, links, reachable)


def _links(size: int, roads: tuple[Road, ...], mode: Mode) -> tuple[tuple[Link, ...], ...]:
    links: list[list[Link]] = [[] for _ in range(size)]
    for road in roads:
        if speed(road.kind, mode):
            seconds = travel_s(road, mode)
            links[road.a].append(Link(road.b, road.id, seconds))
            links[road.b].append(Link(road.a, road.id, seconds))
    return tuple(map(tuple, links))


def _largest_part(size: int, roads: list[Road] | tuple[Road, ...], mode: Mode) -> frozenset[int]:
    neighbours: defaultdict[int, list[int]] = defaultdict(list)
    for road in roads:
        if speed(road.kind, mode):
            neighbours[road.a].append(road.b)
            neighbours[road.b].append(road.a)
    left = set(range(size))
    best: set[int] = set()
    while len(left) > len(best):
        queue = [next(iter(left))]
        part = set(queue)
        while queue:
            fresh = [other for other in neighbours[queue.pop()] if other not in part]
            part.update(fresh)
            queue.extend(fresh)
        left -= part
        best = max(best, part, key=len)
    return frozenset(best)

"""The lie of the land: coast, river, woods, and where the towns stand. Streets come later, in `streets`."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from clickgrad.worlds.map import words
from clickgrad.worlds.map.geometry import Point, distance, distance_to_line, spline

WIDTH, HEIGHT = 26_000, 18_000
RIVER_WIDTH = 46
_BEYOND = 14_000  # how far water goes on outside the map

# Two rows of three, coast first; each is shifted a little.
_SLOTS = ((4_700, 4_600), (13_000, 4_200), (21_300, 5_000), (4_900, 13_300), (13_400, 13_500), (21_200, 13_300))
# radius, pattern, share of all places
_SIZES = (
    (1_450, "grid", 0.29),
    (1_150, "grid", 0.20),
    (1_000, "rings", 0.15),
    (950, "grid", 0.13),
    (880, "rings", 0.12),
    (820, "grid", 0.11),
)
_DISTRICTS_OF_SIZE = (5, 4, 4, 4, 4, 3)


@dataclass(frozen=True, slots=True)
class District:
    name: str
    postcode: str


@dataclass(frozen=True, slots=True)
class Town:
    name: str
    center: Point
    radius: float
    pattern: str  # grid, rings
    share: float  # of all places
    area_code: str
    districts: tuple[District, ...]  # the middle first, the others by direction

    def district_at(self, point: Point) -> District:
        if distance(point, self.center) < 0.4 * self.radius:
            return self.districts[0]
        angle = math.atan2(point[1] - self.center[1], point[0] - self.center[0]) / math.tau % 1.0
        return self.districts[1 + int(angle * (len(self.districts) - 1))]

    def middle_of(self, district: District) -> Point:
        index = self.districts.index(district)
        if index == 0:
            return self.center
        angle = math.tau * (index - 0.5) / (len(self.districts) - 1)
        reach = 0.7 * self.radius
        return self.center[0] + reach * math.cos(angle), self.center[1] + reach * math.sin(angle)


@dataclass(frozen=True, slots=True)
class Land:
    coast: tuple[Point, ...]  # from north to south; the sea is west of it
    river: tuple[Point, ...]  # from the east to the sea
    woods: tuple[tuple[Point, ...], ...]
    lakes: tuple[tuple[Point, ...], ...]
    towns: tuple[Town, ...]

    def is_wet(self, point: Point, margin: float) -> bool:
        return self.is_sea(point, margin) or self.is_river(point, margin)

    def is_sea(self, point: Point, margin: float) -> bool:
        step = self.coast[1][1] - self.coast[0][1]
        index = min(max(int((point[1] - self.coast[0][1]) // step), 0), len(self.coast) - 2)
        return point[0] < max(self.coast[index][0], self.coast[index + 1][0]) + margin

    def is_river(self, point: Point, margin: float) -> bool:
        # The vertices are some 150 m apart, so all that is near is among the neighbours of near ones.
        near = [i for i, (x, y) in enumerate(self.river) if abs(x - point[0]) < 450 and abs(y - point[1]) < 450]
        if not near:
            return False
        return distance_to_line(point, self.river[max(near[0] - 1, 0) : near[-1] + 2]) < RIVER_WIDTH / 2 + margin


def make_land(rng: random.Random) -> Land:
    towns = _towns(rng)
    coast = _coast(rng)
    first, second, third = towns[3].center, towns[4].center, towns[2].center

    def beside(center: Point) -> Point:
        return center[0] + rng.uniform(-250, 250), center[1] + rng.choice((-1, 1)) * rng.uniform(230, 420)

    river = spline(
        [
            (WIDTH + _BEYOND, third[1] + rng.uniform(-3_000, 500)),
            (WIDTH - 600, third[1] + rng.uniform(-900, 900)),
            beside(third),
            (17_400 + rng.uniform(-500, 500), 8_700 + rng.uniform(-700, 700)),
            beside(second),
            (9_300 + rng.uniform(-400, 400), 12_200 + rng.uniform(-500, 500)),
            beside(first),
            (500, first[1] + rng.uniform(-600, 600)),
        ],
        step=150,
    )
    return Land(
        coast=tuple(coast),
        river=tuple((round(x), round(y)) for x, y in river),
        woods=tuple(_blob(rng, _far_from(rng, towns, 2_300), rng.uniform(900, 1_900)) for _ in range(9)),
        lakes=tuple(_blob(rng, _far_from(rng, towns, 2_000), rng.uniform(300, 560)) for _ in range(7)),
        towns=towns,
    )


def _towns(rng: random.Random) -> tuple[Town, ...]:
    names, districts = rng.sample(words.TOWNS, len(_SLOTS)), iter(rng.sample(words.DISTRICTS, len(words.DISTRICTS)))
    sizes = rng.sample(range(len(_SIZES)), len(_SIZES))
    codes = rng.sample(range(210, 990), len(_SLOTS))
    towns = []
    for index, ((x, y), size) in enumerate(zip(_SLOTS, sizes, strict=True)):
        radius, pattern, share = _SIZES[size]
        postcodes = rng.sample(range(10, 100), _DISTRICTS_OF_SIZE[size])
        own = tuple(District(next(districts), f"{index + 2}{rng.randint(1, 9)}{code}") for code in postcodes)
        center = (x + rng.uniform(-700, 700), y + rng.uniform(-700, 700))
        towns.append(Town(names[index], center, radius, pattern, share, str(codes[index]), own))
    return tuple(towns)


def _coast(rng: random.Random) -> list[Point]:
    phases = [rng.uniform(0, math.tau) for _ in range(3)]
    line: list[Point] = []
    for y in range(-_BEYOND, HEIGHT + _BEYOND + 1, 100):
        waves = zip((650, 280, 110), (9_000, 3_700, 1_300), phases, strict=True)
        line.append(
            (round(3_100 + sum(size * math.sin(y / length * math.tau + phase) for size, length, phase in waves)), y)
        )
    return line


def _blob(rng: random.Random, center: Point, radius: float) -> tuple[Point, ...]:
    corners = [radius * rng.uniform(0.6, 1.2) for _ in range(9)]
    ring = [
        (
            center[0] + 1.25 * r * math.cos(index * math.tau / len(corners)),
            center[1] + r * math.sin(index * math.tau / len(corners)),
        )
        for index, r in enumerate(corners)
    ]
    return tuple((round(x), round(y)) for x, y in spline(ring, radius / 6, closed=True))


def _far_from(rng: random.Random, towns: tuple[Town, ...], margin: float) -> Point:
    while True:
        point = (rng.uniform(5_500, WIDTH - 300), rng.uniform(300, HEIGHT - 300))
        if all(distance(point, town.center) > town.radius + margin for town in towns):
            return point

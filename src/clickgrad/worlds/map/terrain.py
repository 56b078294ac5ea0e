"""All of a region that never changes: land, towns, parks and the network of roads. One per seed, in memory."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from clickgrad.worlds.map import words
from clickgrad.worlds.map.geometry import Point, between, distance, offset, spline
from clickgrad.worlds.map.land import WIDTH, Land, Town, make_land
from clickgrad.worlds.map.network import Network, Plan
from clickgrad.worlds.map.streets import Park, TownPlan, build_town

_COUNTRY_STEP = 520  # meters between the bends of a country road
_PATH_STEP = 190
_PATH_TO_STREET = 150  # the river path is joined to crossings as near as this
_PARKS_PER_TOWN = 4

# Neighbours in the two rows of three: the roads along the rows, then the ones between the rows.
_ALONG = ((0, 1), (1, 2), (3, 4), (4, 5))
_ACROSS = ((0, 3), (1, 4), (2, 5))


@dataclass(frozen=True, slots=True)
class Terrain:
    name: str
    land: Land
    network: Network
    parks: tuple[Park, ...]
    railway: tuple[Point, ...]

    @property
    def towns(self) -> tuple[Town, ...]:
        return self.land.towns


@cache
def terrain(seed: int) -> Terrain:
    rng = random.Random(f"map terrain {seed}")
    name = rng.choice(words.REGIONS)
    land = make_land(rng)
    plan = Plan()
    park_names = [f"{tree} {kind}" for tree in words.TREES for kind in ("Park", "Gardens")]
    rng.shuffle(park_names)
    town_plans = [
        build_town(plan, land, town, park_names[index * _PARKS_PER_TOWN :][:_PARKS_PER_TOWN], rng)
        for index, town in enumerate(land.towns)
    ]
    crossings = len(plan.points)
    _add_country_roads(plan, land.towns, town_plans, rng)
    _add_river_path(plan, land, crossings)
    parks = tuple(park for town_plan in town_plans for park in town_plan.parks)
    dry = replace(land, lakes=tuple(lake for lake in land.lakes if not _is_crossed(lake, plan.points[crossings:])))
    return Terrain(name, dry, plan.finish(), parks, _railway(land.towns, rng))


def _add_country_roads(plan: Plan, towns: Sequence[Town], plans: Sequence[TownPlan], rng: random.Random) -> None:
    numbers = iter(rng.sample(range(2, 40), len(_ALONG) + len(_ACROSS)))
    for one, other in _ALONG:
        a, b = _gate(plan, plans[one], towns[other]), _gate(plan, plans[other], towns[one])
        bend = _shifted(between(plan.points[a], plan.points[b], 0.5), rng, 700)
        _add_way(plan, a, [bend], b, f"Route {next(numbers)}", "country")
    junctions = []
    for one, other in _ACROSS:
        name = f"Route {next(numbers)}"
        a, b = _gate(plan, plans[one], towns[other]), _gate(plan, plans[other], towns[one])
        middle = plan.add_point(_shifted(between(plan.points[a], plan.points[b], 0.5), rng, 500))
        junctions.append(middle)
        _add_way(plan, a, [], middle, name, "country")
        _add_way(plan, middle, [], b, name, "country")
    for first, second in pairwise(junctions):
        middle_point = _shifted(between(plan.points[first], plan.points[second], 0.5), rng, 500)
        _add_way(plan, first, [middle_point], second, "Highway 1", "highway")
    east = plan.add_point((WIDTH + 8_000, plan.points[junctions[-1]][1] - 900))
    _add_way(plan, junctions[-1], [], east, "Highway 1", "highway")


def _add_way(plan: Plan, a: int, through: Sequence[Point], b: int, name: str, kind: str) -> None:
    line = spline([plan.points[a], *through, plan.points[b]], _COUNTRY_STEP)
    nodes = [a, *(plan.add_point(point) for point in line[1:-1]), b]
    start = 0.0
    for left, right in pairwise(nodes):
        start += plan.add_road(left, right, name, "", "highway" if kind == "highway" else "country", start).length


def _gate(plan: Plan, town_plan: TownPlan, towards: Town) -> int:
    return min(town_plan.gates, key=lambda node: distance(plan.points[node], towards.center))


def _shifted(point: Point, rng: random.Random, most: float) -> Point:
    return point[0] + rng.uniform(-most, most), point[1] + rng.uniform(-most, most)


def _add_river_path(plan: Plan, land: Land, crossings: int) -> None:
    """A path for bikes and feet along the river, joined to the streets of the towns it passes."""
    line = [point for point in land.river if point[0] < WIDTH + 1_500 and not land.is_sea(point, 120)]
    nodes = [plan.add_point(point) for point in offset(spline(line, _PATH_STEP), 50)]
    start = 0.0
    for left, right in pairwise(nodes):
        start += plan.add_road(left, right, "River Path", "", "cycleway", start).length
    for node in nodes[::2]:
        x, y = plan.points[node]
        near = [
            other
            for other, point in enumerate(plan.points[:crossings])
            if abs(point[0] - x) < _PATH_TO_STREET and abs(point[1] - y) < _PATH_TO_STREET
        ]
        if near:
            street = min(near, key=lambda other: distance(plan.points[other], (x, y)))
            plan.add_road(node, street, "River Path", "", "cycleway")


def _is_crossed(lake: Sequence[Point], bends: Sequence[Point]) -> bool:
    """Whether a road in the country, which has a bend every half kilometer, comes near the lake."""
    left, right = min(x for x, _ in lake) - 200, max(x for x, _ in lake) + 200
    top, bottom = min(y for _, y in lake) - 200, max(y for _, y in lake) + 200
    return any(left < x < right and top < y < bottom for x, y in bends)


def _railway(towns: Sequence[Town], rng: random.Random) -> tuple[Point, ...]:
    """From town to town, past their middles. Only drawn: no mode of travel uses it."""
    loop = [towns[index] for index in (0, 1, 2, 5, 4, 3)]
    line = spline([_shifted(town.center, rng, 0.45 * town.radius) for town in loop], step=500)
    return tuple((round(x), round(y)) for x, y in line)

"""The fastest way from one spot to another, by A* over the network, and how a person is told to follow it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from clickgrad.worlds.map.geometry import Point, between, distance, nearest_on_segment, turn
from clickgrad.worlds.map.network import Mode, Network, Road, speed, top_speed, travel_s
from clickgrad.worlds.map.terrain import terrain

_GOAL = -1
_TO_ROAD: dict[Mode, str] = {"car": "Walk to the car", "bike": "Push the bike", "foot": "Walk"}
_FROM_ROAD: dict[Mode, str] = {"car": "Park and walk", "bike": "Push the bike", "foot": "Walk"}
_DETOUR = 1.2  # walking from a closed street to the nearest open one is never quite straight


@dataclass(frozen=True, slots=True)
class Spot:
    """Somewhere on a road: so many meters from its end a."""

    road: int
    along: float


@dataclass(frozen=True, slots=True)
class Leg:
    """A stretch of the way on one road, or on foot where the mode cannot go (road None)."""

    road: Road | None
    meters: float
    start: Point
    end: Point


@dataclass(frozen=True, slots=True)
class Step:
    text: str
    meters: float


@dataclass(frozen=True, slots=True)
class Route:
    meters: float
    seconds: float
    steps: tuple[Step, ...]
    line: tuple[Point, ...]

    @property
    def minutes(self) -> int:
        """As shown."""
        return max(1, round(self.seconds / 60))


@dataclass(frozen=True, slots=True)
class _Access:
    """How a spot is joined to a crossing."""

    node: int
    meters: float
    seconds: float
    road: Road | None


def spot_point(network: Network, spot: Spot) -> Point:
    road = network.roads[spot.road]
    return between(network.points[road.a], network.points[road.b], spot.along / road.length)


def nearest_spot(network: Network, point: Point) -> Spot:
    """On the road that passes closest, of those that can be walked."""

    def gap(road: Road) -> tuple[float, float]:
        a, b = network.points[road.a], network.points[road.b]
        share = nearest_on_segment(point, a, b)
        return distance(point, between(a, b, share)), share

    road = min((road for road in network.roads if road.kind != "highway"), key=lambda road: gap(road)[0])
    return Spot(road.id, gap(road)[1] * road.length)


@lru_cache(maxsize=2048)
def find_route(seed: int, start: Spot, end: Spot, mode: Mode) -> Route:
    network = terrain(seed).network
    legs = _same_road(network, start, end, mode) or _search(network, start, end, mode)
    seconds = sum(_leg_s(leg, mode) for leg in legs)
    line = [legs[0].start, *(leg.end for leg in legs)]
    meters = sum(leg.meters for leg in legs)
    return Route(meters, seconds, tuple(_steps(legs, mode)), tuple((round(x), round(y)) for x, y in line))


def _same_road(network: Network, start: Spot, end: Spot, mode: Mode) -> list[Leg]:
    road = network.roads[start.road]
    if start.road != end.road or not _is_open(network, road, mode):
        return []
    return [Leg(road, abs(start.along - end.along), spot_point(network, start), spot_point(network, end))]


def _is_open(network: Network, road: Road, mode: Mode) -> bool:
    return bool(speed(road.kind, mode)) and road.a in network.reachable[mode]


def _accesses(network: Network, spot: Spot, mode: Mode) -> list[_Access]:
    road = network.roads[spot.road]
    if _is_open(network, road, mode):
        ends = ((road.a, spot.along), (road.b, road.length - spot.along))
        return [_Access(node, meters, meters / speed(road.kind, mode), road) for node, meters in ends]
    point = spot_point(network, spot)
    near = min(network.reachable[mode], key=lambda node: (distance(network.points[node], point), node))
    meters = distance(network.points[near], point) * _DETOUR
    return [_Access(near, meters, meters / top_speed("foot"), None)]


def _search(network: Network, start: Spot, end: Spot, mode: Mode) -> list[Leg]:
    goal_point, fastest = spot_point(network, end), top_speed(mode)
    goals = {access.node: access for access in _accesses(network, end, mode)}
    sources = {access.node: access for access in _accesses(network, start, mode)}
    # An access on foot may be longer than straight: the estimate must not count on more than the straight line.
    cost = {node: access.seconds for node, access in sources.items()}
    came: dict[int, tuple[int, int]] = {}
    queue = [(cost[node], node) for node in cost]
    heapq.heapify(queue)
    done: set[int] = set()
    points, links = network.points, network.links[mode]
    while queue:
        _, node = heapq.heappop(queue)
        if node == _GOAL:
            break
        if node in done:
            continue
        done.add(node)
        so_far = cost[node]
        if node in goals and so_far + goals[node].seconds < cost.get(_GOAL, float("inf")):
            cost[_GOAL] = so_far + goals[node].seconds
            came[_GOAL] = (node, 0)
            heapq.heappush(queue, (cost[_GOAL], _GOAL))
        for link in links[node]:
            total = so_far + link.seconds
            if total < cost.get(link.to, float("inf")):
                cost[link.to] = total
                came[link.to] = (node, link.road)
                heapq.heappush(queue, (total + distance(points[link.to], goal_point) / fastest, link.to))
    return _trace(network, start, end, sources, goals, came)


def _trace(
    network: Network,
    start: Spot,
    end: Spot,
    sources: dict[int, _Access],
    goals: dict[int, _Access],
    came: dict[int, tuple[int, int]],
) -> list[Leg]:
    node = came[_GOAL][0]
    goal, points = goals[node], network.points
    legs = [Leg(goal.road, goal.meters, points[node], spot_point(network, end))]
    while node in came:
        before, road = came[node]
        legs.append(Leg(network.roads[road], network.roads[road].length, points[before], points[node]))
        node = before
    legs.append(Leg(sources[node].road, sources[node].meters, spot_point(network, start), points[node]))
    return legs[::-1]


def _leg_s(leg: Leg, mode: Mode) -> float:
    if leg.road is None:
        return leg.meters / top_speed("foot")
    return travel_s(leg.road, mode) if leg.meters == leg.road.length else leg.meters / speed(leg.road.kind, mode)


# --- telling the way ------------------------------------------------------------------------------------------------


def _steps(legs: list[Leg], mode: Mode) -> Iterator[Step]:
    stretches: list[list[Leg]] = []
    for leg in legs:
        if stretches and _name(stretches[-1][-1]) == _name(leg):
            stretches[-1].append(leg)
        else:
            stretches.append([leg])
    yield Step(f"Start on {_name(legs[0])}" if legs[0].road else _TO_ROAD[mode], _length(stretches[0]))
    for before, stretch in pairwise(stretches):
        first = stretch[0]
        if first.road is None:
            yield Step(_FROM_ROAD[mode], _length(stretch))
            continue
        angle = turn(before[-1].start, first.start, first.end)
        yield Step(f"{_direction(angle)} {_name(first)}", _length(stretch))


def _name(leg: Leg) -> str:
    return leg.road.name if leg.road else ""


def _length(stretch: list[Leg]) -> float:
    return sum(leg.meters for leg in stretch)


def _direction(angle: float) -> str:
    if abs(angle) < 30:
        return "Continue on"
    if abs(angle) > 160:
        return "Turn back onto"
    return "Turn right onto" if angle > 0 else "Turn left onto"

"""Plane geometry in meters: x grows to the east, y to the south, as on a screen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]

# The corner of the map in the north-west lies in the open sea, so that no real town is near.
NORTH, WEST = 52.62, 3.10
METERS_PER_LATITUDE, METERS_PER_LONGITUDE = 111_320.0, 67_600.0


def distance(a: Point, b: Point) -> float:
    return math.hypot(a[0] - b[0], a[1] - b[1])


def coordinates(point: Point) -> str:
    """As the site writes them: latitude, longitude."""
    return f"{NORTH - point[1] / METERS_PER_LATITUDE:.4f}, {WEST + point[0] / METERS_PER_LONGITUDE:.4f}"


def at_coordinates(latitude: float, longitude: float) -> Point:
    return (longitude - WEST) * METERS_PER_LONGITUDE, (NORTH - latitude) * METERS_PER_LATITUDE


def between(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


def nearest_on_segment(point: Point, a: Point, b: Point) -> float:
    """How far along from a to b, as a share, the segment comes closest to the point."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    square = dx * dx + dy * dy
    return min(1.0, max(0.0, ((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / square)) if square else 0.0


def distance_to_line(point: Point, line: Sequence[Point]) -> float:
    return min(distance(point, between(a, b, nearest_on_segment(point, a, b))) for a, b in pairwise(line))


def crosses(a: Point, b: Point, line: Sequence[Point]) -> bool:
    """Whether the segment from a to b crosses the line."""
    left, right = min(a[0], b[0]), max(a[0], b[0])
    top, bottom = min(a[1], b[1]), max(a[1], b[1])
    for c, d in pairwise(line):
        if max(c[0], d[0]) < left or min(c[0], d[0]) > right or max(c[1], d[1]) < top or min(c[1], d[1]) > bottom:
            continue
        if _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0:
            return True
    return False


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def spline(points: Sequence[Point], step: float, *, closed: bool = False) -> list[Point]:
    """A smooth line (Catmull-Rom) through the points, with a vertex about every `step` meters."""
    padded = [points[-1], *points, *points[:2]] if closed else [points[0], *points, points[-1]]
    line: list[Point] = []
    for p, q, r, s in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        pieces = max(1, round(distance(q, r) / step))
        line.extend(_catmull_rom(p, q, r, s, index / pieces) for index in range(pieces))
    return line if closed else [*line, points[-1]]


def _catmull_rom(p: Point, q: Point, r: Point, s: Point, t: float) -> Point:
    def axis(a: float, b: float, c: float, d: float) -> float:
        return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)

    return axis(p[0], q[0], r[0], s[0]), axis(p[1], q[1], r[1], s[1])


def offset(line: Sequence[Point], meters: float) -> list[Point]:
    """A line beside the line, to the right of its direction."""
    moved: list[Point] = []
    for index, (x, y) in enumerate(line):
        before, after = line[max(index - 1, 0)], line[min(index + 1, len(line) - 1)]
        length = distance(before, after) or 1.0
        moved.append((x - (after[1] - before[1]) / length * meters, y + (after[0] - before[0]) / length * meters))
    return moved


def turn(a: Point, b: Point, c: Point) -> float:
    """The change of direction at b in degrees, from -180 to 180; positive is to the right."""
    angle = math.degrees(math.atan2(c[1] - b[1], c[0] - b[0]) - math.atan2(b[1] - a[1], b[0] - a[0]))
    return (angle + 180) % 360 - 180

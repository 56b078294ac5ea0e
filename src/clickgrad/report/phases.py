"""Where training changed its pace: the paper's three phases, looked for in the success curve.

The paper tells them apart by eye: success rises fast (skills are acquired), then wavers with little gain
(exploration), then settles (stabilisation). The rule here:

1. Fit three straight lines, one after the other, to success against step, for every pair of borders that leaves each
   line at least `SHORTEST` steps; take the pair with the least squared error.
2. They are phases only if the first line rises by at least `RISE` and per step faster than the other two, if the third
   wavers less around its line than the second does around its own, and if three lines are worth their borders: a lower
   Bayesian information criterion than one line has.

Otherwise there are no phases to be seen, and none are claimed. Needs three times `SHORTEST` steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

SHORTEST = 4
RISE = 0.05
NAMES = ("skill acquisition", "exploration", "stabilisation")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    slope: float
    error: float  # sum of squares
    n: int

    @property
    def wavering(self) -> float:
        return self.error / self.n


def find_phases(points: Sequence[Point]) -> tuple[float, float] | None:
    """The first steps of the second and of the third phase, or None when there are no phases to be seen."""
    n = len(points)
    if n < 3 * SHORTEST:
        return None
    borders = combinations(range(SHORTEST, n - SHORTEST + 1), 2)
    fits = [(i, j, *_three_lines(points, i, j)) for i, j in borders if j - i >= SHORTEST]
    i, j, first, second, third = min(fits, key=lambda fit: sum(line.error for line in fit[2:]))
    rise = first.slope * (points[i - 1][0] - points[0][0])
    if rise < RISE or first.slope <= max(second.slope, third.slope) or third.wavering >= second.wavering:
        return None
    if _criterion(first.error + second.error + third.error, n, 8) >= _criterion(_fit(points).error, n, 2):
        return None
    return points[i][0], points[j][0]


def _three_lines(points: Sequence[Point], i: int, j: int) -> tuple[Line, Line, Line]:
    return _fit(points[:i]), _fit(points[i:j]), _fit(points[j:])


def _fit(points: Sequence[Point]) -> Line:
    n = len(points)
    centre_x, centre_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    spread = sum((x - centre_x) ** 2 for x, _ in points)
    slope = sum((x - centre_x) * (y - centre_y) for x, y in points) / spread if spread else 0.0
    error = sum((y - centre_y - slope * (x - centre_x)) ** 2 for x, y in points)
    return Line(slope, error, n)


def _criterion(error: float, n: int, parameters: int) -> float:
    """Bayesian information criterion of a least-squares fit; a perfect fit is not infinitely good."""
    return n * log(max(error / n, 1e-9)) + parameters * log(n)

"""Honest numbers: a rate never stands without its n and its interval. Pure arithmetic; knows no trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, sqrt

Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Rate:
    """`passed` of `n` judged episodes; `infra_failed` and `unjudged` are in neither."""

    passed: int
    n: int
    infra_failed: int = 0
    unjudged: int = 0

    @property
    def value(self) -> float:
        """0 when nothing was measured: look at n, or at `measured`, before it is shown to anybody."""
        return self.passed / self.n if self.n else 0.0

    @property
    def measured(self) -> float | None:
        return self.value if self.n else None

    @property
    def share(self) -> str:
        """In words, short."""
        return f"{self.value:.0%}" if self.n else "not measured"

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval. 8 of 10: 0.490 to 0.943; 0 of 10: 0.000 to 0.278."""
        if not self.n:
            return 0.0, 1.0
        z2 = Z95 * Z95
        centre = (self.value + z2 / (2 * self.n)) / (1 + z2 / self.n)
        half = Z95 * sqrt(self.value * (1 - self.value) / self.n + z2 / (4 * self.n * self.n)) / (1 + z2 / self.n)
        return max(0.0, centre - half), min(1.0, centre + half)

    @property
    def lost(self) -> str:
        """Who is missing from n, in words: "" when nobody is."""
        counts = ((self.infra_failed, "infra-failed"), (self.unjudged, "unjudged"))
        return ", ".join(f"{count} {what}" for count, what in counts if count)

    def __str__(self) -> str:
        if not self.n:
            return f"not measured (n=0{self.lost and f', {self.lost}'})"
        low, high = self.interval
        return f"{self.value:.1%} (n={self.n}, 95 % CI {low:.1%} to {high:.1%}{self.lost and f', {self.lost}'})"


# --- several attempts a task ----------------------------------------------------------------------------------------


def pass_at(k: int, n: int, c: int) -> float:
    """The chance that at least one of k attempts passes, unbiased from c successes in n >= k attempts.

    1 - C(n-c, k) / C(n, k): of the ways to draw k of the n attempts, the share with a success in it. k=2, n=4, c=1:
    1 - 3/6 = 0.5.
    """
    return 1 - comb(n - c, k) / comb(n, k)


def pass_all(k: int, n: int, c: int) -> float:
    """pass^k, the chance that all of k attempts pass: C(c, k) / C(n, k). k=2, n=4, c=3: 3/6 = 0.5."""
    return comb(c, k) / comb(n, k)


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def macro_average(rates: Sequence[Rate]) -> float | None:
    """Every template counts the same, however many tasks it has; those without a judged episode say nothing."""
    return mean([rate.value for rate in rates if rate.n])


# --- two policies on the same tasks ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pairs:
    """The 2 x 2 table of paired episodes: what A and what B made of the same task."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def difference(self) -> float:
        """B's success rate minus A's."""
        return (self.only_b - self.only_a) / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Newcombe's 95 % interval for a paired difference (1998, his method 10): Wilson's intervals of the two rates,
        squared and added, with the correlation of the pairs taken out.

        With both=36, only_a=2, only_b=12, neither=0 the difference is 0.2 and the interval 0.0569 to 0.3404.
        """
        if not self.n:
            return -1.0, 1.0
        a, b = Rate(self.both + self.only_a, self.n), Rate(self.both + self.only_b, self.n)
        phi, d = self._correlation(), self.difference
        below = _beside(b.value - b.interval[0], a.interval[1] - a.value, phi)
        above = _beside(b.interval[1] - b.value, a.value - a.interval[0], phi)
        return max(-1.0, d - below), min(1.0, d + above)

    def _correlation(self) -> float:
        """Of the two columns, pulled towards 0 by half an episode each way when it is positive."""
        e, f, g, h = self.both, self.only_a, self.only_b, self.neither
        margins = (e + f) * (g + h) * (e + g) * (f + h)
        if not margins:
            return 0.0
        gap = float(e * h - f * g)
        return (max(gap - self.n / 2, 0.0) if gap > 0 else gap) / sqrt(margins)

    @property
    def p(self) -> float:
        """McNemar's exact two-sided p: under no difference, a flip goes either way with chance 1/2.

        only_a=2, only_b=8: 2 (C(10,0) + C(10,1) + C(10,2)) / 2^10 = 112/1024 = 0.109.
        """
        flips, fewer = self.only_a + self.only_b, min(self.only_a, self.only_b)
        return min(1.0, 2.0 * sum(comb(flips, i) for i in range(fewer + 1)) / float(2**flips))


def _beside(one: float, other: float, correlation: float) -> float:
    return sqrt(max(0.0, one * one + other * other - 2 * correlation * one * other))

"""Honest numbers: a rate never stands without its n and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Rate:
    """`passed` of `n` judged episodes; `infra_failed` are in neither."""

    passed: int
    n: int
    infra_failed: int = 0

    @property
    def value(self) -> float:
        return self.passed / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval. 8 of 10: 0.490 to 0.943; 0 of 10: 0.000 to 0.278."""
        if not self.n:
            return 0.0, 1.0
        z2 = Z95 * Z95
        centre = (self.value + z2 / (2 * self.n)) / (1 + z2 / self.n)
        half = Z95 * sqrt(self.value * (1 - self.value) / self.n + z2 / (4 * self.n * self.n)) / (1 + z2 / self.n)
        return max(0.0, centre - half), min(1.0, centre + half)

    def __str__(self) -> str:
        low, high = self.interval
        lost = f", {self.infra_failed} infra-failed" if self.infra_failed else ""
        return f"{self.value:.1%} (n={self.n}, 95 % CI {low:.1%} to {high:.1%}{lost})"

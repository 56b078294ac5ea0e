"""What is expected of a template: success lately, as a Beta posterior. Arithmetic alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DECAY = 0.9  # of what was seen, with every step: the policy is no longer the one that did it
FLAT = 0.65  # a group that is so likely to end flat is not sampled on
UNKNOWN_IS_DUE = 1.5  # of a template that nobody has tried, 4 p (1 - p) is 2/3 on average: it is drawn in any case
LEAST_CHANCE = 0.1


@dataclass(frozen=True, slots=True)
class Belief:
    """Beta(passed + 1, failed + 1) of the chance that a try passes."""

    passed: float = 0.0
    failed: float = 0.0

    @property
    def mean(self) -> float:
        return (self.passed + 1) / (self.passed + self.failed + 2)

    @property
    def contrast(self) -> float:
        """E[4 p (1 - p)] = 4 a b / ((a + b) (a + b + 1)). Nothing seen: 4 / (2 * 3). One of each: 4 * 4 / (4 * 5)."""
        a, b = self.passed + 1, self.failed + 1
        return 4 * a * b / ((a + b) * (a + b + 1))

    @property
    def chance(self) -> float:
        """That a task is drawn when its turn comes."""
        return min(1.0, max(LEAST_CHANCE, UNKNOWN_IS_DUE * self.contrast))

    def flat_chance(self, passed: int, failed: int, size: int) -> float:
        """That a group of `size`, of whose members so many have passed and failed, ends without contrast.

        Nothing known, 3 of 5 failed: the two to come fail with chance (1 + 3) / (2 + 3) and (1 + 4) / (2 + 4), so
        4/5 * 5/6 = 2/3.
        """
        if passed and failed:
            return 0.0
        a, b = self.passed + 1 + passed, self.failed + 1 + failed
        chance = 1.0
        for more in range(size - passed - failed):
            chance *= ((a if passed else b) + more) / (a + b + more)
        return chance


def belief(beliefs: Mapping[str, tuple[float, float]], template: str) -> Belief:
    return Belief(*beliefs.get(template, (0.0, 0.0)))


def updated(
    beliefs: Mapping[str, tuple[float, float]], seen: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[float, float]]:
    """After a step in which so many tries of each template passed and failed."""
    decayed = {name: (DECAY * passed, DECAY * failed) for name, (passed, failed) in beliefs.items()}
    for name, (passed, failed) in seen.items():
        before = decayed.get(name, (0.0, 0.0))
        decayed[name] = before[0] + passed, before[1] + failed
    return decayed

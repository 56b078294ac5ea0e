"""How much better an episode was than its group. Pure: training and whoever shows it read it here."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal

Divisor = Literal["std", "none", "mean"]


def group_advantages(rewards: Sequence[float | None], divisor: Divisor = "std") -> tuple[float | None, ...]:
    """(r - mean) / divisor over the usable members; None stays None, and a group without contrast gives only None.

    std is the population's: rewards 1, 0, 0, None have mean 1/3 and std sqrt(2)/3, so the advantages are
    sqrt(2), -sqrt(1/2), -sqrt(1/2), None. Divided by the mean they are 2, -1, -1; by nothing 2/3, -1/3, -1/3.
    """
    usable = [reward for reward in rewards if reward is not None]
    if len(set(usable)) < 2:
        return (None,) * len(rewards)
    mean = sum(usable) / len(usable)
    by = spread(usable, divisor)
    return tuple(None if reward is None else (reward - mean) / by for reward in rewards)


def spread(usable: Sequence[float], divisor: Divisor) -> float:
    """What advantages of a group with contrast are divided by."""
    mean = sum(usable) / len(usable)
    if divisor == "std":
        return sqrt(sum((reward - mean) ** 2 for reward in usable) / len(usable))
    return mean if divisor == "mean" else 1.0

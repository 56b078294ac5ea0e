"""How much better an episode was than its group. Pure: training and whoever shows it read it here."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt


def group_advantages(rewards: Sequence[float | None]) -> tuple[float | None, ...]:
    """(r - mean) / std over the usable members; None stays None, and a group without contrast gives only None.

    std is the population's: rewards 1, 0, 0, None have mean 1/3 and std sqrt(2)/3, so the advantages are
    sqrt(2), -sqrt(1/2), -sqrt(1/2), None.
    """
    usable = [reward for reward in rewards if reward is not None]
    if len(set(usable)) < 2:
        return (None,) * len(rewards)
    mean = sum(usable) / len(usable)
    std = sqrt(sum((reward - mean) ** 2 for reward in usable) / len(usable))
    return tuple(None if reward is None else (reward - mean) / std for reward in rewards)

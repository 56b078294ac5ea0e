from __future__ import annotations

from math import sqrt

import pytest

from clickgrad.advantages import group_advantages


def test_advantages_are_standardised_within_the_group() -> None:
    """Rewards 1, 0, 0: mean 1/3, population std sqrt(2)/3."""
    assert group_advantages([1.0, 0.0, 0.0]) == pytest.approx((sqrt(2), -sqrt(0.5), -sqrt(0.5)))


def test_crashed_members_are_in_neither_baseline_nor_loss() -> None:
    assert group_advantages([1.0, None, 0.0]) == (1.0, None, -1.0)


@pytest.mark.parametrize("rewards", [[1.0, 1.0], [0.0, 0.0, None], [1.0, None], [None, None], []])
def test_a_group_without_contrast_gives_nothing(rewards: list[float | None]) -> None:
    assert group_advantages(rewards) == (None,) * len(rewards)

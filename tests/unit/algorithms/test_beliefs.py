from __future__ import annotations

import pytest

from clickgrad.algorithms.beliefs import Belief, updated


def test_the_posterior_of_nothing_seen_and_of_a_few_tries() -> None:
    """Beta(1, 1): mean 1/2, E[4p(1-p)] = 4/6. Three passed, one failed: Beta(4, 2), mean 4/6, 4 * 8 / (6 * 7)."""
    assert (Belief().mean, Belief().contrast) == pytest.approx((1 / 2, 2 / 3))
    assert (Belief(3, 1).mean, Belief(3, 1).contrast) == pytest.approx((2 / 3, 32 / 42))


def test_what_is_unknown_or_near_one_half_is_always_drawn_and_nothing_never() -> None:
    """1.5 times E[4p(1-p)]. Eight failures: 4 * 9 / (10 * 11) * 1.5 = 54/110. Two hundred: the least, a tenth."""
    assert (Belief().chance, Belief(8, 8).chance) == (1.0, 1.0)
    assert Belief(0, 8).chance == Belief(8, 0).chance == pytest.approx(54 / 110)
    assert Belief(0, 200).chance == pytest.approx(0.1)


def test_the_chance_that_a_group_ends_flat() -> None:
    """3 of 5 failed, nothing known: 4/5 * 5/6. Of 8 the product telescopes: 4/9. After 8 failures before: 12/17."""
    assert Belief().flat_chance(0, 3, 5) == pytest.approx(2 / 3)
    assert Belief().flat_chance(0, 3, 8) == Belief().flat_chance(3, 0, 8) == pytest.approx(4 / 9)
    assert Belief(0, 8).flat_chance(0, 3, 8) == pytest.approx(12 / 17)
    assert Belief(0, 8).flat_chance(1, 2, 8) == 0.0
    assert Belief(0, 8).flat_chance(0, 3, 3) == 1.0


def test_what_was_seen_fades_with_every_step_whether_or_not_its_template_comes_again() -> None:
    after = updated({"a": (2.0, 1.0), "b": (0.0, 4.0)}, {"a": (1, 2), "c": (0, 3)})
    assert {name: pytest.approx(seen) for name, seen in after.items()} == {"a": (2.8, 2.9), "b": (0, 3.6), "c": (0, 3)}

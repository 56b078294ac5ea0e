from __future__ import annotations

from itertools import combinations

import pytest

from clickgrad.report.stats import Pairs, Rate, macro_average, pass_all, pass_at


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [  # Wilson's formula: (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n), z = 1.96
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
    ],
)
def test_the_interval_is_wilsons(passed: int, n: int, low: float, high: float) -> None:
    assert Rate(passed, n).interval == pytest.approx((low, high), abs=5e-5)


def test_a_rate_without_episodes_claims_nothing() -> None:
    assert Rate(0, 0).interval == (0.0, 1.0)


def test_nothing_measured_is_no_figure() -> None:
    nothing = Rate(0, 0, infra_failed=4)
    assert str(nothing) == "not measured (n=0, 4 infra-failed)"
    assert (nothing.measured, nothing.share) == (None, "not measured")
    assert (Rate(0, 4).measured, Rate(0, 4).share) == (0.0, "0%")


def test_a_rate_names_who_is_missing_from_n() -> None:
    assert Rate(1, 2, 3, 4).lost == "3 infra-failed, 4 unjudged"
    assert str(Rate(1, 2)) == "50.0% (n=2, 95 % CI 9.5% to 90.5%)"
    assert str(Rate(1, 2, 3, 4)) == "50.0% (n=2, 95 % CI 9.5% to 90.5%, 3 infra-failed, 4 unjudged)"


@pytest.mark.parametrize(
    ("k", "n", "c", "some", "every"),
    [  # pass@k = 1 - C(n-c,k)/C(n,k); pass^k = C(c,k)/C(n,k)
        (1, 4, 1, 1 / 4, 1 / 4),
        (2, 4, 1, 1 - 3 / 6, 0.0),
        (2, 4, 3, 1 - 0 / 6, 3 / 6),
        (3, 5, 2, 1 - 1 / 10, 0.0),
        (5, 5, 5, 1.0, 1.0),
        (5, 5, 0, 0.0, 0.0),
    ],
)
def test_several_attempts(k: int, n: int, c: int, some: float, every: float) -> None:
    assert pass_at(k, n, c) == pytest.approx(some)
    assert pass_all(k, n, c) == pytest.approx(every)


@pytest.mark.parametrize(("n", "c", "k"), [(6, 2, 3), (7, 5, 2), (5, 1, 4)])
def test_the_estimators_count_all_ways_to_draw_k_attempts(n: int, c: int, k: int) -> None:
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at(k, n, c) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_all(k, n, c) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_every_template_counts_the_same_in_the_macro_average() -> None:
    assert macro_average([Rate(9, 10), Rate(0, 1), Rate(0, 0, infra_failed=3)]) == pytest.approx((0.9 + 0.0) / 2)
    assert macro_average([]) is None


@pytest.mark.parametrize(
    ("pairs", "p"),
    [
        (Pairs(5, 2, 8, 5), 2 * (1 + 10 + 45) / 1024),
        (Pairs(5, 8, 2, 5), 2 * (1 + 10 + 45) / 1024),
        (Pairs(0, 0, 6, 0), 2 / 64),
        (Pairs(3, 4, 4, 3), 1.0),  # 2 (1 + 8 + 28 + 56 + 70) / 256 is above 1
        (Pairs(10, 0, 0, 10), 1.0),
    ],
)
def test_mcnemars_p_is_exact(pairs: Pairs, p: float) -> None:
    assert pairs.p == pytest.approx(p)


@pytest.mark.parametrize(
    ("pairs", "low", "high"),
    [  # the first is an example of Newcombe's paper (1998, method 10); the others follow from the formula by hand
        (Pairs(36, 2, 12, 0), 0.0569, 0.3404),
        (Pairs(36, 12, 2, 0), -0.3404, -0.0569),
        # all alike: both Wilson intervals are 0.8389 to 1 (n = 20), no correlation: d -+ 0.1611 on either side
        (Pairs(20, 0, 0, 0), -0.1611, 0.1611),
    ],
)
def test_the_interval_of_a_paired_difference_is_newcombes(pairs: Pairs, low: float, high: float) -> None:
    assert pairs.interval == pytest.approx((low, high), abs=5e-5)


def test_without_pairs_nothing_is_claimed() -> None:
    assert Pairs(0, 0, 0, 0).interval == (-1.0, 1.0)
    assert Pairs(0, 0, 0, 0).p == 1.0

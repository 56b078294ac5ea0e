"""What turns are worth, worked out by hand: two or three turns, two or three branches, formulas beside the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tiny import make_trajectory, make_turn

from clickgrad.advantages import Divisor, group_advantages
from clickgrad.learn.samples import Teaching, effective_samples, grpo_samples
from clickgrad.learn.turn_advantages import Credit, Rewards
from clickgrad.types import End, Given, Sample, Trajectory

START, NEXT, OTHER = (1, 1), (1, 2), (1, 3)  # contexts


def episode(
    name: str,
    reward: float | None,
    contexts: Sequence[tuple[int, ...]],
    replies: Sequence[int],
    given: Given | None = None,
) -> Trajectory:
    """A reply is one token; its logprob says whose it is, so that samples can be told apart."""
    turns = [make_turn(ids, (reply,), (-reply / 100,)) for ids, reply in zip(contexts, replies, strict=True)]
    return replace(make_trajectory(turns, reward, episode=name), given=given)


def near(advantage: float, weight: float) -> tuple[float, float]:
    return round(advantage, 9), round(weight, 9)


def learned(
    group: Sequence[Trajectory], credit: Credit = "episode", divisor: Divisor = "none"
) -> dict[int, tuple[float, float]]:
    """By the token of a reply: advantage and weight, to nine digits."""
    samples = grpo_samples([group], teaching=Teaching(credit=credit, divisor=divisor))
    assert len({sample.ids[-1] for sample in samples}) == len(samples)
    return {sample.ids[-1]: near(sample.advantage, sample.weight) for sample in samples}


BRANCH = Given(1, "A", "branch")
A = episode("A", 1.0, (START, NEXT), (10, 11))
B = episode("B", 0.0, (START, OTHER), (20, 21))
TWO = [episode(name, 0.0, (START, NEXT), (10, reply), BRANCH) for name, reply in (("a", 12), ("b", 13))]


def test_a_branch_point_tells_which_turn_it_was_and_every_turn_is_weighed_once() -> None:
    """The example of the docstring. A's first turn leads to 1, 0, 0. Three ways leave A's second node, so each has a
    third of A's half of the group; a path has two turns: 1/2 1/2 and 1/2 1/3 1/2."""
    third = 1 / 3
    assert learned([A, B, *TWO]) == {
        10: near(third - 0, 1 / 4),  # against B, which came to 0
        20: near(0 - third, 1 / 4),
        21: near(0 - third, 1 / 4),  # nobody beside it: what was expected above
        11: near(1 - 0, 1 / 12),  # against 0, 0, and the 0 that was expected of A from B alone
        12: near(0 - (1 + 0 + 0) / 3, 1 / 12),
        13: near(0 - (1 + 0 + 0) / 3, 1 / 12),
    }


def test_the_weights_of_a_group_add_up_to_one_with_branches_or_without() -> None:
    for group in ([A, B], [A, B, *TWO], [A, B, TWO[0]]):
        assert sum(sample.weight for sample in grpo_samples([group], teaching=Teaching())) == pytest.approx(1)


def test_the_advantages_of_a_tree_are_divided_like_those_of_a_group() -> None:
    """Rewards 1, 0, 0, 0: mean 1/4."""
    assert learned([A, B, *TWO], divisor="mean")[10] == near((1 / 3) / (1 / 4), 1 / 4)


def test_a_crashed_branch_is_as_if_it_had_never_been_and_without_its_trunk_it_stands_nowhere() -> None:
    crashed = replace(TWO[0], reward=None)
    assert learned([A, B, crashed, TWO[1]])[11] == near(1.0, 1 / 8)  # of two ways
    lost, other = replace(A, reward=None), episode("C", 1.0, (START,), (30,))
    assert learned([lost, B, other, *TWO]).keys() == {20, 21, 30}


def test_turns_that_met_in_the_same_context_are_compared_though_nobody_branched() -> None:
    """C says at first what A says, comes to the same page and fails there; B fails elsewhere.

    The first reply of A and C, taken together, came to (1 + 0) / 2. Against A's: B and C came to 0, 0. Against C's:
    A and B came to 1, 0. At the second node A stands against C (0) and what was expected above (0): 1 - 0. C stands
    against A (1) and what was expected above (1/2): 0 - (1 + 1/2) / 2.
    """
    c = episode("C", 0.0, (START, NEXT), (10, 14))
    samples = grpo_samples([[A, B, c]], teaching=Teaching(credit="tree", divisor="none"))
    assert [(sample.ids[-1], *near(sample.advantage, sample.weight)) for sample in samples] == [
        (10, *near(1 / 2 - 0, 1 / 6)),
        (11, *near(1 - 0, 1 / 6)),
        (20, *near(0 - 1 / 2, 1 / 6)),
        (21, *near(0 - 1 / 2, 1 / 6)),
        (10, *near(1 / 2 - 1 / 2, 1 / 6)),
        (14, *near(0 - (1 + 1 / 2) / 2, 1 / 6)),
    ]


def test_the_same_page_of_the_same_world_after_another_history_counts_half() -> None:
    """A and B are on one page at their second turn, in one world: A's turn gains (1 - 0) / 2 and B's loses it."""
    pages = [replace(turn, world="w") for turn in (A.turns[1], B.turns[1])]
    a, b = (replace(one, turns=(one.turns[0], page)) for one, page in zip((A, B), pages, strict=True))
    plain, loose = learned([a, b], "tree"), learned([a, b], "world")
    assert (plain[11][0], plain[21][0]) == (1.0, -1.0)
    assert (loose[11][0], loose[21][0]) == (1.5, -1.5)
    assert loose[10] == plain[10], "at the start all have the same history"
    other = replace(b, turns=(b.turns[0], replace(b.turns[1], world="v")))
    assert learned([a, other], "world") == learned([a, other], "tree")


def test_given_turns_carry_no_loss_and_do_not_count_as_turns_of_the_trajectory() -> None:
    given = Given(1, "demo", "demo")
    group = [
        episode(name, reward, (START, NEXT, OTHER), (90, reply, reply + 1), given)
        for name, reward, reply in (("A", 1.0, 30), ("B", 0.0, 40))
    ]
    assert learned(group) == {30: (0.5, 1 / 4), 31: (0.5, 1 / 4), 40: (-0.5, 1 / 4), 41: (-0.5, 1 / 4)}
    branch = episode("a", 0.0, (START, NEXT, OTHER), (90, 30, 32), Given(2, "A", "branch"))
    assert learned([*group, branch])[32] == near(0 - (1 + 0) / 2, 1 / 2 / 2 / 2)


@pytest.mark.parametrize(("divisor", "by"), [("std", (2 / 9) ** 0.5), ("none", 1.0), ("mean", 1 / 3)])
def test_an_advantage_is_divided_by_the_spread_by_nothing_or_by_the_mean(divisor: Divisor, by: float) -> None:
    """Rewards 1, 0, 0: mean 1/3, variance 2/9."""
    assert group_advantages([1.0, 0.0, 0.0], divisor) == pytest.approx((2 / 3 / by, -1 / 3 / by, -1 / 3 / by))


def test_a_step_with_little_contrast_is_a_small_step_when_it_is_averaged_over_what_it_asked_for() -> None:
    """One group of four has contrast: its turns weigh a quarter of what they would alone."""
    alone = grpo_samples([[A, B]], teaching=Teaching())
    for normalizer in ("paper", "constant", "token"):
        alone = grpo_samples([[A, B]], teaching=Teaching(normalizer, 3))
        asked = grpo_samples([[A, B]], teaching=Teaching(normalizer, 3, groups_asked=4))
        assert [one.weight for one in asked] == pytest.approx([one.weight / 4 for one in alone])


def test_an_episode_that_its_limit_ended_is_not_solved_when_an_exit_is_required() -> None:
    late = replace(A, end=End.TURN_LIMIT)
    assert [Rewards(require_exit=True).reward(one) for one in (A, late, B)] == [1.0, 0.0, 0.0]
    assert grpo_samples([[late, B]], teaching=Teaching(rewards=Rewards(require_exit=True))) == ()
    assert len(grpo_samples([[late, B]], teaching=Teaching())) == 4


def test_a_discount_by_turns_prefers_the_shorter_success_and_makes_no_contrast_of_its_own() -> None:
    """0.9 of a success in two turns, 1 of one in a single turn. Mean of 0.9, 1, 0: 19/30."""
    short = episode("C", 1.0, (START,), (30,))
    teaching = Teaching(divisor="none", rewards=Rewards(turn_discount=0.9))
    found = {sample.ids[-1]: sample.advantage for sample in grpo_samples([[A, short, B]], teaching=teaching)}
    assert found == pytest.approx({10: 0.9 - 19 / 30, 11: 0.9 - 19 / 30, 30: 1 - 19 / 30, 20: -19 / 30, 21: -19 / 30})
    assert grpo_samples([[A, short]], teaching=teaching) == ()


def test_the_effective_number_of_samples_counts_unequal_says() -> None:
    """Says 3 and 1: 16 / 10. Four alike: 4."""

    def said(*values: float) -> list[Sample]:
        return [Sample((1, 2), 1, (-1.0,), value, 1.0) for value in values]

    assert effective_samples(said(3, -1)) == pytest.approx(1.6)
    assert effective_samples(said(0.5, -0.5, 0.5, 0.5)) == pytest.approx(4)
    assert effective_samples([]) == 0

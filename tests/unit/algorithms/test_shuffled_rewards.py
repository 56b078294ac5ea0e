from __future__ import annotations

from collections import Counter

from tiny import make_trajectory, make_turn

from clickgrad.algorithms.m_grpo import shuffled_rewards

REWARDS = (1.0, 0.0, None, 0.0, 1.0, 0.0, 0.0, None)  # None crashed
GROUP = [make_trajectory([make_turn([1], [2])], reward, episode=str(n)) for n, reward in enumerate(REWARDS)]


def test_rewards_stay_in_the_group_and_with_those_who_did_not_crash() -> None:
    shuffled = shuffled_rewards(GROUP, "0/1/0")
    assert [member.episode for member in shuffled] == [member.episode for member in GROUP]
    assert [member.reward is None for member in shuffled] == [reward is None for reward in REWARDS]
    assert Counter(member.reward for member in shuffled) == Counter(REWARDS)


def test_who_gets_them_is_chance_that_a_resumed_step_repeats() -> None:
    lots = [tuple(member.reward for member in shuffled_rewards(GROUP, f"0/{step}/0")) for step in range(60)]
    assert lots == [tuple(member.reward for member in shuffled_rewards(GROUP, f"0/{step}/0")) for step in range(60)]
    for place, reward in enumerate(REWARDS):
        if reward is not None:
            assert 8 <= sum(lot[place] == 1.0 for lot in lots) <= 32  # 20 expected, whoever had it before

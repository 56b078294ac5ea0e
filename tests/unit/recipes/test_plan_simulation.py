"""The simulated rollout against cases worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clickgrad.planning.simulation import EngineCosts, EpisodeLoad, Machine, TurnLoad, Work, simulate

Browser = tuple[Work, Work]  # opening a session, a turn
NOTHING = (Work(0), Work(0))
ENGINE = EngineCosts(token_s=0.01, step_s=0.1, max_rows=8)  # 100 prompt tokens a second, 10 replies' tokens a second


def episode(*turns: TurnLoad, group: str = "g") -> EpisodeLoad:
    return tuple(replace(turn, group=group) for turn in turns)


def asking(fresh: int, reply: int, acts: bool = False, shared: int = 0) -> TurnLoad:
    return TurnLoad(fresh, fresh + shared, reply, acts, shared)


def machine(engine: EngineCosts = ENGINE, browser: Browser = NOTHING, engines: int = 1, cores: float = 4) -> Machine:
    return Machine(engines, engine, *browser, cores)


def seconds(episodes: list[EpisodeLoad], on: Machine, browsers: int = 8) -> float:
    return simulate([episodes], on, browsers).seconds


def test_one_episode_takes_the_sum_of_its_parts() -> None:
    browser = (Work(1.0, wait_s=0.5), Work(0.2, wait_s=0.1))
    rollout = simulate([[episode(asking(100, 10, acts=True), asking(50, 5))]], machine(browser=browser), 1)
    # Opening 1.5; reading 1.0 and drawing 1.0; acting 0.3; reading 0.5 and drawing 0.5.
    assert rollout.seconds == pytest.approx(4.8)
    assert (rollout.policy_s, rollout.browser_s) == pytest.approx((3.0, 0.3))
    assert (rollout.read_tokens, rollout.reply_tokens, rollout.turns) == (150, 15, 2)


def test_two_episodes_with_one_row_wait_for_each_other() -> None:
    rollout = simulate([[episode(asking(100, 10))] * 2], machine(replace(ENGINE, max_rows=1)), 2)
    # 1.0 of reading and 1.0 of drawing each; the second waits for the first.
    assert rollout.seconds == pytest.approx(4.0)
    assert rollout.policy_s == pytest.approx(2.0 + 4.0)
    assert rollout.engine_busy == pytest.approx(1.0)


def test_two_rows_draw_together_and_a_newcomer_is_read_between_tokens() -> None:
    rollout = simulate([[episode(asking(100, 8))] * 2], machine(), 2)
    # The first is read until 1.0 and draws four tokens until 1.4; then the second is read until 2.4. Four tokens of
    # both: the first is done at 2.8. Four more of the second: 3.2.
    assert rollout.seconds == pytest.approx(3.2)
    assert rollout.policy_s == pytest.approx(2.8 + 3.2)


def test_every_row_and_every_token_it_sees_make_drawing_slower() -> None:
    engine = EngineCosts(step_s=0.1, row_s=0.05, context_s=0.001)
    # Four tokens at once: 4 x (0.1 + 0.05 + 100 x 0.001), then with 104 tokens in sight 4 x (0.1 + 0.05 + 0.104).
    assert seconds([episode(TurnLoad(0, 100, 8))], machine(engine)) == pytest.approx(1.0 + 1.016)


def test_reading_costs_more_the_more_a_token_sees() -> None:
    engine = EngineCosts(prompt_s=0.5, token_s=0.01, pair_s=0.0001)
    # 0.5 + 100 x (0.01 + 200 x 0.0001)
    assert seconds([episode(TurnLoad(100, 200, 0))], machine(engine)) == pytest.approx(3.5)


@pytest.mark.parametrize(
    ("groups", "engines", "read"),
    [(["a", "a"], 1, 100), (["a", "b"], 1, 200), (["a", "a"], 2, 200)],
    ids=["one group", "two groups", "one group on two engines"],
)
def test_a_group_pays_for_its_first_page_once_an_engine(groups: list[str], engines: int, read: int) -> None:
    episodes = [episode(asking(0, 4, shared=100), group=group) for group in groups]
    assert simulate([episodes], machine(engines=engines), 2).read_tokens == read


def test_episodes_are_spread_over_the_engines() -> None:
    episodes = [episode(asking(100, 10)) for _ in range(4)]
    # Two each: as with one row, but side by side.
    assert seconds(episodes, machine(replace(ENGINE, max_rows=1), engines=2)) == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("opening", "browsers", "taken"),
    [
        (Work(1.0), 4, 2.0),  # 4 seconds of work on 2 cores
        (Work(1.0), 1, 4.0),  # one after the other: a core is idle
        (Work(0.0, wait_s=1.0), 4, 1.0),  # waiting takes no core
        (Work(0.0, wait_s=1.0), 2, 2.0),
        (Work(1.0, wait_s=1.0), 4, 3.0),
    ],
)
def test_browsers_share_the_cores(opening: Work, browsers: int, taken: float) -> None:
    on = machine(browser=(opening, Work(0)), engines=0, cores=2)
    rollout = simulate([[episode(asking(0, 0))] * 4], on, browsers)
    assert rollout.seconds == pytest.approx(taken)
    assert rollout.cores_busy == pytest.approx(4 * opening.core_s / (2 * taken))
    assert rollout.engine_busy == 0


def test_an_engine_on_the_cores_and_a_browser_slow_each_other_down() -> None:
    on = machine(replace(ENGINE, cores=2, max_rows=1), (Work(1.0), Work(1.0)), cores=2)
    # Both open until 1. The engine reads for the first until 2. Then the first acts (one core) while the engine reads
    # for the second (two cores): three on two, so both take 1.5 instead of 1. The second acts until 4.5.
    assert seconds([episode(asking(100, 0, acts=True))] * 2, on) == pytest.approx(4.5)


def test_refilled_groups_begin_when_the_others_have_ended() -> None:
    rounds = [[episode(asking(100, 10))], [episode(asking(100, 10), group="h")]]
    assert simulate(rounds, machine(engines=2), 2).seconds == pytest.approx(4.0)


def test_an_engine_without_a_limit_has_a_row_for_every_browser() -> None:
    episodes = [episode(asking(0, 4))] * 3
    assert seconds(episodes, machine(replace(ENGINE, max_rows=0)), browsers=3) == pytest.approx(0.4 + 0.4)
    assert seconds(episodes, machine(replace(ENGINE, max_rows=1)), browsers=3) == pytest.approx(3 * 0.4)


turns = st.builds(asking, st.integers(0, 300), st.integers(0, 30), st.booleans())
episodes_strategy = st.lists(st.lists(turns, min_size=1, max_size=4).map(lambda made: episode(*made)), max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    episodes=episodes_strategy.filter(bool),
    browsers=st.integers(1, 8),
    engines=st.integers(1, 3),
    on_cores=st.booleans(),
)
def test_it_takes_no_less_than_the_longest_and_no_more_than_all_in_turn(
    episodes: list[EpisodeLoad], browsers: int, engines: int, on_cores: bool
) -> None:
    engine = replace(ENGINE, row_s=0.02, context_s=0.0001, max_rows=3, cores=2 if on_cores else 0)
    on = machine(engine, (Work(0.3, 0.1), Work(0.2, 0.1)), engines, cores=2)
    alone = [seconds([one], on) for one in episodes]
    rollout = simulate([episodes], on, browsers)
    assert max(alone) - 1e-6 <= rollout.seconds <= sum(alone) + 1e-6
    assert rollout.cores_busy <= 1 + 1e-9
    assert rollout.engine_busy <= 1 + 1e-9
    assert rollout.turns == sum(map(len, episodes))

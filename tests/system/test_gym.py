"""Pocket Arena as a Gymnasium environment: the expert's replies earn the reward, and the interface keeps its word."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import clickgrad.gym
from clickgrad.agent.grammar import render
from clickgrad.errors import UserError
from clickgrad.gym import ClickgradEnv
from clickgrad.tasks import Expert
from clickgrad.types import Element, Observation


@pytest.fixture(scope="module")
def env() -> Iterator[ClickgradEnv]:
    made = gymnasium.make("clickgrad/pocket-v0", max_turns=3, disable_env_checker=True)
    assert isinstance(made.unwrapped, ClickgradEnv)
    yield made.unwrapped
    made.close()


def test_it_passes_gymnasiums_own_checker(env: ClickgradEnv) -> None:
    check_env(env, skip_render_check=True, skip_close_check=True)


def short_task(env: ClickgradEnv, template: str) -> str:
    return next(task.id for task in env.tasks.values() if task.template == template and task.expert_turns in (2, 3))


@pytest.mark.parametrize("template", ["shop.add_to_cart", "forum.vote_post"])
def test_the_experts_replies_earn_the_reward_at_the_end(env: ClickgradEnv, template: str) -> None:
    name = short_task(env, template)
    expert = Expert(env.tasks[name])
    page, info = env.reset(options={"task": name})
    assert info["intent"] == env.tasks[name].intent
    rewards = []
    terminated = truncated = False
    while not terminated and not truncated:
        assert page in env.observation_space
        move = expert.move(as_seen(page, info))
        page, reward, terminated, truncated, info = env.step(render(move.action, move.remark, "plain"))
        rewards.append(reward)
    assert (terminated, truncated) == (True, False)
    assert rewards == [0.0] * (len(rewards) - 1) + [1.0]


def as_seen(page: str, info: dict[str, object]) -> Observation:
    """The expert needs no more than what the environment tells."""
    elements, texts = info["elements"], info["texts"]
    assert isinstance(elements, list)
    assert isinstance(texts, list)
    seen = tuple(Element(**one) for one in elements)
    return Observation(
        str(info["url"]), str(info["title"]), tuple(page.splitlines()[1:]), seen, texts=tuple(map(str, texts))
    )


def test_the_turn_limit_truncates_and_rubbish_costs_a_turn(env: ClickgradEnv) -> None:
    env.reset(seed=1)
    page, reward, terminated, truncated, _ = env.step("I do not know")
    assert "Notice: the last reply was no action" in page
    assert (reward, terminated, truncated) == (0.0, False, False)
    env.step("")
    _, reward, terminated, truncated, _ = env.step("still not")
    assert (reward, terminated, truncated) == (0.0, False, True)
    with pytest.raises(UserError, match="call reset"):
        env.step("more")


def test_the_seed_chooses_the_task(env: ClickgradEnv) -> None:
    names = [env.reset(seed=seed)[1]["task"] for seed in (7, 8, 7)]
    assert names[0] == names[2] != names[1]


def test_wrong_options_of_reset_are_named(env: ClickgradEnv) -> None:
    with pytest.raises(UserError, match=r"no task 'shop\.fly'"):
        env.reset(options={"task": "shop.fly"})
    with pytest.raises(UserError, match="unknown option 'colour'"):
        env.reset(options={"colour": 1})


def test_a_loop_of_the_callers_own_is_no_hindrance(env: ClickgradEnv) -> None:
    import asyncio

    async def as_in_a_notebook() -> str:
        return env.reset(seed=3)[0]

    assert asyncio.run(as_in_a_notebook()).startswith("Page: ")


def test_it_is_registered_by_import() -> None:
    assert clickgrad.gym.__name__ in str(gymnasium.spec("clickgrad/pocket-v0").entry_point)

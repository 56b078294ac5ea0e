from __future__ import annotations

import asyncio
import errno
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
from tiny import FakeVenue, make_task

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import FakeElement, FakePage
from clickgrad.errors import PolicyError, TokenLimit, UserError, WorldError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.rollout.venue import Visit
from clickgrad.types import Completion, End, Evidence, Outcome, Prompt, Sampling, Task, Trajectory, Unparsable, UrlCheck

pytestmark = pytest.mark.anyio

SITE = {
    "http://toy/": FakePage("Home", ("Welcome", FakeElement("link", "Next", to="http://toy/next"))),
    "http://toy/next": FakePage("Next", ("The answer is yes", FakeElement("link", "Home", to="http://toy/"))),
}
CLICK = 'do(action="Click", element="0")'


def agent_of(*replies: str, **limits: float) -> Agent:
    return Agent(
        FixedPolicy("fixed", replies),
        PromptBuilder(None, "plain"),
        replace(Limits(max_turns=4, max_new_tokens=32), **limits),  # type: ignore[arg-type]
    )


async def play(agent: Agent, task: Task | None = None, venue: object = None) -> Trajectory:
    return await run_episode("e", task or make_task(), 7, agent, venue or FakeVenue(SITE))  # type: ignore[arg-type]


async def test_the_right_answer_is_a_reward() -> None:
    trajectory = await play(agent_of(CLICK, 'exit(message="yes")'))
    assert (trajectory.end, trajectory.answer, trajectory.reward) == (End.STOPPED, "yes", 1.0)
    assert [turn.observation.url for turn in trajectory.turns] == ["http://toy/", "http://toy/next"]


async def test_a_wrong_answer_is_a_reward_of_0_with_a_reason() -> None:
    trajectory = await play(agent_of('exit(message="no")'))
    assert trajectory.reward == 0.0
    assert "no" in trajectory.verdict.results[0].reason


async def test_the_turn_limit_ends_the_episode_and_counts() -> None:
    trajectory = await play(agent_of(CLICK))
    assert (trajectory.end, len(trajectory.turns), trajectory.reward) == (End.TURN_LIMIT, 4, 0.0)


async def test_what_was_reached_counts_even_without_an_exit() -> None:
    task = replace(make_task(), checks=(UrlCheck("toy", "/next"),))
    trajectory = await play(agent_of(CLICK, max_turns=1), task)
    assert (trajectory.end, trajectory.reward) == (End.TURN_LIMIT, 1.0)


async def test_an_unparsable_reply_costs_the_turn_and_the_next_page_says_why() -> None:
    trajectory = await play(agent_of("hello", 'exit(message="yes")'))
    assert isinstance(trajectory.turns[0].action, Unparsable)
    assert "no action: expected one action" in trajectory.turns[1].observation.notice
    assert trajectory.reward == 1.0


async def test_a_failed_action_is_told_in_the_next_observation() -> None:
    trajectory = await play(agent_of('do(action="Click", element="99")', 'exit(message="yes")'))
    assert "99" in trajectory.turns[1].observation.notice


async def test_a_venue_may_say_what_the_task_is_once_it_has_opened() -> None:
    asked: list[str] = []

    class Asked(FixedPolicy):
        async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
            asked.append(prompt.messages[-1].content)
            return await super().complete(prompt, sampling)

    agent = replace(agent_of("x"), policy=Asked("asked", ['exit(message="yes")']))
    trajectory = await play(agent, venue=FakeVenue(SITE, intent="Say yes."))
    assert asked[0].startswith("Task: Say yes.\n")
    assert (trajectory.task, trajectory.reward) == (replace(make_task(), intent="Say yes."), 1.0)


async def test_a_page_may_end_the_episode_by_itself() -> None:
    trajectory = await play(agent_of(CLICK), venue=FakeVenue(SITE, end_url="http://toy/next"))
    assert (trajectory.end, len(trajectory.turns), trajectory.answer) == (End.STOPPED, 1, None)


async def test_wall_time_that_is_over_is_a_crash_and_never_a_reward() -> None:
    trajectory = await play(agent_of(CLICK, episode_s=0.0))
    assert (trajectory.end, trajectory.reward, trajectory.verdict.outcome) == (End.CRASHED, None, Outcome.UNJUDGED)
    assert trajectory.error == "InfraError: the episode took longer than 0 s (rollout.episode_s)"


class Failing:
    name, version = "failing", 0

    def __init__(self, error: BaseException | None) -> None:
        self._error = error
        self.forgotten: list[str] = []

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        if self._error:
            raise self._error
        await asyncio.sleep(60)
        raise AssertionError("nobody waits that long")

    def forget(self, episode: str) -> None:
        self.forgotten.append(episode)

    def close(self) -> None:
        pass


async def test_a_failing_policy_is_a_crash_without_a_reward() -> None:
    policy = Failing(PolicyError("out of memory"))
    trajectory = await play(replace(agent_of("x"), policy=policy))
    assert (trajectory.end, trajectory.reward, trajectory.verdict.outcome) == (End.CRASHED, None, Outcome.UNJUDGED)
    assert trajectory.error == "PolicyError: out of memory"
    assert policy.forgotten == ["e"]


UNFORESEEN = [
    TypeError("TextEncodeInput must be Union[...]"),
    KeyError("items"),
    UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates not allowed"),
    RecursionError("maximum recursion depth exceeded"),
    MemoryError(),
    SystemExit(3),
    asyncio.CancelledError(),  # of a future that an engine dropped; nobody has cancelled the episode
]


@pytest.mark.parametrize("error", UNFORESEEN, ids=lambda error: type(error).__name__)
async def test_whatever_a_policy_raises_one_trajectory_comes_out(error: BaseException) -> None:
    policy = Failing(error)
    trajectory = await play(replace(agent_of("x"), policy=policy))
    assert (trajectory.end, trajectory.reward, trajectory.verdict.outcome) == (End.CRASHED, None, Outcome.UNJUDGED)
    assert (trajectory.error or "").startswith("InfraError: ")
    assert policy.forgotten == ["e"]


async def test_a_cancellation_that_was_survived_before_the_episode_is_not_taken_for_one_of_it() -> None:
    async def survivor() -> Trajectory:
        task = asyncio.current_task()
        assert task
        task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        assert task.cancelling() == 1
        return await play(replace(agent_of("x"), policy=Failing(asyncio.CancelledError())))

    assert (await asyncio.create_task(survivor())).end is End.CRASHED


@pytest.mark.parametrize("where", ["opening", "evidence", "closing"])
@pytest.mark.parametrize("error", UNFORESEEN, ids=lambda error: type(error).__name__)
async def test_whatever_a_venue_raises_one_trajectory_comes_out(where: str, error: BaseException) -> None:
    trajectory = await play(agent_of('exit(message="yes")'), venue=BrokenVenue(where, error))
    expected = (End.STOPPED, 1.0) if where == "closing" else (End.CRASHED, None)
    assert (trajectory.end, trajectory.reward) == expected


async def test_an_unforeseen_error_is_told_with_the_line_of_code_it_came_from() -> None:
    trajectory = await play(replace(agent_of("x"), policy=Failing(KeyError("items"))))
    assert re.fullmatch(
        r"InfraError: playing the episode: KeyError: 'items' \(test_episode\.py, line \d+\)", trajectory.error or ""
    )


async def test_an_episode_that_is_cancelled_ends_without_a_trajectory() -> None:
    episode = asyncio.create_task(play(replace(agent_of("x"), policy=Failing(None))))
    await asyncio.sleep(0)
    episode.cancel()
    with pytest.raises(asyncio.CancelledError):
        await episode


async def test_what_the_user_has_to_mend_ends_the_run() -> None:
    with pytest.raises(UserError, match="no key"):
        await play(replace(agent_of("x"), policy=Failing(UserError("no key"))))


async def test_a_policy_that_never_answers_is_a_crash_at_its_deadline() -> None:
    trajectory = await play(replace(agent_of("x", reply_s=0.01), policy=Failing(None)))
    assert (trajectory.end, trajectory.reward) == (End.CRASHED, None)
    assert "no reply within" in (trajectory.error or "")


async def test_a_full_context_ends_the_episode_and_counts() -> None:
    trajectory = await play(replace(agent_of("x"), policy=Failing(TokenLimit("too long"))))
    assert (trajectory.end, trajectory.reward, trajectory.error) == (End.TOKEN_LIMIT, 0.0, "too long")


class BrokenVenue:
    """Breaks on the way in, while looking at the world, or on the way out."""

    def __init__(self, where: str, error: BaseException | None = None) -> None:
        self._where = where
        self._error = error or WorldError("the world is gone")

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        if self._where == "opening":
            raise self._error
        async with FakeVenue(SITE).open(task) as visit:
            yield replace(visit, evidence=self._gone) if self._where == "evidence" else visit
        if self._where == "closing":
            raise self._error

    async def _gone(self, answer: str | None) -> Evidence:
        raise self._error


@pytest.mark.parametrize("where", ["opening", "evidence"])
async def test_broken_machinery_is_never_a_reward(where: str) -> None:
    trajectory = await play(agent_of('exit(message="yes")'), venue=BrokenVenue(where))
    assert (trajectory.end, trajectory.reward) == (End.CRASHED, None)


async def test_a_verdict_stands_when_only_the_cleaning_up_fails() -> None:
    trajectory = await play(agent_of('exit(message="yes")'), venue=BrokenVenue("closing"))
    assert (trajectory.end, trajectory.reward) == (End.STOPPED, 1.0)


async def test_screenshots_are_kept_by_turn() -> None:
    kept: dict[str, bytes] = {}

    def keep(name: str, jpeg: bytes) -> str:
        kept[name] = jpeg
        return f"{name}.jpg"

    trajectory = await play(replace(agent_of(CLICK, 'exit(message="yes")'), save_screenshot=keep))
    assert [turn.screenshot for turn in trajectory.turns] == ["e-00.jpg", "e-01.jpg"]
    assert set(kept) == {"e-00", "e-01"}


async def test_a_full_disk_is_the_users_to_mend_and_no_crash_of_the_episode() -> None:
    def no_room(name: str, jpeg: bytes) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(UserError, match=r"No space left on device\): make room"):
        await play(replace(agent_of(CLICK), save_screenshot=no_room))

"""How far sampling may run ahead of learning."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context
from typing import Any

import pytest

from clickgrad.errors import InfraError, LearnError, PolicyError
from clickgrad.learn.checkpoint import Progress
from clickgrad.recipes.ahead import Ahead
from clickgrad.recipes.gathering import Gathered


def empty(taken: int) -> Gathered:
    return Gathered((), (), taken, (), (), 0.0)


def gathering(begun: list[int]) -> Callable[[Progress], Awaitable[Gathered]]:
    async def gather_step(progress: Progress) -> Gathered:
        begun.append(progress.step + 1)
        await asyncio.sleep(0)
        return empty(progress.tasks_taken + 1)

    return gather_step


def settled(begun: list[int]) -> list[int]:
    """What has begun once nothing more begins."""
    seen = -1
    while seen != len(begun):
        seen = len(begun)
        time.sleep(0.05)
    return list(begun)


@pytest.mark.parametrize(
    ("lead", "at_once", "after_one"),
    [(0, [1], [1, 2]), (1, [1, 2], [1, 2, 3]), (2, [1, 2, 3], [1, 2, 3, 4]), (9, [1, 2, 3, 4], [1, 2, 3, 4])],
)
def test_a_step_is_sampled_no_further_ahead_than_the_lead(lead: int, at_once: list[int], after_one: list[int]) -> None:
    begun: list[int] = []
    with asyncio.Runner() as runner, Ahead(runner, gathering(begun), Progress(), last_step=4, lead=lead) as ahead:
        assert ahead.take().tasks_taken == 1
        assert settled(begun) == at_once
        ahead.policy_is_at(1)
        assert settled(begun) == after_one
        assert ahead.take().tasks_taken == 2


def test_a_resumed_run_goes_on_where_it_stood() -> None:
    begun: list[int] = []
    start = Progress(step=2, tasks_taken=7)
    with asyncio.Runner() as runner, Ahead(runner, gathering(begun), start, last_step=4, lead=0) as ahead:
        assert ahead.take().tasks_taken == 8
        assert settled(begun) == [3]


def test_what_goes_wrong_while_sampling_is_raised_where_the_step_is_taken() -> None:
    async def gather_step(progress: Progress) -> Gathered:
        raise PolicyError("no reply")

    with (
        pytest.raises(PolicyError, match="no reply"),
        asyncio.Runner() as runner,
        Ahead(runner, gather_step, Progress(), last_step=4, lead=0) as ahead,
    ):
        ahead.take()


def test_leaving_early_ends_the_episodes_under_way() -> None:
    ended: list[str] = []

    async def gather_step(progress: Progress) -> Gathered:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("closed")
        return empty(0)

    def interrupted() -> None:
        with asyncio.Runner() as runner, Ahead(runner, gather_step, Progress(), last_step=4, lead=0):
            time.sleep(0.1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ended == ["closed"]


@pytest.mark.parametrize("lead", [0, 1, 3])
def test_over_a_whole_run_sampling_is_always_as_far_ahead_as_it_may_and_never_further(lead: int) -> None:
    """With the policy at version v, steps up to v + 1 + lead have begun: the oldest token is `lead` versions old."""
    begun: list[int] = []
    last = 6
    with asyncio.Runner() as runner, Ahead(runner, gathering(begun), Progress(), last, lead) as ahead:
        for version in range(last):
            assert settled(begun) == list(range(1, min(last, version + 1 + lead) + 1))
            assert ahead.take().tasks_taken == version + 1  # in order, each going on where the one before ended
            ahead.policy_is_at(version + 1)
    assert begun == [1, 2, 3, 4, 5, 6]


def test_what_was_sampled_before_something_went_wrong_is_still_learned_from() -> None:
    async def gather_step(progress: Progress) -> Gathered:
        if progress.step == 2:
            raise PolicyError("no reply")
        return empty(progress.tasks_taken + 1)

    def learn(taken: list[int]) -> None:
        with asyncio.Runner() as runner, Ahead(runner, gather_step, Progress(), last_step=9, lead=5) as ahead:
            while True:
                taken.append(ahead.take().tasks_taken)

    taken: list[int] = []
    with pytest.raises(PolicyError, match="no reply"):
        learn(taken)
    assert taken == [1, 2]


def test_there_is_nothing_to_take_after_the_last_step() -> None:
    with asyncio.Runner() as runner, Ahead(runner, gathering([]), Progress(), last_step=1, lead=0) as ahead:
        ahead.take()
        with pytest.raises(InfraError, match="no further step"):
            ahead.take()


def test_an_error_while_learning_comes_out_and_sampling_that_waits_for_the_policy_ends() -> None:
    begun: list[int] = []

    def learn() -> None:
        with asyncio.Runner() as runner, Ahead(runner, gathering(begun), Progress(), last_step=4, lead=0) as ahead:
            ahead.take()
            settled(begun)
            raise LearnError("not finite")

    with pytest.raises(LearnError, match="not finite"):
        learn()
    assert begun == [1]


class LateRunner(asyncio.Runner):  # type: ignore[misc]  # final for those who check types, not for those who run
    """Its thread gets its turn only when somebody has already left."""

    def run(self, coro: Coroutine[Any, Any, Any], *, context: Context | None = None) -> Any:
        time.sleep(0.2)
        return super().run(coro, context=context)


def test_leaving_before_sampling_has_begun_ends_it_too() -> None:
    begun: list[int] = []
    with LateRunner() as runner, Ahead(runner, gathering(begun), Progress(), last_step=4, lead=0):
        pass
    assert begun == []

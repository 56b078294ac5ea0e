"""How far sampling may run ahead of learning."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tiny import make_task, make_trajectory

from clickgrad.algorithms.ahead import Ahead
from clickgrad.algorithms.collecting import Collected
from clickgrad.algorithms.protocol import Group, GroupPlan
from clickgrad.errors import InfraError, LearnError, PolicyError
from clickgrad.learn.progress import Progress

pytestmark = pytest.mark.anyio


def collected(taken: int) -> Collected:
    """Of a step after which `taken` tasks were taken."""
    group = Group(GroupPlan(taken - 1, make_task(), 1), (make_trajectory([], 1.0),))
    return Collected((group,), (), (), (), 0.0)


def taken(step: Collected) -> int:
    return step.after(Progress()).tasks_taken


def collecting(begun: list[int]) -> Callable[[Progress], Awaitable[Collected]]:
    async def collect(progress: Progress) -> Collected:
        begun.append(progress.step + 1)
        await asyncio.sleep(0)
        return collected(progress.tasks_taken + 1)

    return collect


async def settled(begun: list[int]) -> list[int]:
    """What has begun once nothing more begins."""
    for _ in range(50):
        await asyncio.sleep(0)
    return list(begun)


@pytest.mark.parametrize(
    ("lead", "at_once", "after_one"),
    [(0, [1], [1, 2]), (1, [1, 2], [1, 2, 3]), (2, [1, 2, 3], [1, 2, 3, 4]), (9, [1, 2, 3, 4], [1, 2, 3, 4])],
)
async def test_a_step_is_sampled_no_further_ahead_than_the_lead(
    lead: int, at_once: list[int], after_one: list[int]
) -> None:
    begun: list[int] = []
    async with Ahead(collecting(begun), Progress(), last_step=4, lead=lead) as ahead:
        assert taken(await ahead.take()) == 1
        assert await settled(begun) == at_once
        ahead.learned()
        assert await settled(begun) == after_one
        assert taken(await ahead.take()) == 2


async def test_a_resumed_run_goes_on_where_it_stood() -> None:
    begun: list[int] = []
    async with Ahead(collecting(begun), Progress(step=2, tasks_taken=7), last_step=4, lead=0) as ahead:
        assert taken(await ahead.take()) == 8
        assert await settled(begun) == [3]


async def test_what_goes_wrong_while_sampling_is_raised_where_the_step_is_taken() -> None:
    async def collect(progress: Progress) -> Collected:
        raise PolicyError("no reply")

    async with Ahead(collect, Progress(), last_step=4, lead=0) as ahead:
        with pytest.raises(PolicyError, match="no reply"):
            await ahead.take()


async def test_leaving_early_ends_the_episodes_under_way() -> None:
    ended: list[str] = []

    async def collect(progress: Progress) -> Collected:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)  # sessions take a moment to close
            ended.append("closed")
        return collected(1)

    async def learn() -> None:
        async with Ahead(collect, Progress(), last_step=4, lead=0):
            await settled([])
            raise LearnError("not finite")

    with pytest.raises(LearnError, match="not finite"):
        await learn()
    assert ended == ["closed"]


@pytest.mark.parametrize("lead", [0, 1, 3])
async def test_over_a_whole_run_sampling_is_always_as_far_ahead_as_it_may_and_never_further(lead: int) -> None:
    """With the policy at version v, steps up to v + 1 + lead have begun: the oldest token is `lead` versions old."""
    begun: list[int] = []
    last = 6
    async with Ahead(collecting(begun), Progress(), last, lead) as ahead:
        for version in range(last):
            assert await settled(begun) == list(range(1, min(last, version + 1 + lead) + 1))
            assert taken(await ahead.take()) == version + 1  # in order, each going on where the one before ended
            ahead.learned()
    assert begun == [1, 2, 3, 4, 5, 6]


async def test_what_was_sampled_before_something_went_wrong_is_still_learned_from() -> None:
    async def collect(progress: Progress) -> Collected:
        if progress.step == 2:
            raise PolicyError("no reply")
        return collected(progress.tasks_taken + 1)

    steps: list[int] = []
    async with Ahead(collect, Progress(), last_step=9, lead=5) as ahead:
        steps += [taken(await ahead.take()), taken(await ahead.take())]
        with pytest.raises(PolicyError, match="no reply"):
            await ahead.take()
    assert steps == [1, 2]


async def test_there_is_nothing_to_take_after_the_last_step() -> None:
    async with Ahead(collecting([]), Progress(), last_step=1, lead=0) as ahead:
        await ahead.take()
        with pytest.raises(InfraError, match="no further step"):
            await ahead.take()


async def test_leaving_before_sampling_has_begun_ends_it_too() -> None:
    begun: list[int] = []
    async with Ahead(collecting(begun), Progress(), last_step=4, lead=0):
        pass
    assert begun == []

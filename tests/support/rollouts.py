"""Short ways to play episodes and to open venues in tests that have no loop of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

from clickgrad.backends.local import LocalPlayers
from clickgrad.rollout.episode import Agent
from clickgrad.rollout.scheduler import Bounds, Play, Scheduler, Slot
from clickgrad.rollout.venue import Venue
from clickgrad.types import Trajectory

T = TypeVar("T")


def player(agent: Agent, venue: Venue) -> Play:
    return LocalPlayers(agent, venue).play


async def fill_slots(
    slots: Sequence[Slot],
    play: Play,
    *,
    concurrency: int,
    retries: int,
    stored: Mapping[str, Trajectory],
    on_end: Callable[[Trajectory], None],
    site_sessions: int = 0,
) -> list[Trajectory]:
    return await Scheduler(play, Bounds(concurrency, retries, site_sessions), stored, on_end).fill(slots)


@contextmanager
def opened(runner: asyncio.Runner, context: AbstractAsyncContextManager[T]) -> Iterator[T]:
    try:
        yield runner.run(context.__aenter__())
    finally:
        runner.run(context.__aexit__(None, None, None))

"""Sampling beside learning: steps are collected one after the other, a bounded way ahead of the policy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from clickgrad.algorithms.collecting import Collected
from clickgrad.errors import InfraError
from clickgrad.learn.progress import Progress

Collect = Callable[[Progress], Awaitable[Collected]]  # the step after a progress


class Ahead:
    """An async context manager; `take` the steps in order, and say when one has been learned.

    At most `lead` + 1 steps are between the beginning of their sampling and the end of learning from them. With a lead
    of 0 step s is sampled only when everything before it has been learned: strictly on-policy.
    """

    def __init__(self, collect: Collect, progress: Progress, last_step: int, lead: int) -> None:
        self._collect = collect
        self._progress = progress
        self._last_step = last_step
        self._room = asyncio.Semaphore(lead + 1)
        self._collected: asyncio.Queue[Collected] = asyncio.Queue()
        self._sampling: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._sampling = asyncio.create_task(self._sample())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._sampling
        self._sampling.cancel()
        await asyncio.wait([self._sampling])  # open sessions are closed first

    async def take(self) -> Collected:
        """The next step's episodes, once they are complete."""
        assert self._sampling
        taking = asyncio.create_task(self._collected.get())
        await asyncio.wait([taking, self._sampling], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0)  # what was put at last may still have to arrive
        if taking.done():
            return taking.result()
        taking.cancel()
        self._sampling.result()  # raises what ended it
        raise InfraError("there is no further step")

    def learned(self) -> None:
        """A step that was taken is part of the policy."""
        self._room.release()

    async def _sample(self) -> None:
        progress = self._progress
        while progress.step < self._last_step:
            await self._room.acquire()
            collected = await self._collect(progress)
            self._collected.put_nowait(collected)
            progress = collected.after(progress)

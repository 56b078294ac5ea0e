"""Sampling beside learning: steps are gathered one after the other in a thread of their own, a bounded way ahead."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self

from clickgrad.errors import InfraError
from clickgrad.learn.checkpoint import Progress
from clickgrad.recipes.gathering import Gathered

STOP_TIMEOUT_S = 60.0  # open sessions are closed first


class Ahead:
    """A context manager; `take` the steps in order, and say when the policy moved.

    Step s is sampled from the moment the policy is at version s - 1 - `lead`. With a lead of 0 that is when everything
    before it has been learned: strictly on-policy, and the two halves take turns.
    """

    def __init__(
        self,
        runner: asyncio.Runner,
        gather_step: Callable[[Progress], Awaitable[Gathered]],
        progress: Progress,
        last_step: int,
        lead: int,
    ) -> None:
        self._runner = runner
        self._gather_step = gather_step
        self._progress = progress
        self._last_step = last_step
        self._lead = lead
        self._version = progress.step
        self._moved = asyncio.Event()
        self._done: queue.SimpleQueue[Gathered | None] = queue.SimpleQueue()  # None when the thread has ended
        self._task: asyncio.Task[None] | None = None
        self._left = False  # before the thread had begun there was no task to cancel
        self._thread = ThreadPoolExecutor(1, "rollouts")

    def __enter__(self) -> Self:
        self._loop = self._runner.get_loop()
        self._work = self._thread.submit(self._runner.run, self._produce())
        self._work.add_done_callback(lambda _: self._done.put(None))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._cancel)
        self._thread.shutdown(wait=False)
        if not wait([self._work], STOP_TIMEOUT_S).done:
            raise InfraError(f"the episodes under way did not end within {STOP_TIMEOUT_S:.0f} s")

    def take(self) -> Gathered:
        """The next step's episodes, once they are complete."""
        gathered = self._done.get()
        if gathered is None:
            self._work.result()  # raises what ended it
            raise InfraError("there is no further step")
        return gathered

    def policy_is_at(self, version: int) -> None:
        self._version = version
        self._loop.call_soon_threadsafe(self._moved.set)

    # --- the thread of the rollouts ---

    async def _produce(self) -> None:
        self._task = asyncio.current_task()
        progress = self._progress
        while progress.step < self._last_step and not self._left:
            while self._version < progress.step - self._lead:
                self._moved.clear()
                await self._moved.wait()
            gathered = await self._gather_step(progress)
            self._done.put(gathered)
            progress = gathered.after(progress)

    def _cancel(self) -> None:
        self._left = True
        if self._task is not None:
            self._task.cancel()

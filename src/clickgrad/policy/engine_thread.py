"""A thread with an event loop of its own, for engines that talk to servers: any other loop may ask it."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar, TypeVarTuple

from anyio.from_thread import BlockingPortal, start_blocking_portal

from clickgrad.errors import PolicyError

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


class EngineThread:
    def __init__(self, name: str) -> None:
        self._name = name
        self._open = start_blocking_portal(name=name.replace(" ", "-"))
        self._portal: BlockingPortal | None = self._open.__enter__()

    async def run(self, work: Callable[[*Arguments], Awaitable[Result]], *arguments: *Arguments) -> Result:
        """Asked from another loop. PolicyError when the engine is closed or its thread ends, before or meanwhile."""
        try:
            return await asyncio.wrap_future(self.begin(work, *arguments))
        except asyncio.CancelledError:
            asking = asyncio.current_task()
            if asking and not asking.cancelling():
                ended = "was closed" if self._portal is None else "has ended: its thread is gone"
                raise PolicyError(f"the {self._name} {ended}") from None
            raise

    def call(self, work: Callable[[*Arguments], Awaitable[Result]], *arguments: *Arguments) -> Result:
        """Asked from a thread without a loop, which waits."""
        return self.begin(work, *arguments).result()

    def close(self, last: Callable[[], Awaitable[None]]) -> None:
        """Do `last`, cancel what is under way, end. Idempotent."""
        if self._portal is not None:
            portal, self._portal = self._portal, None
            with suppress(RuntimeError):  # its thread has ended already
                portal.call(last)
                portal.start_task_soon(portal.stop, True)
            self._open.__exit__(None, None, None)

    def begin(
        self, work: Callable[[*Arguments], Awaitable[Result]], *arguments: *Arguments
    ) -> concurrent.futures.Future[Result]:
        """Asked from a thread without a loop, which does something else meanwhile."""
        if self._portal is None:
            raise PolicyError(f"the {self._name} is closed")
        try:
            return self._portal.start_task_soon(work, *arguments)
        except RuntimeError as error:
            raise PolicyError(f"the {self._name} has ended: {error}") from error

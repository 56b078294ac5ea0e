"""Where an episode happens: a fresh world and a fresh browser session for one task, both gone afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from clickgrad.browser.pool import Browser
from clickgrad.browser.session import Session
from clickgrad.types import RowChange, Task
from clickgrad.worlds.arena import Arena


@dataclass(frozen=True, slots=True)
class Visit:
    session: Session
    changes: Callable[[], tuple[RowChange, ...]]  # what the episode has done to its world


class Venue(Protocol):
    def open(self, task: Task) -> AbstractAsyncContextManager[Visit]:
        """Single use: one task, one episode."""


class ArenaVenue:
    """Pocket Arena in real Chromium: every episode in a world of its own."""

    def __init__(self, arena: Arena, browser: Browser) -> None:
        self._arena = arena
        self._browser = browser

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        world = self._arena.fork()
        try:
            cookies = world.login(task.user) if task.user else ()
            session = await self._browser.open(task.start_urls[0], world.headers, cookies, task.start_urls[1:])
            try:
                yield Visit(session, world.diff)
            finally:
                await session.close()
        finally:
            world.close()

"""Where an episode happens: a fresh world and a fresh browser session for one task, both gone afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from clickgrad.browser.pool import Browser
from clickgrad.browser.session import Session
from clickgrad.types import Evidence, Task
from clickgrad.worlds.arena import Arena

OpenBrowser = Callable[[Mapping[str, str]], Browser]  # by the hosts it may reach


@dataclass(frozen=True, slots=True)
class Visit:
    session: Session
    evidence: Callable[[str | None], Awaitable[Evidence]]  # by the answer given: all that judging may look at
    task: Task | None = None  # as it turned out on opening, where only the page knows the intent
    over: Callable[[], bool] = lambda: False  # whether the page has ended the episode by itself; asked after every turn
    # As `evidence`, before the end and without an answer; None where looking could change something.
    peek: Callable[[], Awaitable[Evidence]] | None = None
    require_site: Callable[[], None] = lambda: None  # raises when the site has died; asked before every turn
    world: Callable[[], str] = lambda: ""  # a hash of the state that pages are made from; "" where it is out of sight


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

            async def evidence(answer: str | None) -> Evidence:
                return Evidence(answer, session.url, await session.page_text(), world.diff())

            try:
                yield Visit(session, evidence, peek=lambda: evidence(None), world=world.state)
            finally:
                self._browser.close_aside(session)  # requests to a closed world are refused
        finally:
            world.close()


@asynccontextmanager
async def open_arena(seed: int, open_browser: OpenBrowser) -> AsyncIterator[ArenaVenue]:
    with Arena(seed) as arena:
        async with open_browser(arena.hosts) as browser:
            yield ArenaVenue(arena, browser)

"""Episodes on MiniWoB++ pages: the page says what the task is, when it is over and what it was worth."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from clickgrad.browser.pool import Browser
from clickgrad.errors import WorldError
from clickgrad.rollout.venue import OpenBrowser, Visit
from clickgrad.types import Evidence, Task
from clickgrad.worlds.miniwob import Game, Miniwob

START_S = 10.0


class MiniwobVenue:
    def __init__(self, pages: Miniwob, browser: Browser) -> None:
        self._pages = pages
        self._browser = browser

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        game = self._pages.begin()
        try:
            session = await self._browser.open(task.start_url, game.headers)

            async def evidence(answer: str | None) -> Evidence:
                return Evidence(answer, session.url, await session.page_text(), (), game.reward)

            try:
                await _await_start(game, task)
                yield Visit(session, evidence, replace(task, intent=game.utterance), lambda: game.reward is not None)
            finally:
                self._browser.close_aside(session)  # requests of a game that is forgotten are refused
        finally:
            self._pages.forget(game)


async def _await_start(game: Game, task: Task) -> None:
    if not game.started.is_set() and not await asyncio.to_thread(game.started.wait, START_S):
        raise WorldError(f"the page {task.template} did not start within {START_S:.0f} s")


@asynccontextmanager
async def open_miniwob(open_browser: OpenBrowser) -> AsyncIterator[MiniwobVenue]:
    with Miniwob() as pages:
        async with open_browser(pages.hosts) as browser:
            yield MiniwobVenue(pages, browser)

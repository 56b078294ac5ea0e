"""Any site as it is: nothing is started, put back or judged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from clickgrad.browser.pool import Browser
from clickgrad.rollout.venue import Visit
from clickgrad.types import Evidence, Task


class PlainVenue:
    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        session = await self._browser.open(task.start_urls[0], more_tabs=task.start_urls[1:])

        async def evidence(answer: str | None) -> Evidence:
            return Evidence(answer, session.url, await session.page_text(), ())

        try:
            yield Visit(session, evidence)
        finally:
            await session.close()

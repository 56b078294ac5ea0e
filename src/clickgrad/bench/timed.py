"""A venue that looks at the clock: how long opening, observing and every kind of action took."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

from clickgrad.bench.figures import median, percentile
from clickgrad.browser.session import Session
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.types import BlockedHost, Observation, PageAction, Task


class Times:
    """Seconds by what was done: `open`, `observe`, or the name of an action."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = defaultdict(list)

    @contextmanager
    def of(self, deed: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.note(deed, time.perf_counter() - started)

    def note(self, deed: str, seconds: float) -> None:
        self._seconds[deed].append(seconds)

    def ms_p50(self, deed: str) -> float:
        return 1000 * median(self._seconds[deed])

    def ms_p95(self, deed: str) -> float:
        return 1000 * percentile(self._seconds[deed], 0.95)


class TimedSession:
    def __init__(self, session: Session, times: Times) -> None:
        self._session = session
        self._times = times

    @property
    def url(self) -> str:
        return self._session.url

    @property
    def blocked(self) -> tuple[BlockedHost, ...]:
        return self._session.blocked

    async def observe(self) -> Observation:
        with self._times.of("observe"):
            return await self._session.observe()

    async def perform(self, action: PageAction) -> str:
        with self._times.of(type(action).__name__):
            return await self._session.perform(action)

    async def page_text(self) -> str:
        return await self._session.page_text()

    async def screenshot(self) -> bytes:
        return await self._session.screenshot()

    async def close(self) -> None:
        await self._session.close()


class TimedVenue:
    def __init__(self, venue: Venue, times: Times) -> None:
        self._venue = venue
        self._times = times

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        started = time.perf_counter()
        async with self._venue.open(task) as visit:
            self._times.note("open", time.perf_counter() - started)
            yield replace(visit, session=TimedSession(visit.session, self._times))

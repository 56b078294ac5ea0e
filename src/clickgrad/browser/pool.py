"""The browsers that sessions share: launched when needed, replaced when dead, old or fat, ended for certain."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from clickgrad.browser.chromium import require_chromium
from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.browser.fence import Fence
from clickgrad.browser.hands import Abilities
from clickgrad.browser.isolated import pending_script
from clickgrad.browser.process import ChromiumProcess, Footprint
from clickgrad.browser.render import Rendering
from clickgrad.browser.tab import Pace, Tab
from clickgrad.browser.watchdog import Watchdog
from clickgrad.errors import BrowserError, boundary

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, StorageState

LAUNCH_TIMEOUT_S = 30.0
_WEIGHED_EVERY = 8  # sessions: looking at all processes of a browser takes milliseconds


@dataclass(slots=True, eq=False)
class _Lease:
    """A running browser and how much it has been used."""

    process: ChromiumProcess
    opened: int = 0
    open_now: int = 0
    failed: bool = False  # it did not give a session when asked for one
    ahead: asyncio.Task[Tab | None] | None = None  # an empty tab in a context of its own, before it is needed


@dataclass(frozen=True, slots=True)
class Sharing:
    """How sessions share browsers: spread over at most `browsers` of them.

    After `recycle_after` sessions, or when a browser holds more than `share_mb` for itself and each of its open
    sessions, new ones go to a fresh browser and the old one ends with its last session.
    """

    browsers: int = 1
    recycle_after: int = 200
    share_mb: float = 600.0


class Browser:
    """An async context manager; `open` may be called by many tasks at once.

    `hosts` maps every public host a page may reach to the address that serves it ("shop.localhost" to
    "127.0.0.1:8000"); nothing else can be reached.
    """

    def __init__(
        self,
        hosts: Mapping[str, str],
        executable: Path | None = None,
        *,
        rendering: Rendering = "outline",
        viewport: tuple[int, int] = (1280, 720),
        timeout_s: float = 10.0,
        pace: Pace | None = None,
        abilities: Abilities | None = None,
        sharing: Sharing | None = None,
    ) -> None:
        self._hosts = dict(hosts)
        self._fence = Fence.around(hosts)
        self._executable = executable
        self._rendering: Rendering = rendering
        self._viewport = viewport
        self._timeout_s = timeout_s
        self._pace = pace or Pace()
        self._abilities = abilities or Abilities()
        self._sharing = sharing or Sharing()
        self._lock = asyncio.Lock()
        self._leases: list[_Lease] = []
        self._retired: list[_Lease] = []
        self._endings: set[asyncio.Task[None]] = set()
        self._watchdog: Watchdog | None = None

    async def __aenter__(self) -> Self:
        await self._take()
        self._watchdog = Watchdog(self._kill, self._is_busy)
        self._watchdog.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        leases = [*self._retired, *self._leases]
        self._leases, self._retired = [], []
        for lease in leases:
            if lease.ahead is not None:
                lease.ahead.cancel()
        try:
            await asyncio.gather(*self._endings, *(lease.process.end() for lease in leases))
        finally:
            for lease in leases:
                lease.process.kill()
            if self._watchdog is not None:
                self._watchdog.stop()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """Of the main process and the driver of every browser in use, in this order."""
        return tuple(process.pid for lease in self._leases for process in lease.process.processes)

    def footprint(self) -> Footprint:
        """Of all browsers together, those that wait for their last session included."""
        return sum((lease.process.footprint() for lease in [*self._leases, *self._retired]), Footprint())

    async def open(
        self,
        start_url: str,
        headers: Mapping[str, str] | None = None,
        cookies: Iterable[tuple[str, str, str]] = (),
        more_tabs: Sequence[str] = (),
        hosts: Iterable[str] | None = None,
        state: StorageState | None = None,
    ) -> ChromiumSession:
        """A fresh session on its start page, with `more_tabs` behind it.

        Headers go with every request; a cookie is (host, name, value). Of the browser's hosts the session reaches only
        `hosts`, if they are given. `state` is what another session, such as one that logged in, has left.
        """
        fence = self._fence_for(hosts, (start_url, *more_tabs))
        async with self._lock:
            lease = await self._take()
            lease.opened += 1
            lease.open_now += 1
        # A spare one has the browser's own fence, nobody's state, and a clock that has been running.
        usual = hosts is None and state is None and not self._pace.clock
        try:
            spare = await self._take_spare(lease) if usual else None
            if spare is None:
                context = await self._new_context(lease, fence, headers or {}, state)
            else:
                context = await self._dress(spare, headers or {})
        except BaseException as error:
            lease.failed = isinstance(error, BrowserError)
            self._give_back(lease)
            raise
        session = ChromiumSession(
            context,
            lease.process,
            fence,
            self._rendering,
            self._timeout_s,
            self._pace.settle_s,
            self._abilities,
            lambda: self._give_back(lease),
        )
        try:
            await session.start((start_url, *more_tabs), cookies, spare)
        except BaseException:
            await session.close()
            raise
        if usual and lease.ahead is None:  # not before: it would be in the way of the page that is coming
            lease.ahead = asyncio.create_task(self._prepare(lease))
        return session

    @staticmethod
    async def _take_spare(lease: _Lease) -> Tab | None:
        """The one that is there or coming."""
        taken, lease.ahead = lease.ahead, None
        return await taken if taken is not None else None

    async def _dress(self, spare: Tab, headers: Mapping[str, str]) -> BrowserContext:
        with boundary(BrowserError, "opening a session"):
            async with asyncio.timeout(self._timeout_s):
                await spare.page.context.set_extra_http_headers(dict(headers))
                return spare.page.context

    async def _prepare(self, lease: _Lease) -> Tab | None:
        """Another session's page, while nobody waits for it. One that fails is made when it is asked for."""
        try:
            context = await self._new_context(lease, self._fence, {}, None)
            with boundary(BrowserError, "opening a page ahead"):
                async with asyncio.timeout(self._timeout_s):
                    process, page = lease.process, await context.new_page()
                    tab = Tab(page, lambda: process.alive, self._pace.settle_s, process.channel)
                    await tab.get_ready()
                    return tab
        except BrowserError:
            return None

    def _fence_for(self, hosts: Iterable[str] | None, urls: Sequence[str]) -> Fence:
        fence = self._fence if hosts is None else Fence.around(hosts)
        unknown = sorted(fence.places - self._fence.places)
        if unknown:
            raise BrowserError(f"no session for {unknown[0][0]}:{unknown[0][1]}: the browser does not know this host")
        outside = next((url for url in urls if not fence.allows(url)), None)
        if outside is not None:
            raise BrowserError(f"opening {outside}: it is outside the hosts of its own session")
        return fence

    async def _new_context(
        self, lease: _Lease, fence: Fence, headers: Mapping[str, str], state: StorageState | None
    ) -> BrowserContext:
        with boundary(BrowserError, "opening a session"):
            async with asyncio.timeout(self._timeout_s):
                context = await lease.process.browser.new_context(
                    viewport={"width": self._viewport[0], "height": self._viewport[1]},
                    extra_http_headers=dict(headers),
                    proxy=fence.proxy,
                    storage_state=state,
                    accept_downloads=False,
                    service_workers="block",
                    locale="en-US",
                    timezone_id="UTC",
                    reduced_motion="reduce",
                )
                ahead_ms = 1000 * (self._pace.clock - time.time()) if self._pace.clock else 0.0
                await context.add_init_script(pending_script(lease.process.channel, ahead_ms))
                return context

    async def _take(self) -> _Lease:
        """The browser with the fewest open sessions, after those that should not go on have been put aside."""
        for lease in list(self._leases):
            if not lease.process.alive:
                self._leases.remove(lease)
                self._end(lease)
            elif self._is_spent(lease):
                self._leases.remove(lease)
                self._retired.append(lease)
                self._end_if_idle(lease)
        free = min(self._leases, key=lambda lease: lease.open_now, default=None)
        if free is None or (free.open_now and len(self._leases) < self._sharing.browsers):
            executable = self._executable or require_chromium()
            free = _Lease(await ChromiumProcess.launch(executable, self._hosts, LAUNCH_TIMEOUT_S))
            self._leases.append(free)
        return free

    def _is_spent(self, lease: _Lease) -> bool:
        if lease.failed or lease.opened >= self._sharing.recycle_after:
            return True
        due = lease.opened and not lease.opened % _WEIGHED_EVERY
        return bool(due) and lease.process.footprint().rss_mb > self._sharing.share_mb * (1 + lease.open_now)

    def _give_back(self, lease: _Lease) -> None:
        lease.open_now -= 1
        self._end_if_idle(lease)

    def _is_busy(self) -> bool:
        return any(lease.open_now for lease in [*self._leases, *self._retired])

    def _kill(self) -> None:
        for lease in [*self._leases, *self._retired]:
            lease.process.kill()

    def _end_if_idle(self, lease: _Lease) -> None:
        if not lease.open_now and lease in self._retired:
            self._retired.remove(lease)
            self._end(lease)

    def close_aside(self, session: ChromiumSession) -> None:
        """End a session without waiting, where what its pages may still ask for meanwhile can touch nothing."""
        self._finish_aside(session.close())

    def _end(self, lease: _Lease) -> None:
        """Ends it aside: nobody who wants a session waits for an old browser to go."""
        self._finish_aside(lease.process.end())

    def _finish_aside(self, ending: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(ending)
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

"""The browser that sessions share: launched when needed, replaced when it died or got old, ended for certain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from clickgrad.browser.chromium import require_chromium
from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.browser.process import ChromiumProcess
from clickgrad.browser.render import Rendering
from clickgrad.errors import BrowserError, boundary

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

LAUNCH_TIMEOUT_S = 30.0


@dataclass(slots=True, eq=False)
class _Lease:
    """A running browser and how much it has been used."""

    process: ChromiumProcess
    opened: int = 0
    open_now: int = 0


class Browser:
    """An async context manager; `open` may be called by many tasks at once.

    `hosts` maps every public host a page may reach to the address that serves it ("shop.localhost" to
    "127.0.0.1:8000"); nothing else can be reached. After `recycle_after` sessions new ones go to a fresh browser and
    the old one ends with its last session.
    """

    def __init__(
        self,
        hosts: Mapping[str, str],
        executable: Path | None = None,
        *,
        rendering: Rendering = "outline",
        viewport: tuple[int, int] = (1280, 720),
        timeout_s: float = 10.0,
        recycle_after: int = 200,
    ) -> None:
        self._hosts = dict(hosts)
        self._executable = executable
        self._rendering = rendering
        self._viewport = viewport
        self._timeout_s = timeout_s
        self._recycle_after = recycle_after
        self._lock = asyncio.Lock()
        self._lease: _Lease | None = None
        self._retired: list[_Lease] = []

    async def __aenter__(self) -> Self:
        await self._take()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        leases = [*self._retired, *([self._lease] if self._lease else [])]
        self._lease, self._retired = None, []
        try:
            for lease in leases:
                await lease.process.end()
        finally:
            for lease in leases:
                lease.process.kill()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """Of the driver and the main process of the browser in use."""
        return tuple(process.pid for process in self._lease.process.processes) if self._lease else ()

    async def open(
        self,
        start_url: str,
        headers: Mapping[str, str] | None = None,
        cookies: Iterable[tuple[str, str, str]] = (),
        more_tabs: Sequence[str] = (),
    ) -> ChromiumSession:
        """A fresh session on its start page, with `more_tabs` behind it.

        Headers go with every request; a cookie is (host, name, value).
        """
        async with self._lock:
            lease = await self._take()
            lease.opened += 1
            lease.open_now += 1
        try:
            context = await self._new_context(lease, headers or {})
        except BaseException:
            await self._give_back(lease)
            raise
        session = ChromiumSession(context, self._rendering, self._timeout_s, lambda: self._give_back(lease))
        try:
            await session.start((start_url, *more_tabs), cookies)
        except BaseException:
            await session.close()
            raise
        return session

    async def _new_context(self, lease: _Lease, headers: Mapping[str, str]) -> BrowserContext:
        with boundary(BrowserError, "opening a session"):
            async with asyncio.timeout(self._timeout_s):
                return await lease.process.browser.new_context(
                    viewport={"width": self._viewport[0], "height": self._viewport[1]},
                    extra_http_headers=dict(headers),
                    accept_downloads=False,
                    service_workers="block",
                    locale="en-US",
                    timezone_id="UTC",
                    reduced_motion="reduce",
                )

    async def _take(self) -> _Lease:
        if self._lease is not None and not self._lease.process.alive:
            await self._lease.process.end()
            self._lease = None
        if self._lease is not None and self._lease.opened >= self._recycle_after:
            await self._retire(self._lease)
        if self._lease is None:
            executable = self._executable or require_chromium()
            self._lease = _Lease(await ChromiumProcess.launch(executable, self._hosts, LAUNCH_TIMEOUT_S))
        return self._lease

    async def _retire(self, lease: _Lease) -> None:
        self._lease = None
        if lease.open_now:
            self._retired.append(lease)
        else:
            await lease.process.end()

    async def _give_back(self, lease: _Lease) -> None:
        lease.open_now -= 1
        if not lease.open_now and lease in self._retired:
            self._retired.remove(lease)
            await lease.process.end()

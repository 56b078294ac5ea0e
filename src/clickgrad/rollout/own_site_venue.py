"""A site of the user's own in Chromium: each episode has a copy of the site to itself, put back before it begins.

Every copy has a browser of its own, whose fence leads to that copy only. So all copies have the same addresses, and
whatever a site uses, WebSockets included, stays with its episode.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.browser.pool import Browser
from clickgrad.browser.session import Session
from clickgrad.errors import BrowserError, UserError, WorldError, boundary
from clickgrad.rollout.venue import OpenBrowser, Visit
from clickgrad.tasks.own import Ended, OwnSite, named_checks, read_site, run_check
from clickgrad.types import CustomCheck, Evidence, Finding, Task
from clickgrad.worlds.site_folders import throwaway_folder
from clickgrad.worlds.site_http import ask
from clickgrad.worlds.site_process import SiteCommand, SiteProcess, filled, run_command

T = TypeVar("T")
STATUS_S = 5.0
_STATUS = "() => performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0"


@asynccontextmanager
async def open_own_site(folder: Path, browser: OpenBrowser) -> AsyncIterator[OwnSiteVenue]:
    """The first copy is up and was reset once when this begins: a wrong site.toml is told before any episode."""
    site = read_site(folder)
    with throwaway_folder(site.name) as place:
        venue = OwnSiteVenue(site, folder, place, browser)
        try:
            try:
                await venue.begin()
            except (WorldError, UserError) as error:
                raise UserError(f"{folder / 'site.toml'}: {error}") from error
            yield venue
        finally:
            await venue.close()


def reachable(place: str) -> dict[str, str]:
    """The fence's entries for a real host, by URL, `host:port` or bare host, which means the ports of the web.

    >>> reachable("http://127.0.0.1:8000/start")
    {'127.0.0.1:8000': '127.0.0.1:8000'}
    >>> reachable("example.org")
    {'example.org:80': 'example.org:80', 'example.org:443': 'example.org:443'}
    """
    parts = urlsplit(place if "://" in place else f"//{place}")
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    # Strict, because a comma or a space would begin a rule of its own in the fence.
    if not re.fullmatch(r"[a-z0-9._-]+|[0-9a-f:.]+", host) or parts.scheme not in ("", "http", "https"):
        raise UserError(f"{place!r} is no host: write it as example.org, example.org:8080 or http://example.org/page")
    known = {"http": 80, "https": 443}.get(parts.scheme)
    ports = [port] if port else [known] if known else [80, 443]
    name = f"[{host}]" if ":" in host else host
    return {f"{name}:{port}": f"{name}:{port}" for port in ports}


class OwnSiteVenue:
    def __init__(self, site: OwnSite, folder: Path, place: Path, browser: OpenBrowser) -> None:
        self._site = site
        self._checks = named_checks(folder)
        self._checks_file = folder / "checks.py"
        self._copies = [_Copy(site, folder, place / str(number), browser) for number in range(site.copies)]
        # Last in, first out: what is already running is taken before another copy is started.
        self._idle: asyncio.LifoQueue[_Copy] = asyncio.LifoQueue()
        for copy in reversed(self._copies):
            self._idle.put_nowait(copy)

    async def begin(self) -> None:
        await self._copies[0].put_back()
        self._copies[0].is_fresh = True

    async def close(self) -> None:
        await asyncio.gather(*(copy.close() for copy in self._copies))

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with self._lease() as copy:
            with copy.explaining():
                session = await copy.browser.open(task.start_urls[0], more_tabs=task.start_urls[1:])
                try:
                    await copy.refuse_failing(session)
                    yield Visit(
                        session,
                        lambda answer: self._evidence(task, answer, session, copy),
                        require_site=copy.refuse_ended,
                    )
                finally:
                    await session.close()

    @asynccontextmanager
    async def _lease(self) -> AsyncIterator[_Copy]:
        if self._site.shared:
            await self._copies[0].put_back()
            yield self._copies[0]
            return
        copy = await self._idle.get()
        try:
            await copy.put_back()
            yield copy
        finally:
            self._idle.put_nowait(copy)

    async def _evidence(self, task: Task, answer: str | None, session: Session, copy: _Copy) -> Evidence:
        url, text = session.url, await session.page_text()
        await copy.refuse_dead()
        ended = Ended(task, answer, url, text, copy.url, copy.data)
        names = [check.name for check in task.checks if isinstance(check, CustomCheck)]
        findings = [await self._find(name, ended) for name in names]
        return Evidence(answer, url, text, (), findings=tuple(findings))

    async def _find(self, name: str, ended: Ended) -> Finding:
        checker, limit_s = self._checks.get(name), self._site.check_s
        if checker is None:
            return Finding(name, None, f"there is no check {name!r} in {self._checks_file}")
        try:
            async with asyncio.timeout(limit_s):
                return await _in_thread(lambda: run_check(name, checker, ended, self._checks_file))
        except TimeoutError:
            return Finding(name, None, f"{self._checks_file}: {name} did not end within {limit_s:g} s")


class _Copy:
    """One copy of the site, started when first needed, and the browser that sees it."""

    def __init__(self, site: OwnSite, folder: Path, place: Path, browser: OpenBrowser) -> None:
        self._site = site
        self._folder = folder.resolve()
        self._place = place
        self._open_browser = browser
        self._process: SiteProcess | None = None
        self._browser: Browser | None = None
        self.is_fresh = False  # started, and no episode yet
        self._lock = asyncio.Lock()  # of a shared copy: the first episode starts it for all

    @property
    def browser(self) -> Browser:
        if self._browser is None:
            raise WorldError("the copy of the site is not running")
        return self._browser

    @property
    def url(self) -> str:
        return f"http://{self._process.address}" if self._process else self._site.base

    @property
    def data(self) -> Path | None:
        return self._process.data if self._process else None

    async def put_back(self) -> None:
        """As it was before any episode."""
        async with self._lock:
            if self._site.start:
                await self._have_process()
            if self._browser is None:
                self._browser = self._open_browser(self._hosts())
                await self._browser.__aenter__()
            await self._reset()
            self.is_fresh = False

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """What the browser says about a site that has ended is not the reason."""
        try:
            yield
        except BrowserError:
            self.refuse_ended()
            raise

    def refuse_ended(self) -> None:
        """At once, and without asking the site."""
        if self._process:
            self._process.refuse_dead("during the episode")

    async def refuse_failing(self, session: ChromiumSession) -> None:
        """A start page that is a server's error is no page to begin on."""
        status = 0
        # A page that does not answer, or is already another one, is looked at soon enough.
        with suppress(BrowserError), boundary(BrowserError, "reading the status of the start page"):
            async with asyncio.timeout(STATUS_S):
                status = await session.page.evaluate(_STATUS)
        if status >= 500:
            raise WorldError(f"the start page {session.url} answers with status {status}{self._last_words()}")

    async def refuse_dead(self) -> None:
        """What happened on a dead site is nobody's failure but its own."""
        if self._process is None:
            await asyncio.to_thread(ask, self._site.base)  # whatever it answers
        elif not await self._process.answers():
            raise WorldError(f"the site stopped answering during the episode{self._last_words()}")

    def _last_words(self) -> str:
        return f"; it last wrote: {self._process.last_line or 'nothing'}" if self._process else ""

    async def close(self) -> None:
        browser, self._browser = self._browser, None
        process, self._process = self._process, None
        try:
            if browser:
                await browser.__aexit__(None, None, None)
        finally:
            if process:
                await process.end()

    async def _have_process(self) -> None:
        is_due = self._site.restarts and not self.is_fresh
        if self._process and not is_due and await self._process.answers():
            self._process.trim_log()
            return
        if self._process is None:
            self._place.mkdir(parents=True, exist_ok=True)
            words = tuple(shlex.split(self._site.start))
            command = SiteCommand(words, self._folder, self._site.port or None, self._site.ready, self._site.ready_s)
            self._process = SiteProcess(command, self._place)
        await self._process.end()
        try:
            await self._process.start()
        except BaseException:
            await self.close()  # the next try takes another port
            raise

    def _hosts(self) -> dict[str, str]:
        own = f"{self._site.name}.localhost"
        hosts = {own: self._process.address} if self._process else reachable(self._site.url)
        for host in self._site.allow:
            hosts |= reachable(host)
        return hosts

    async def _reset(self) -> None:
        site = self._site
        if site.reset_url:
            url = site.reset_url if "://" in site.reset_url else self.url + site.reset_url
            reply = await asyncio.to_thread(ask, url, "POST", site.reset_s)
            if reply.status >= 400:
                raise WorldError(f"reset_url: POST {url}: status {reply.status}")
        elif site.reset_command:
            port = self._process.port if self._process else None
            words = filled(shlex.split(site.reset_command), port, self.data)
            await run_command(words, self._folder, site.reset_s)


async def _in_thread(work: Callable[[], T]) -> T:
    """In a thread that may be left behind: a check that never ends must not keep the program from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def finish(result: T) -> None:
        if not future.done():
            future.set_result(result)

    def run() -> None:
        result = work()
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, result)

    threading.Thread(target=run, daemon=True).start()
    return await future

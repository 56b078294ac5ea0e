"""Episodes on the WebArena sites that the user hosts: logged in, fenced to those sites, looked over at the end.

The sites are shared: what one episode changes, the next one finds. How many are on a site at once is bounded, and a
reset puts the sites back; both are the user's choice, see docs/webarena.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.browser.pool import Browser
from clickgrad.browser.tab import Tab
from clickgrad.errors import BrowserError, boundary
from clickgrad.rollout.venue import OpenBrowser, Visit
from clickgrad.rollout.webarena_logins import Logins
from clickgrad.rollout.webarena_probes import ScriptFailed, gather_probes
from clickgrad.rollout.webarena_resets import STATUS_EVERY_S, Resets, reset_sites
from clickgrad.rollout.webarena_services import Judge, Magento
from clickgrad.tasks.webarena.checks import questions
from clickgrad.tasks.webarena.sites import HOMEPAGE, SITES, Hosting, Sites, read_hosting, read_sites
from clickgrad.types import Evidence, Task
from clickgrad.webarena import Opinion, Probe, ProgramHtml

if TYPE_CHECKING:
    pass

LOOK_S = 30.0  # for one page or script of a check


class WebArenaVenue:
    def __init__(
        self,
        sites: Sites,
        hosting: Hosting,
        browser: Browser,
        judge: Judge | None = None,
        *,
        look_s: float = LOOK_S,
        status_every_s: float = STATUS_EVERY_S,
    ) -> None:
        self._sites = sites
        self._hosting = hosting
        self._browser = browser
        self._judge = judge
        self._look_s = look_s
        self._status_every_s = status_every_s
        self._logins = Logins(sites, browser, hosting.login_folder)
        self._room = {site: asyncio.Semaphore(hosting.sessions_per_site) for site in SITES}
        can_reset = hosting.reset_command or hosting.reset_url
        self._resets = Resets(self._reset if can_reset else None, hosting.reset_every)

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._resets.episode())
            for site in sorted(task.sites):  # in one order for all, so that no two wait for each other
                await stack.enter_async_context(self._room[site])
            session = await self._open_session(task)
            stack.push_async_callback(session.close)

            async def evidence(answer: str | None) -> Evidence:
                url, text = session.url, await session.page_text()
                probes = await self._probes(task, session)
                return Evidence(answer, url, text, (), probes=probes, opinions=await self._ask(task, answer, probes))

            yield Visit(session, evidence)

    async def _open_session(self, task: Task) -> ChromiumSession:
        start, *others = task.start_urls
        if len(task.sites) > 1 and HOMEPAGE in self._sites.urls:
            # An agent without an address bar comes to the other site through the page that lists them all.
            others.append(self._sites.urls[HOMEPAGE])
        by_start = sorted(task.sites, key=lambda site: start.startswith(self._sites.urls[site]))
        return await self._browser.open(start, more_tabs=others, state=await self._logins.state(by_start))

    async def _probes(self, task: Task, session: ChromiumSession) -> tuple[Probe, ...]:
        shop = Magento(self._sites.urls.get("shopping", ""), self._sites.accounts["shopping_admin"])

        @asynccontextmanager
        async def new_page() -> AsyncIterator[Look]:
            with boundary(BrowserError, "opening a page to look at"):
                async with asyncio.timeout(self._look_s):
                    page = await session.page.context.new_page()
            try:
                yield Look(session.tab_of(page), self._look_s)
            finally:
                with boundary(BrowserError, "closing a page that was looked at"):
                    async with asyncio.timeout(self._look_s):
                        await page.close()

        for check in task.checks:
            if isinstance(check, ProgramHtml):
                return await gather_probes(check, Look(session.tab, self._look_s), new_page, shop)
        return ()

    async def _ask(self, task: Task, answer: str | None, probes: Sequence[Probe]) -> tuple[Opinion, ...] | None:
        if self._judge is None:
            return None
        return tuple([await self._judge.opinion(asked, task.intent) for asked in questions(task, answer, probes)])

    async def _reset(self) -> None:
        await reset_sites(self._hosting, self._sites.urls.values(), self._status_every_s)
        self._logins.forget()


class Look:
    """A page of the session as a place to look at. The agent has finished: nothing it sees can change any more."""

    def __init__(self, tab: Tab, timeout_s: float) -> None:
        self._page = tab.page
        self._timeout_s = timeout_s
        self._tab = tab

    @property
    def url(self) -> str:
        return self._page.url

    async def go(self, url: str) -> None:
        with boundary(BrowserError, f"opening {url} to look at"):
            async with asyncio.timeout(self._timeout_s):
                await self._page.goto(url, wait_until="commit")
        await self._tab.settle(self._timeout_s)

    async def html(self) -> str:
        with boundary(BrowserError, "reading the page's HTML"):
            async with asyncio.timeout(self._timeout_s):
                return await self._page.content()

    async def run(self, function: str, argument: str | None = None) -> object:
        from playwright.async_api import Error

        with boundary(BrowserError, "running a script of a check"):
            async with asyncio.timeout(self._timeout_s):
                try:
                    return await self._page.evaluate(function, argument)
                except Error as error:
                    if self._page.is_closed():
                        raise
                    failed = ScriptFailed(error.message)
        raise failed


@asynccontextmanager
async def open_webarena(open_browser: OpenBrowser, judge: Judge | None = None) -> AsyncIterator[WebArenaVenue]:
    """On the sites that the WA_* variables name."""
    sites, hosting = read_sites(), read_hosting()
    async with open_browser({host: host for host in sites.hosts}) as browser:
        yield WebArenaVenue(sites, hosting, browser, judge)

"""One tab: its page, the requests it has in flight, and waiting until it has settled. Knows nothing of actions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from clickgrad.browser.isolated import IsolatedWorld
from clickgrad.browser.process import close_within
from clickgrad.errors import BrowserError, boundary

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page, Request

QUIET_MS = 50
CHANGE_MS = 1000  # how long Wait waits for something to happen
SETTLE_S = 3.0
STOP_S = 1.0
HUNG_S = 1.0  # a navigation that began later than this before we give up is under way, not hung
NAVIGATIONS_BORNE = 8  # by a script of ours that loses its document; its deadline holds all the same
RETRY_S = 0.002
# A page that never stops changing, such as one with a clock, is taken as it is after this.
DOM_LIMIT_MS = 1000
# These stay open as long as the page does.
_ENDLESS = frozenset({"eventsource", "websocket", "media", "ping", "beacon"})


class Tab:
    """`title` is the last one seen, so that listing the tabs never waits for a hung one."""

    def __init__(self, page: Page, is_alive: Callable[[], bool] = lambda: True) -> None:
        self.page = page
        self._is_alive = is_alive  # the browser and its driver
        self.title = ""
        self.failed_url = ""  # of the last navigation that failed, until taken
        self._navigation: Request | None = None
        self._navigation_began = 0.0
        self._in_flight: set[Request] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._protocol: CDPSession | None = None
        self._world: IsolatedWorld | None = None
        self._limit: asyncio.Timeout | None = None  # of the settling under way
        self._last_moment = 0.0
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_finished)
        page.on("requestfailed", self._on_failed)
        page.on("framenavigated", self._on_navigated)
        page.on("download", lambda _: self._navigation_over())

    async def protocol(self) -> CDPSession:
        if self._protocol is None:
            self._protocol = await self.page.context.new_cdp_session(self.page)
        return self._protocol

    async def call(self, script: str, argument: object) -> object:
        """Run a script of ours in the document that is there, or in its successor."""
        return await self._bear_navigations(lambda: self._call(script, argument))

    async def look(self, argument: object) -> object:
        """Observe the page. Where it has scripts, the browser is asked first what listens to clicks."""
        return await self._bear_navigations(lambda: self._look(argument))

    async def _look(self, argument: object) -> object:
        if self._world is None:
            self._world = IsolatedWorld(await self.protocol())
        await self._world.hear()
        return await self._world.call("observe", argument)

    async def _bear_navigations(self, work: Callable[[], Awaitable[object]]) -> object:
        from playwright.async_api import Error

        for _ in range(NAVIGATIONS_BORNE):
            try:
                return await work()
            except Error as error:
                await self._await_successor(error)
        return await work()

    async def _call(self, script: str, argument: object) -> object:
        if self._world is None:
            self._world = IsolatedWorld(await self.protocol())
        return await self._world.call(script, argument)

    async def _await_successor(self, error: Exception) -> None:
        """A page may leave by itself at any moment, and takes our script along: then wait for the next one.

        When the driver is dead, Playwright answers every call at once and without suspending: a loop of such calls
        would never let a deadline come, and its pages never count as closed. Hence the pause and the look at it.
        """
        if self.page.is_closed() or not self._is_alive():
            raise error
        await asyncio.sleep(RETRY_S)
        await self.page.wait_for_load_state("domcontentloaded")

    async def settle(self, timeout_s: float, *, await_change: bool = False) -> bool:
        """Wait until navigation is committed and parsed, requests are done and the DOM is quiet, or the time is up.

        A page gets `SETTLE_S` to come to rest; a server gets `timeout_s` to send one. Tells whether the click before
        it has missed what it was aimed at.
        """
        self._last_moment = self._now() + timeout_s + SETTLE_S
        try:
            async with asyncio.timeout(SETTLE_S) as self._limit:
                if self._navigation is not None:
                    self._limit.reschedule(self._last_moment)
                with boundary(BrowserError, "waiting for the page"):
                    return await self._rest(
                        {"quiet_ms": QUIET_MS, "limit_ms": DOM_LIMIT_MS, "change_ms": CHANGE_MS * await_change}
                    )
        except TimeoutError:
            await self._give_up()
            return False
        finally:
            self._limit = None

    async def _rest(self, argument: dict[str, int]) -> bool:
        from playwright.async_api import Error

        missed = False
        while not self.page.is_closed():
            await self._idle.wait()
            try:
                missed = bool(await self._call("settle", argument)) or missed
            except Error as error:
                # The document went away under the script: a navigation. The next round waits for its successor.
                if self.page.is_closed():
                    break
                await self._await_successor(error)
                continue
            if self._idle.is_set():
                break
        return missed

    def _extend(self, moment: float) -> None:
        """Move the limit of the settling under way, but never past its last moment: some pages reload for ever."""
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(min(moment, self._last_moment))

    async def _give_up(self) -> None:
        if self._navigation is not None and self._now() - self._navigation_began > HUNG_S:
            # As long as a navigation is pending, Chromium holds back every script of ours. One that has just begun, as
            # on a page that reloads for ever, comes by itself: stopping it could leave an empty document for good.
            self.failed_url = self._navigation.url
            await close_within(STOP_S, (await self.protocol()).send("Page.stopLoading"))
        # What takes longer than this must not cost the next action another deadline.
        self._in_flight.clear()
        self._navigation_over()

    def take_failed_url(self) -> str:
        url, self.failed_url = self.failed_url, ""
        return url

    def _is_main_navigation(self, request: Request) -> bool:
        return request.is_navigation_request() and request.frame == self.page.main_frame

    def _on_request(self, request: Request) -> None:
        if request.resource_type in _ENDLESS:
            return
        if self._is_main_navigation(request):
            self._navigation = request
            if request.redirected_from is None:
                self._navigation_began = self._now()
            self._extend(self._last_moment)
        self._in_flight.add(request)
        self._idle.clear()

    def _on_finished(self, request: Request) -> None:
        # A finished navigation request still has to be committed: `framenavigated` ends it.
        self._in_flight.discard(request)
        self._check_idle()

    def _on_failed(self, request: Request) -> None:
        self._in_flight.discard(request)
        if request is self._navigation:
            if request.failure != "net::ERR_ABORTED":
                self.failed_url = request.url
            self._navigation = None
        self._check_idle()

    def _on_navigated(self, frame: Frame) -> None:
        if frame == self.page.main_frame and self._world is not None:
            self._world.forget()
        if frame == self.page.main_frame and self._navigation is not None:
            # The old document's requests went with it, whether or not their end was reported.
            self._in_flight.clear()
            self._navigation_over()
            self._extend(self._now() + SETTLE_S)

    def _navigation_over(self) -> None:
        self._navigation = None
        self._check_idle()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def _check_idle(self) -> None:
        if self._navigation is None and not self._in_flight:
            self._idle.set()

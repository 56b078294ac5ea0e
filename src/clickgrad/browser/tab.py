"""One tab: its page, the requests it has in flight, and waiting until it has settled. Knows nothing of actions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from clickgrad.browser.isolated import IsolatedWorld
from clickgrad.browser.page_time import PageTime
from clickgrad.browser.process import close_within
from clickgrad.errors import BrowserError, boundary

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page, Request

CHANGE_MS = 1000  # how long Wait waits for something to happen
WAIT_BUDGET = 4.0  # times what an action gets, of the page's own time
REQUESTED_S = 0.5  # until the request of a navigation that was asked for; some come to nothing
PUSHED_S = 0.05  # for what comes in by itself, through a socket
STILL_MS = 50  # of the page's time, for a page without scripts: forms are sent and frames parsed only while it runs
PAINTED_MS = 4
PAINT_S = 0.1
PAINTING_S = 0.01
COMING_MS = 1  # of the page's time, between looks at a document that is still coming
SETTLE_S = 3.0
STOP_S = 1.0
HUNG_S = 1.0  # a navigation that began later than this before we give up is under way, not hung
NAVIGATIONS_BORNE = 8  # by a script of ours that loses its document; its deadline holds all the same
RETRY_S = 0.002
# A page that never stops changing, such as one with a clock, is taken as it is after this.
DOM_LIMIT_MS = 1000
T = TypeVar("T")
_NO_REQUEST = ("about:", "javascript:", "data:", "blob:")
_MOUSE = "Input.dispatchMouseEvent"
# These stay open as long as the page does.
_ENDLESS = frozenset({"eventsource", "websocket", "media", "ping", "beacon"})


@dataclass(frozen=True, slots=True)
class Pace:
    """How time passes for pages.

    By default it is everybody's, and an action is over when nothing has changed for `settle_s`. Without `real_time` it
    is their own: they get `settle_s` of it after an action, it stands still in between, and it may begin at `clock`
    (seconds since 1970; 0 is now).
    """

    settle_s: float = 0.05
    real_time: bool = True
    clock: float = 0.0


class Tab:
    """`title` is the last one seen, so that listing the tabs never waits for a hung one."""

    def __init__(self, page: Page, is_alive: Callable[[], bool] = lambda: True, pace: Pace | None = None) -> None:
        self.page = page
        self._is_alive = is_alive  # the browser and its driver
        self._pace = pace or Pace()
        self._time: PageTime | None = None
        self._pushing: set[Request] = set()  # open as long as the page is
        self._has_sockets = False
        self._scripted = True
        self._changed = False  # something of it that may be drawn frame by frame
        self._requested = 0  # navigations that are to come, of frames, too
        self.title = ""
        self.failed_url = ""  # of the last navigation that failed, until taken
        self._navigation: Request | None = None
        self._navigation_began = 0.0
        self._in_flight: set[Request] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._committed = asyncio.Event()  # no navigation is under way
        self._committed.set()
        self._protocol: CDPSession | None = None
        self._world: IsolatedWorld | None = None
        self._limit: asyncio.Timeout | None = None  # of the settling under way
        self._last_moment = 0.0
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_finished)
        page.on("requestfailed", self._on_failed)
        page.on("framenavigated", self._on_navigated)
        page.on("download", lambda _: self._navigation_over())
        page.on("websocket", lambda _: setattr(self, "_has_sockets", True))

    async def protocol(self) -> CDPSession:
        if self._protocol is None:
            self._protocol = await self.page.context.new_cdp_session(self.page)
            self._protocol.on("Page.frameRequestedNavigation", self._on_requested)
        return self._protocol

    def _on_requested(self, asked: dict[str, str]) -> None:
        """A script or a click wants to leave: the page itself says so before it answers anything else, and the request
        that follows is told by somebody else, maybe later."""
        here = asked["disposition"] in ("currentTab", "download")
        if here and not asked["url"].startswith(_NO_REQUEST):
            self._requested += 1
            self._idle.clear()
            self._committed.clear()
            asyncio.get_running_loop().call_later(REQUESTED_S, self._forget_asked)

    def _forget_asked(self) -> None:
        self._requested = 0
        self._check_idle()

    async def call(self, script: str, argument: object) -> object:
        """Run a script of ours in the document that is there, or in its successor."""
        return await self._bear_navigations(lambda: self._call(script, argument))

    async def look(self, argument: object) -> object:
        """Observe the page. Where it has scripts, the browser is asked first what listens to clicks."""
        return await self._bear_navigations(lambda: self._look(argument))

    async def _look(self, argument: object) -> object:
        if self._world is None:
            self._world = IsolatedWorld(await self.protocol())
        if self._scripted:
            await self._world.hear()
        return await self._world.call("observe", argument)

    async def inspect(self, source: str, nodes: list[int]) -> object:
        """After `look`: what a function says of the page as it was seen, for those who measure that."""
        assert self._world
        return await self._world.inspect(source, nodes)

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
        if self._time is None:  # else it is parsed only when its time runs, which is for `settle` to see to
            await self.page.wait_for_load_state("domcontentloaded")

    # --- the mouse: events are sent together, for a move alone is heard only when a frame is painted ---

    async def click(self, x: float, y: float, button: str = "left", times: int = 1) -> None:
        steps = [("mouseMoved", 0)]
        for count in range(1, times + 1):
            steps += [("mousePressed", count), ("mouseReleased", count)]
        protocol = await self.protocol()
        await asyncio.gather(*(protocol.send(_MOUSE, _mouse(kind, x, y, button, count)) for kind, count in steps))

    async def hover(self, x: float, y: float) -> None:
        moved = (await self.protocol()).send(_MOUSE, _mouse("mouseMoved", x, y, "none", 0))
        await self.while_running(moved)

    async def begin(self) -> None:
        """Before its first page: from here on its time is its own."""
        if self._time is None and not self._pace.real_time:
            self._time = PageTime(await self.protocol(), self._pace.clock)
            await self._time.stop()

    async def settle(self, timeout_s: float, *, await_change: bool = False) -> bool:
        """Wait until navigation is committed and parsed, and what the action has caused is done, or the time is up.

        A page gets `SETTLE_S` to come to rest; a server gets `timeout_s` to send one. Tells whether the click before
        it has missed what it was aimed at.
        """
        self._last_moment = self._now() + timeout_s + SETTLE_S
        try:
            async with asyncio.timeout(SETTLE_S) as self._limit:
                if self._navigation is not None:
                    self._limit.reschedule(self._last_moment)
                with boundary(BrowserError, "waiting for the page"):
                    return await self._rest(await_change)
        except TimeoutError:
            await self._give_up()
            return False
        finally:
            self._limit = None

    async def _rest(self, await_change: bool) -> bool:
        from playwright.async_api import Error

        missed, done = False, False
        while not done and not self.page.is_closed():
            await (self._idle if self._pace.real_time else self._committed).wait()
            try:
                step = self._quiet(await_change) if self._pace.real_time else self._run(await_change)
                has_missed, done = await step
                missed |= has_missed
            except Error as error:
                # The document went away under the script: a navigation. The next round waits for its successor.
                if self.page.is_closed():
                    break
                await self._await_successor(error)
        return missed

    async def _quiet(self, await_change: bool) -> tuple[bool, bool]:
        """Until nothing has changed for a while, as everybody's clock goes."""
        quiet_ms = 1000 * self._pace.settle_s
        limits = {"quiet_ms": quiet_ms, "limit_ms": DOM_LIMIT_MS + quiet_ms, "change_ms": CHANGE_MS * await_change}
        return bool(await self._call("settle", limits)), self._idle.is_set()

    async def _run(self, await_change: bool) -> tuple[bool, bool]:
        """Let the page's time run: a little, while it is still coming or waits for answers; then all that it is given.

        Nothing is parsed and no answer is read while its time stands still.
        """
        await self.begin()
        assert self._time
        found = await self._state()
        self._scripted = found["scripted"]
        is_coming = found["loading"] or bool(self._in_flight)
        if not is_coming and (self._has_sockets or self._pushing):
            await asyncio.sleep(CHANGE_MS / 1000 if await_change else PUSHED_S)
        given_ms = 1000 * self._pace.settle_s * (WAIT_BUDGET if await_change else 1)
        budget_ms = COMING_MS if is_coming else given_ms if self._scripted or await_change else STILL_MS
        await self._time.run(budget_ms)
        self._changed |= found["changed"]
        if not is_coming and self._scripted and (self._changed or (await self._state())["changed"]):
            self._changed = False
            await self._paint()
        if is_coming and not self._idle.is_set():
            await asyncio.sleep(RETRY_S)
        return found["missed"], not is_coming and self._idle.is_set()

    async def dwell(self, seconds: float) -> None:
        """Let time pass, as it does here."""
        if self._time is None:
            await asyncio.sleep(seconds)
        else:
            await self._time.run(1000 * seconds)

    async def _paint(self) -> None:
        """Let frames be drawn. A machine that is too busy for it must not cost the action its deadline."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PAINT_S):
                await self.while_running(self._call("frame", None))

    async def while_running(self, work: Awaitable[T]) -> T:
        """Work for which the browser has to paint: it does so only while the page's time runs."""
        task = asyncio.ensure_future(work)
        try:
            while self._time is not None and not task.done():
                await self._time.run(PAINTED_MS)
                # The painter needs time of everybody's, too: asking without a pause would only take it away from it.
                await asyncio.wait([task], timeout=PAINTING_S)
            return await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _state(self) -> dict[str, bool]:
        found = await self._call("rest", None)
        assert isinstance(found, dict)
        return found

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
        self._pushing |= self._in_flight
        self._in_flight.clear()
        self._navigation_over()

    def take_failed_url(self) -> str:
        url, self.failed_url = self.failed_url, ""
        return url

    def _is_main_navigation(self, request: Request) -> bool:
        return request.is_navigation_request() and request.frame == self.page.main_frame

    def _on_request(self, request: Request) -> None:
        if request.resource_type in _ENDLESS:
            self._pushing.add(request)
            return
        if request.is_navigation_request() and request.redirected_from is None:
            self._requested = max(0, self._requested - 1)
        if self._is_main_navigation(request):
            self._navigation = request
            if request.redirected_from is None:
                self._navigation_began = self._now()
            self._extend(self._last_moment)
            self._committed.clear()
        self._in_flight.add(request)
        self._idle.clear()
        self._check_idle()

    def _on_finished(self, request: Request) -> None:
        self._pushing.discard(request)
        # A finished navigation request still has to be committed: `framenavigated` ends it.
        self._in_flight.discard(request)
        self._check_idle()

    def _on_failed(self, request: Request) -> None:
        self._pushing.discard(request)
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
            self._pushing.clear()
            self._has_sockets = False
            self._navigation_over()
            self._extend(self._now() + SETTLE_S)

    def _navigation_over(self) -> None:
        self._navigation, self._requested = None, 0
        self._check_idle()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def _check_idle(self) -> None:
        if self._navigation is None and not self._requested:
            self._committed.set()
        if self._navigation is None and not self._requested and not self._in_flight:
            self._idle.set()


def _mouse(kind: str, x: float, y: float, button: str, count: int) -> dict[str, object]:
    held = {"left": 1, "right": 2}.get(button, 0) if kind == "mousePressed" else 0
    pressed = "none" if kind == "mouseMoved" else button
    return {"type": kind, "x": x, "y": y, "button": pressed, "buttons": held, "clickCount": count}

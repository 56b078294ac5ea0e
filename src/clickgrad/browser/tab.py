"""One tab: its page, the requests it has in flight, and waiting until it has settled. Knows nothing of actions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clickgrad.browser.isolated import IsolatedWorld
from clickgrad.browser.process import close_within
from clickgrad.errors import BrowserError, boundary

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page, Request

CHANGE_MS = 1000  # how long Wait waits for something to happen
REQUESTED_S = 0.5  # until the request of a navigation that was asked for; some come to nothing
PUSHED_MS = 50  # for what comes in by itself, through a socket
SETTLE_S = 3.0
STOP_S = 1.0
HUNG_S = 1.0  # a navigation that began later than this before we give up is under way, not hung
NAVIGATIONS_BORNE = 100  # by a script of ours that loses its document; as a rule its deadline comes first
RETRY_S = 0.002
# A page that never stops, such as one that draws without end, is taken as it is after this.
PENDING_LIMIT_MS = 1200
_NO_REQUEST = ("about:", "javascript:", "data:", "blob:")
_MOUSE = "Input.dispatchMouseEvent"
# These stay open as long as the page does.
_ENDLESS = frozenset({"eventsource", "websocket", "media", "ping", "beacon"})


@dataclass(frozen=True, slots=True)
class Pace:
    """How time passes for pages.

    An action is over when nothing that it set going is pending; where that is not enough, when moreover nothing has
    changed for `settle_s`. `clock` is what pages take for the time when a session begins, in seconds since 1970; 0 is
    the time of day.
    """

    settle_s: float = 0.0
    clock: float = 0.0


class Tab:
    """`title` is the last one seen, so that listing the tabs never waits for a hung one."""

    def __init__(self, page: Page, is_alive: Callable[[], bool], settle_s: float, channel: str) -> None:
        self.page = page
        self._is_alive = is_alive  # the browser and its driver
        self._settle_s = settle_s
        self._channel = channel  # by which pending.js is asked
        self._pushing: set[Request] = set()  # open as long as the page is
        self._has_sockets = False
        self._requested = 0  # navigations that are to come, of frames, too
        self.title = ""
        self.failed_url = ""  # of the last navigation that failed, until taken
        self._navigation: Request | None = None
        self._navigation_began = 0.0
        self._in_flight: set[Request] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._protocol: CDPSession | None = None
        self._world: IsolatedWorld | None = None
        self._is_ready = False
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

    async def get_ready(self) -> CDPSession:
        """Tell what Playwright does not, or not in time: windows to come, files asked for, where to look."""
        protocol, world = await self.protocol(), await self._own_world()
        if not self._is_ready:
            await asyncio.gather(
                protocol.send("Page.enable"),
                protocol.send("Page.setInterceptFileChooserDialog", {"enabled": True}),
                world.find_frame(),
            )
            self._is_ready = True
        return protocol

    async def _own_world(self) -> IsolatedWorld:
        if self._world is None:
            self._world = IsolatedWorld(await self.protocol())
        return self._world

    def _on_requested(self, asked: dict[str, str]) -> None:
        """A script or a click wants to leave: the page itself says so before it answers anything else, and the request
        that follows is told by somebody else, maybe later."""
        here = asked["disposition"] in ("currentTab", "download")
        if here and not asked["url"].startswith(_NO_REQUEST):
            self._requested += 1
            self._idle.clear()
            asyncio.get_running_loop().call_later(REQUESTED_S, self._forget_asked)

    def _forget_asked(self) -> None:
        self._requested = 0
        self._check_idle()

    async def call(self, script: str, argument: object) -> object:
        """Run a script of ours in the document that is there, or in its successor."""
        world = await self._own_world()
        return await self._bear_navigations(lambda: world.call(script, argument))

    async def look(self, argument: object) -> object:
        """Observe the page; the browser is asked first what listens to clicks."""
        world = await self._own_world()
        return await self._bear_navigations(lambda: world.look(argument))

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

    async def _await_successor(self, error: Exception) -> None:
        """A page may leave by itself at any moment, and takes our script along: then wait for the next one.

        When the driver is dead, Playwright answers every call at once and without suspending: a loop of such calls
        would never let a deadline come, and its pages never count as closed. Hence the pause and the look at it.
        """
        if self.page.is_closed() or not self._is_alive():
            raise error
        await asyncio.sleep(RETRY_S)
        await self.page.wait_for_load_state("domcontentloaded")

    # --- the mouse: events are sent together, for a move alone is heard only when a frame is painted ---

    async def click(self, x: float, y: float, button: str = "left", times: int = 1) -> None:
        steps = [("mouseMoved", 0)]
        for count in range(1, times + 1):
            steps += [("mousePressed", count), ("mouseReleased", count)]
        protocol = await self.protocol()
        await asyncio.gather(*(protocol.send(_MOUSE, _mouse(kind, x, y, button, count)) for kind, count in steps))

    async def hover(self, x: float, y: float) -> None:
        await (await self.protocol()).send(_MOUSE, _mouse("mouseMoved", x, y, "none", 0))

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

        missed, done, world = False, False, await self._own_world()
        while not done and not self.page.is_closed():
            await self._idle.wait()
            try:
                missed |= bool(await world.call("settle", self._limits(await_change)))
                done = self._idle.is_set()
            except Error as error:
                # The document went away under the script: a navigation. The next round waits for its successor.
                if self.page.is_closed():
                    break
                await self._await_successor(error)
        return missed

    def _limits(self, await_change: bool) -> dict[str, object]:
        pushed_ms = PUSHED_MS if self._has_sockets or self._pushing else 0
        quiet_ms = max(1000 * self._settle_s, pushed_ms)
        limit_ms, change_ms = PENDING_LIMIT_MS + quiet_ms, CHANGE_MS * await_change
        return {"channel": self._channel, "quiet_ms": quiet_ms, "limit_ms": limit_ms, "change_ms": change_ms}

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
        if self._navigation is None and not self._requested and not self._in_flight:
            self._idle.set()


def _mouse(kind: str, x: float, y: float, button: str, count: int) -> dict[str, object]:
    held = {"left": 1, "right": 2}.get(button, 0) if kind == "mousePressed" else 0
    pressed = "none" if kind == "mouseMoved" else button
    return {"type": kind, "x": x, "y": y, "button": pressed, "buttons": held, "clickCount": count}

"""A session in Chromium: one context with its tabs, the thirteen page actions, and what happened on the way."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from clickgrad.browser.fence import BlockedRequests, Fence
from clickgrad.browser.flood import FloodGate
from clickgrad.browser.process import close_within
from clickgrad.browser.render import Rendering, render
from clickgrad.browser.snapshot import read_snapshot
from clickgrad.browser.tab import SETTLE_S, Tab, load_script, script_with_reach
from clickgrad.errors import BrowserError, boundary
from clickgrad.types import (
    BlockedHost,
    Click,
    GoBackward,
    GoForward,
    Hover,
    Observation,
    PageAction,
    PressEnter,
    RightClick,
    ScrollDown,
    ScrollUp,
    Search,
    Select,
    SwitchTab,
    Type,
    Wait,
)

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, Page

_OBSERVE = script_with_reach("observe.js")
_ACT = script_with_reach("act.js")
_TITLE = "() => document.title.slice(0, 500)"
_PAGE_TEXT = load_script("text.js")
# What a browser does for a person who ticks "prevent this page from creating additional dialogs".
_NO_DIALOGS = "alert = confirm = prompt = () => undefined; undefined"
_DIALOGS_BORNE = 5  # in one turn
_DIALOG_CHARS = 300
_TABS_BORNE = 12
_CLOSE_S = 3.0
_JPEG_QUALITY = 70


class ChromiumSession:
    """Made by `Browser.open`."""

    def __init__(
        self,
        context: BrowserContext,
        fence: Fence,
        rendering: Rendering,
        timeout_s: float,
        on_close: Callable[[], None],
    ) -> None:
        self._context = context
        self._fence = fence
        self._blocked = BlockedRequests(fence, context)
        self._rendering = rendering
        self._timeout_s = timeout_s
        self._on_close = on_close
        self._key = secrets.token_hex(8)
        self._tabs: list[Tab] = []
        self._current = 0
        self._notice = ""
        self._events: list[str] = []  # what the page did by itself since the last action: dialogs, downloads
        self._dialogs = 0  # since the last action
        self._expected_tabs = 0
        self._tab_came = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        FloodGate(context, lambda: self._spawn(context.close()))
        context.on("page", self._on_page)
        context.on("dialog", self._on_dialog)

    async def start(self, urls: Sequence[str], cookies: Iterable[tuple[str, str, str]] = ()) -> None:
        with boundary(BrowserError, "giving the session its cookies"):
            async with asyncio.timeout(self._timeout_s):
                await self._context.add_cookies(
                    [{"name": name, "value": value, "url": f"http://{host}/"} for host, name, value in cookies]
                )
        for url in urls:
            with boundary(BrowserError, f"opening {url}"):
                async with asyncio.timeout(self._timeout_s):
                    page = await self._context.new_page()
                    if len(self._tabs) == 1:
                        await self._watch_windows(self._tab)
                    await page.goto(url, wait_until="commit")
            await self._tab.settle(self._timeout_s)
            if len(urls) > 1:
                self._tab.title = await self._tab.evaluate(_TITLE, None, f"reading the title of {url}", self._timeout_s)
        if self._current:
            await self._switch(0)

    @property
    def url(self) -> str:
        return self._tab.page.url

    @property
    def page(self) -> Page:
        """The current tab's, for those who own the session: to log in before an episode, or to look around after it."""
        return self._tab.page

    @property
    def blocked(self) -> tuple[BlockedHost, ...]:
        return self._blocked.listed()

    @property
    def _tab(self) -> Tab:
        if not self._tabs:
            raise BrowserError("the session has no open tab")
        return self._tabs[self._current]

    async def observe(self) -> Observation:
        tab = self._tab
        snapshot = read_snapshot(await tab.evaluate(_OBSERVE, self._key, "observing the page", self._timeout_s))
        tab.title = snapshot.title
        return Observation(
            url=snapshot.url,
            title=snapshot.title,
            lines=render(snapshot, self._rendering),
            elements=snapshot.elements,
            tabs=tuple(tab.title for tab in self._tabs),
            tab=self._current,
            notice=self._notice,
        )

    async def page_text(self) -> str:
        return await self._tab.evaluate(_PAGE_TEXT, None, "reading the page's text", self._timeout_s)

    async def screenshot(self) -> bytes:
        with boundary(BrowserError, "taking a screenshot"):
            async with asyncio.timeout(self._timeout_s):
                return await self._tab.page.screenshot(type="jpeg", quality=_JPEG_QUALITY, animations="disabled")

    async def perform(self, action: PageAction) -> str:
        self._events.clear()
        self._dialogs = 0
        with boundary(BrowserError, f"performing {type(action).__name__}"):
            async with asyncio.timeout(self._timeout_s):
                notice = await self._act(action)
        if not notice:
            await self._settle(await_change=isinstance(action, Wait))
        failed_url = self._tab.take_failed_url()
        if failed_url:
            self._events.append(self._not_opened(failed_url))
        self._notice = " ".join(filter(None, [notice, *self._events]))
        return self._notice

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for task in self._tasks:
            task.cancel()
        try:
            await close_within(_CLOSE_S, self._context.close())
        finally:
            self._on_close()

    # --- actions ---

    async def _act(self, action: PageAction) -> str:
        page = self._tab.page
        match action:
            case Click(element):
                return await self._point("click", element, lambda x, y: page.mouse.click(x, y))
            case RightClick(element):
                return await self._point("right click", element, lambda x, y: page.mouse.click(x, y, button="right"))
            case Hover(element):
                return await self._point("hover", element, lambda x, y: page.mouse.move(x, y))
            case Type(element, text):
                return await self._type(element, text)
            case Search(element, text):
                return await self._type(element, text) or await self._press_enter()
            case Select(element, option):
                return (await self._prepare("select", element, option))[0]
            case ScrollUp():
                return (await self._prepare("scroll", 0, "-1"))[0]
            case ScrollDown():
                return (await self._prepare("scroll", 0, "1"))[0]
            case PressEnter():
                return await self._press_enter()
            case SwitchTab(tab):
                return await self._switch(tab)
            case GoBackward():
                return await self._travel(-1)
            case GoForward():
                return await self._travel(1)
            case Wait():
                return ""

    async def _prepare(self, verb: str, element: int, text: str = "") -> tuple[str, float, float, bool]:
        argument = {"key": self._key, "verb": verb, "id": element, "text": text}
        answer = json.loads(await self._tab.evaluate(_ACT, argument, f"preparing to {verb}", self._timeout_s))
        return answer["notice"], answer.get("x", 0.0), answer.get("y", 0.0), answer.get("keys", False)

    async def _point(self, verb: str, element: int, use: Callable[[float, float], Awaitable[None]]) -> str:
        notice, x, y, _ = await self._prepare(verb, element)
        if not notice:
            await use(x, y)
        return notice

    async def _type(self, element: int, text: str) -> str:
        notice, _, _, keys = await self._prepare("type", element, text)
        if notice or not keys:
            return notice
        keyboard = self._tab.page.keyboard
        if not text:
            await keyboard.press("Delete")
            return ""
        # All at once is fast; the last character as a key wakes what listens to keys. A line break is text, not Enter.
        keyed = text[-1] if text[-1].isprintable() else ""
        if pasted := text.removesuffix(keyed):
            await keyboard.insert_text(pasted)
        if keyed:
            await keyboard.type(keyed)
        return ""

    async def _press_enter(self) -> str:
        await self._tab.page.keyboard.press("Enter")
        return ""

    async def _switch(self, tab: int) -> str:
        if not 0 <= tab < len(self._tabs):
            return f"There is no tab {tab}."
        self._current = tab
        await self._tab.page.bring_to_front()
        return ""

    async def _travel(self, direction: int) -> str:
        from playwright.async_api import TimeoutError as PlaywrightTimeout

        protocol = await self._tab.protocol()
        history = await protocol.send("Page.getNavigationHistory")
        target = history["currentIndex"] + direction
        inside = 0 <= target < len(history["entries"])
        if not inside or history["entries"][target]["url"] == "about:blank":
            return f"There is no page to go {'back' if direction < 0 else 'forward'} to."
        entry = {"entryId": history["entries"][target]["id"]}
        try:
            # The step may be one of a frame, or within the document: any of these commits.
            async with self._tab.page.expect_event("framenavigated", timeout=SETTLE_S * 1000):
                await protocol.send("Page.navigateToHistoryEntry", entry)
        except PlaywrightTimeout:
            return "The page did not come in time."
        return ""

    # --- what the page does by itself ---

    async def _settle(self, *, await_change: bool) -> None:
        tab = self._tab
        await tab.settle(self._timeout_s, await_change=await_change)
        if self._expected_tabs > 0:
            try:
                async with asyncio.timeout(SETTLE_S):
                    while self._expected_tabs > 0:
                        self._tab_came.clear()
                        await self._tab_came.wait()
            except TimeoutError:
                self._expected_tabs = 0
        if self._tab is not tab:
            await self._tab.settle(self._timeout_s)

    def _on_page(self, page: Page) -> None:
        if self._tabs:
            self._expected_tabs = max(0, self._expected_tabs - 1)
            self._tab_came.set()
        if len(self._tabs) >= _TABS_BORNE:
            self._tell("The page opened more tabs than there may be, which were closed.")
            self._spawn(page.close())
            return
        tab = Tab(page)
        self._tabs.append(tab)
        self._current = len(self._tabs) - 1
        page.on("close", lambda _: self._forget(tab))
        page.on("crash", lambda _: self._forget(tab))
        page.on("download", lambda _: self._tell("The page offered a download, which was refused."))
        page.on("filechooser", lambda _: self._tell("The page asked for a file, and there is none to give."))
        if self._current > 0:
            self._spawn(self._watch_windows(tab))

    def _tell(self, event: str) -> None:
        if event not in self._events:
            self._events.append(event)

    async def _watch_windows(self, tab: Tab) -> None:
        """Playwright reports a new tab only when it has loaded; the protocol says at once that one will come."""
        protocol = await tab.protocol()
        protocol.on("Page.windowOpen", lambda window: self._expect_tab(window["url"]))
        await protocol.send("Page.enable")

    def _expect_tab(self, url: str) -> None:
        self._expected_tabs += 1
        if not self._fence.allows(url):  # it fails before there is a tab to notice it
            self._events.append(self._not_opened(url))

    def _not_opened(self, url: str) -> str:
        why = "" if self._fence.allows(url) else ": it is outside the sites of this task"
        return f"{url} could not be opened{why}."

    def _forget(self, tab: Tab) -> None:
        if tab not in self._tabs:
            return
        index = self._tabs.index(tab)
        self._tabs.remove(tab)
        if index <= self._current:
            self._current = max(0, self._current - 1)

    def _on_dialog(self, dialog: Dialog) -> None:
        self._dialogs += 1
        if self._dialogs > _DIALOGS_BORNE:
            self._tell("The page kept showing dialogs, so its script was stopped.")
            self._spawn(self._silence(dialog))
            return
        if dialog.type != "beforeunload":
            message = " ".join(dialog.message.split())[:_DIALOG_CHARS]
            self._tell(f'The page showed a dialog ({dialog.type}), which was accepted: "{message}"')
        self._spawn(dialog.accept(dialog.default_value))

    async def _silence(self, dialog: Dialog) -> None:
        """End the script that waits for the dialog, and let those that follow show none."""
        tab = next((tab for tab in self._tabs if tab.page is dialog.page), self._tab)
        protocol = await tab.protocol()
        # The script can end only when the dialog has gone, but has to be told before: the order matters.
        await asyncio.gather(protocol.send("Runtime.terminateExecution"), dialog.dismiss())
        await protocol.send("Runtime.evaluate", {"expression": _NO_DIALOGS})

    def _spawn(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            await close_within(self._timeout_s, work)

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

"""A session in Chromium: one context with its tabs, the thirteen page actions, and what happened on the way."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from clickgrad.browser.fence import BlockedRequests, Fence
from clickgrad.browser.flood import REQUESTS, FloodGate
from clickgrad.browser.hands import Abilities, FileGiver, OpenDialog, double_click, drag, prepare, press
from clickgrad.browser.process import ChromiumProcess, close_within
from clickgrad.browser.render import Rendering, render
from clickgrad.browser.snapshot import clean, read_snapshot
from clickgrad.browser.tab import SETTLE_S, Tab
from clickgrad.errors import BrowserError, PageError, boundary
from clickgrad.types import (
    AnswerDialog,
    BlockedHost,
    Click,
    Deselect,
    DoubleClick,
    Drag,
    GoBackward,
    GoForward,
    Hover,
    Observation,
    PageAction,
    PressEnter,
    PressKey,
    RightClick,
    Scroll,
    ScrollDown,
    ScrollUp,
    Search,
    Select,
    SwitchTab,
    Type,
    Upload,
    Wait,
)

if TYPE_CHECKING:
    from playwright._impl._api_structures import SetCookieParam
    from playwright.async_api import BrowserContext, Dialog, Page

_TITLE_CHARS = 500
_TEXT_CHARS = 1_000_000
_OBSERVED_WITHIN = 0.5  # of the deadline; an endless page is told as far as that goes
# What a browser does for a person who ticks "prevent this page from creating additional dialogs".
_NO_DIALOGS = "alert = confirm = prompt = () => undefined; undefined"
_DIALOGS_BORNE = 5  # in one turn
_DIALOG_CHARS = 300
_TABS_BORNE = 12
_CLOSE_S = 3.0
_PICTURE = {"format": "jpeg", "quality": 60, "optimizeForSpeed": True}


class ChromiumSession:
    """Made by `Browser.open`."""

    def __init__(
        self,
        context: BrowserContext,
        process: ChromiumProcess,
        fence: Fence,
        rendering: Rendering,
        timeout_s: float,
        settle_s: float,
        abilities: Abilities,
        on_close: Callable[[], None],
    ) -> None:
        self._context = context
        self._process = process
        self._fence = fence
        self._blocked = BlockedRequests(fence, context)
        self._rendering = rendering
        self._timeout_s = timeout_s
        self._settle_s = settle_s
        self._files = FileGiver(abilities.files, self._tell)
        self._dialog = OpenDialog() if abilities.full else None
        self._names_panes = abilities.full
        self._held: asyncio.Task[str] | None = None  # the action that a dialog interrupted
        self._on_close = on_close
        self._tabs: list[Tab] = []
        self._current = 0
        self._notice = ""
        self._broken = "the page closed the last tab"  # why there is none, once there is none
        self._events: list[str] = []  # what the page did by itself since the last action: dialogs, downloads
        self._dialogs = 0  # since the last action
        self._expected_tabs = 0
        self._tab_came = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        FloodGate(context, self._end_flood)
        context.on("page", self._on_page)
        context.on("dialog", self._on_dialog)

    async def start(
        self, urls: Sequence[str], cookies: Iterable[tuple[str, str, str]] = (), tab: Tab | None = None
    ) -> None:
        """Opens these in tabs, the first in front; `tab` is an empty one that is there already."""
        given: list[SetCookieParam] = [
            {"name": name, "value": value, "url": f"http://{host}/"} for host, name, value in cookies
        ]
        if given:
            with boundary(BrowserError, "giving the session its cookies"):
                async with asyncio.timeout(self._timeout_s):
                    await self._context.add_cookies(given)
        for url in urls:
            with boundary(BrowserError, f"opening {url}"):
                async with asyncio.timeout(self._timeout_s):
                    if tab is not None and not self._tabs:
                        self._adopt(tab)
                    else:
                        await self._context.new_page()
                    if len(self._tabs) == 1:
                        await self._watch_windows(self._tab)
                    await self._tab.page.goto(url, wait_until="commit")
            await self._settle_tab(self._tab)
            if len(urls) > 1:
                async with self._blaming(f"reading the title of {url}"):
                    self._tab.title = clean(str(await self._tab.call("title", _TITLE_CHARS)))
        if self._current:
            await self._switch(0)

    @property
    def url(self) -> str:
        return clean(self._tab.page.url)

    @property
    def tab(self) -> Tab:
        """The current one."""
        return self._tab

    @property
    def page(self) -> Page:
        """The current tab's, for those who own the session: to log in before an episode, or to look around after it."""
        return self._tab.page

    def tab_of(self, page: Page) -> Tab:
        """A page of this session as one that can be waited for."""
        return Tab(page, self.is_alive, self._settle_s, self._process.channel)

    def is_alive(self) -> bool:
        """Whether the browser and its driver are."""
        return self._process.alive

    @property
    def blocked(self) -> tuple[BlockedHost, ...]:
        return self._blocked.listed()

    @property
    def _tab(self) -> Tab:
        if not self._tabs:
            raise (PageError if self._process.alive and not self._closed else BrowserError)(
                f"the session has no open tab: {self._broken}"
            )
        return self._tabs[self._current]

    @asynccontextmanager
    async def _blaming(self, doing: str, within_s: float | None = None) -> AsyncIterator[None]:
        """What fails in here is the page's fault if the browser is sound: it then answers somebody else in time."""
        try:
            with boundary(BrowserError, doing):
                async with asyncio.timeout(within_s or self._timeout_s):
                    yield
        except PageError:
            raise
        except BrowserError as error:
            if self._closed or not await self._process.answers(self._timeout_s):
                raise
            raise PageError(f"{error}; the browser is sound") from error

    async def observe(self) -> Observation:
        tab = self._tab
        if self._dialog and self._dialog.is_open:
            lines, titles = self._dialog.lines(), tuple(one.title for one in self._tabs)
            return Observation(self.url, tab.title, lines, (), titles, self._current, self._notice)
        async with self._blaming("observing the page"):
            budget_ms = int(1000 * _OBSERVED_WITHIN * self._timeout_s)
            looked = await tab.look({"budget_ms": budget_ms, "panes": self._names_panes})
            snapshot = read_snapshot(str(looked))
        tab.title = snapshot.title
        return Observation(
            url=snapshot.url,
            title=snapshot.title,
            lines=render(snapshot, self._rendering),
            elements=snapshot.elements,
            tabs=tuple(tab.title for tab in self._tabs),
            tab=self._current,
            notice=self._notice,
            texts=snapshot.texts,
        )

    async def inspect(self, source: str, nodes: list[int]) -> object:
        """What a function says of the page as it was last observed: for those who measure that. Not for agents."""
        async with self._blaming("inspecting the page"):
            return await self._tab.inspect(source, nodes)

    async def page_text(self) -> str:
        async with self._blaming("reading the page's text"):
            return clean(str(await self._tab.call("text", _TEXT_CHARS)))

    async def screenshot(self) -> bytes:
        async with self._process.painting, self._blaming("taking a screenshot"):
            # By the protocol itself: Playwright's own way waits for fonts.
            shot = await (await self._tab.protocol()).send("Page.captureScreenshot", _PICTURE)
            return b64decode(shot["data"])

    async def perform(self, action: PageAction) -> str:
        self._events.clear()
        self._dialogs = 0
        async with self._blaming(f"performing {type(action).__name__}"):
            notice = await (self._act(action) if self._dialog is None else self._act_until_dialog(action, self._dialog))
        is_open = self._dialog is not None and self._dialog.is_open
        if not notice and not is_open and await self._settle_until_dialog(await_change=isinstance(action, Wait)):
            element = getattr(action, "element", "")
            notice = f"Element {element} moved away; nothing was clicked."
        failed_url = self._tab.take_failed_url()
        if failed_url:
            self._events.append(self._not_opened(failed_url))
        self._notice = clean(" ".join(filter(None, [notice, *self._events])))
        return self._notice

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for task in (*self._tasks, *([self._held] if self._held else [])):
            task.cancel()
        try:
            await close_within(_CLOSE_S, self._context.close())
        finally:
            self._on_close()

    # --- actions ---

    async def _act_until_dialog(self, action: PageAction, dialog: OpenDialog) -> str:
        """An action that opens a dialog goes on when that is answered; meanwhile the page can do nothing."""
        if isinstance(action, AnswerDialog):
            notice = await dialog.answer(action.accept, action.text)
            held, self._held = self._held, None
            return notice or (await held if held else "")
        if dialog.is_open:
            return "A dialog is open: answer it first."
        acting = asyncio.create_task(self._act(action))
        return await self._unless_dialog(acting, dialog)

    async def _unless_dialog(self, acting: asyncio.Task[str], dialog: OpenDialog) -> str:
        came = asyncio.create_task(dialog.came.wait())
        try:
            await asyncio.wait((acting, came), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            acting.cancel()
            raise
        finally:
            came.cancel()
        if acting.done():
            return acting.result()
        self._held = acting
        return ""

    async def _settle_until_dialog(self, *, await_change: bool) -> bool:
        if self._dialog is None:
            return await self._settle(await_change=await_change)
        settling = asyncio.create_task(self._settled(await_change))
        return bool(await self._unless_dialog(settling, self._dialog))

    async def _settled(self, await_change: bool) -> str:
        return "missed" if await self._settle(await_change=await_change) else ""

    async def _act(self, action: PageAction) -> str:
        match action:
            case Click(element):
                return await self._point("click", element, self._tab.click)
            case RightClick(element):
                return await self._point("right click", element, lambda x, y: self._tab.click(x, y, "right"))
            case Hover(element):
                return await self._point("hover", element, self._tab.hover)
            case Type(element, text):
                return await self._type(element, text)
            case Search(element, text):
                return await self._type(element, text) or await self._press_enter()
            case Select(element, option):
                return (await prepare(self._tab, "select", element, option))[0]
            case ScrollUp():
                return (await prepare(self._tab, "scroll", 0, "-1"))[0]
            case ScrollDown():
                return (await prepare(self._tab, "scroll", 0, "1"))[0]
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
            case PressKey(keys):
                return await press(self._tab, keys)
            case DoubleClick(element):
                return await double_click(self._tab, element)
            case Drag(element, to):
                return await drag(self._tab, element, to)
            case Scroll(element, direction):
                return (await prepare(self._tab, "pan", element, direction))[0]
            case Upload(element, file):
                return await self._files.upload(self._tab, element, file)
            case Deselect(element, option):
                return (await prepare(self._tab, "deselect", element, option))[0]
            case AnswerDialog():
                return "There is no dialog to answer."

    async def _point(self, verb: str, element: int, use: Callable[[float, float], Awaitable[None]]) -> str:
        notice, x, y, _ = await prepare(self._tab, verb, element)
        if not notice:
            await use(x, y)
        return notice

    async def _type(self, element: int, text: str) -> str:
        notice, _, _, keys = await prepare(self._tab, "type", element, text)
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

    async def _settle(self, *, await_change: bool) -> bool:
        """Whether a click before it has missed."""
        tab = self._tab
        missed = await self._settle_tab(tab, await_change=await_change)
        if self._expected_tabs > 0:
            try:
                async with asyncio.timeout(SETTLE_S):
                    while self._expected_tabs > 0:
                        self._tab_came.clear()
                        await self._tab_came.wait()
            except TimeoutError:
                self._expected_tabs = 0
        if self._tab is not tab:
            await self._settle_tab(self._tab)
        return missed

    async def _settle_tab(self, tab: Tab, *, await_change: bool = False) -> bool:
        # It has deadlines of its own, all of them sooner than this one.
        async with self._blaming("waiting for the page", 2 * (self._timeout_s + SETTLE_S)):
            return await tab.settle(self._timeout_s, await_change=await_change)

    def _on_page(self, page: Page) -> None:
        if self._tabs:
            self._expected_tabs = max(0, self._expected_tabs - 1)
            self._tab_came.set()
        if len(self._tabs) >= _TABS_BORNE:
            self._tell("The page opened more tabs than there may be, which were closed.")
            self._spawn(page.close())
            return
        self._adopt(self.tab_of(page))

    def _adopt(self, tab: Tab) -> None:
        page = tab.page
        self._blocked.watch_sockets(page)
        self._tabs.append(tab)
        self._current = len(self._tabs) - 1
        page.on("close", lambda _: self._forget(tab))
        page.on("crash", lambda _: self._on_crash(tab))
        page.on("download", lambda _: self._tell("The page offered a download, which was refused."))
        if self._current > 0:
            self._spawn(self._watch_windows(tab))

    def _on_crash(self, tab: Tab) -> None:
        self._broken = "its renderer crashed"
        self._forget(tab)

    def _end_flood(self) -> None:
        self._broken = f"the page asked for {REQUESTS} things within seconds, so its session was ended"
        self._spawn(self._context.close())

    def _tell(self, event: str) -> None:
        if event not in self._events:
            self._events.append(event)

    async def _watch_windows(self, tab: Tab) -> None:
        """Playwright reports a new tab only when it has loaded; the protocol says at once that one will come.

        The same goes for a window in which to choose a file.
        """
        protocol = await tab.get_ready()
        protocol.on("Page.windowOpen", lambda window: self._expect_tab(window["url"]))
        protocol.on("Page.fileChooserOpened", lambda asked: self._on_chooser(tab, asked))

    def _on_chooser(self, tab: Tab, asked: dict[str, int]) -> None:
        giving = self._files.on_chooser(tab, asked)
        if giving is not None:
            self._spawn(giving)

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
        if self._dialog is not None and dialog.type in ("confirm", "prompt"):
            self._dialog.open(dialog)
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

"""Sessions without a browser: a site described by values, for tests of the later stages and for toy problems.

>>> home = FakePage("Home", (FakeElement("link", "Mugs", to="http://shop/mugs"), "Welcome"))
>>> browser = FakeBrowser({"http://shop/": home, "http://shop/mugs": FakePage("Mugs", ("Blue mug, $12",))})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from clickgrad.browser.render import Rendering, render
from clickgrad.browser.snapshot import Control, Snapshot, Text
from clickgrad.errors import BrowserError, PageError
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

_TAGS = {"link": "a", "textbox": "input", "checkbox": "input", "select": "select"}
_BLANK_JPEG = b"\xff\xd8\xff\xd9"


@dataclass(frozen=True, slots=True)
class FakeElement:
    """`to` is where a click leads; for a textbox, where its text is submitted to, as `to?q=text`."""

    role: str
    name: str
    to: str = ""
    value: str = ""
    options: tuple[str, ...] = ()
    disabled: bool = False
    covered: bool = False


@dataclass(frozen=True, slots=True)
class FakePage:
    """Texts and elements from top to bottom, of which `screen` fit into the viewport.

    `broken` says why nobody can use the page, as one that hangs; coming to it and looking at it is a PageError.
    """

    title: str
    content: tuple[str | FakeElement, ...]
    screen: int = 40
    broken: str = ""


@dataclass(slots=True)
class _Visit:
    url: str
    values: dict[int, str] = field(default_factory=dict)  # by position in the page's content
    top: int = 0
    focus: int | None = None


@dataclass(slots=True)
class _Tab:
    history: list[_Visit]
    position: int = 0


class FakeSession:
    blocked: tuple[BlockedHost, ...] = ()  # there is no network to keep it from

    def __init__(
        self, pages: Mapping[str, FakePage], start_urls: Sequence[str], rendering: Rendering = "outline"
    ) -> None:
        self._pages = pages
        self._rendering: Rendering = rendering
        self._tabs = [_Tab([_Visit(url)]) for url in start_urls]
        self._current = 0
        self._stamped: list[int] = []
        self._notice = ""
        self._closed = False
        for url in start_urls:
            if _without_query(url) not in pages:
                raise BrowserError(f"opening {url}: no such page")

    @property
    def url(self) -> str:
        return self._visit.url

    @property
    def _tab(self) -> _Tab:
        return self._tabs[self._current]

    @property
    def _visit(self) -> _Visit:
        return self._tab.history[self._tab.position]

    @property
    def _page(self) -> FakePage:
        return self._page_of(self._tab)

    def _page_of(self, tab: _Tab) -> FakePage:
        url = _without_query(tab.history[tab.position].url)
        return self._pages.get(url, FakePage("Not found", ("There is no such page.",)))

    async def observe(self) -> Observation:
        self._require_open()
        page, top = self._page, self._visit.top
        shown = range(top, min(top + page.screen, len(page.content)))
        self._stamped = [position for position in shown if isinstance(page.content[position], FakeElement)]
        items = tuple(self._item(page.content[position], position) for position in shown)
        snapshot = Snapshot(self.url, page.title, items, above=top > 0, below=shown.stop < len(page.content))
        lines = render(snapshot, self._rendering)
        titles = tuple(self._page_of(tab).title for tab in self._tabs)
        return Observation(
            self.url,
            page.title,
            lines,
            snapshot.elements,
            titles,
            self._current,
            self._notice,
            texts=snapshot.texts,
        )

    async def perform(self, action: PageAction) -> str:
        self._require_open()
        self._notice = self._act(action)
        self._require_usable()
        return self._notice

    async def page_text(self) -> str:
        self._require_open()
        return "\n".join(item if isinstance(item, str) else item.name for item in self._page.content)

    async def screenshot(self) -> bytes:
        self._require_open()
        return _BLANK_JPEG

    async def close(self) -> None:
        self._closed = True

    def _require_open(self) -> None:
        if self._closed:
            raise BrowserError("the session is closed")
        self._require_usable()

    def _require_usable(self) -> None:
        if self._page.broken:
            raise PageError(self._page.broken)

    def _item(self, item: str | FakeElement, position: int) -> Text | Control:
        if isinstance(item, str):
            return Text(item)
        return Control(
            id=self._stamped.index(position),
            role=item.role,
            name=item.name,
            value=self._value(position, item),
            options=item.options,
            states=("disabled",) if item.disabled else ("covered",) if item.covered else (),
            tag=_TAGS.get(item.role, "button"),
            type=item.role if item.role == "checkbox" else "",
        )

    def _value(self, position: int, element: FakeElement) -> str:
        return self._visit.values.get(position, element.value or ("off" if element.role == "checkbox" else ""))

    def _act(self, action: PageAction) -> str:
        match action:
            case Click(number) | RightClick(number) | Hover(number) | Type(number, _) | Search(number, _):
                return self._use(number, action)
            case Select(number, _):
                return self._use(number, action)
            case ScrollUp():
                return self._scroll(-1)
            case ScrollDown():
                return self._scroll(1)
            case PressEnter():
                return self._submit()
            case SwitchTab(tab):
                return self._switch(tab)
            case GoBackward():
                return self._travel(-1)
            case GoForward():
                return self._travel(1)
            case Wait():
                return ""
            case DoubleClick(number) | Drag(number, _) | Upload(number, _) | Deselect(number, _):
                return self._use(number, action)
            case Scroll(number, direction):
                return self._scroll({"down": 1, "up": -1}.get(direction, 0))
            case PressKey(keys):
                return self._submit() if keys == "Enter" else ""
            case AnswerDialog():
                return "There is no dialog to answer."

    def _use(self, number: int, action: PageAction) -> str:
        if not 0 <= number < len(self._stamped):
            return f"There is no element {number} on this page."
        position = self._stamped[number]
        element = self._page.content[position]
        assert isinstance(element, FakeElement)
        if element.disabled and not isinstance(action, Hover):
            return f"Element {number} is disabled."
        if element.covered:
            return f"Element {number} is covered by something else on the page."
        match action:
            case Click() | DoubleClick():
                return self._click(position, element, number)
            case Type(_, text):
                return self._type(position, element, number, text)
            case Search(_, text):
                return self._type(position, element, number, text) or self._submit()
            case Select(_, option):
                return self._select(position, element, number, option)
            case _:
                return ""

    def _click(self, position: int, element: FakeElement, number: int) -> str:
        if element.role == "select":
            return f"Element {number} is a dropdown: choose with Select Dropdown Option."
        self._visit.focus = position
        if element.role == "checkbox":
            self._visit.values[position] = "off" if self._value(position, element) == "on" else "on"
        elif element.to and element.role != "textbox":
            self._go(element.to)
        return ""

    def _type(self, position: int, element: FakeElement, number: int, text: str) -> str:
        if element.role != "textbox":
            return f"Element {number} is a {element.role}; it cannot be typed into."
        self._visit.values[position] = text
        self._visit.focus = position
        return ""

    def _select(self, position: int, element: FakeElement, number: int, option: str) -> str:
        if element.role != "select":
            return f"Element {number} is a {element.role}, not a dropdown."
        chosen = next((o for o in element.options if o.lower() == " ".join(option.split()).lower()), None)
        if chosen is None:
            return f'Dropdown {number} has no option "{option}". It has {", ".join(element.options)}.'
        self._visit.values[position] = chosen
        return ""

    def _submit(self) -> str:
        focus = self._visit.focus
        element = self._page.content[focus] if focus is not None else ""
        if focus is not None and isinstance(element, FakeElement) and element.to:
            query = f"?q={self._value(focus, element).replace(' ', '+')}" if element.role == "textbox" else ""
            self._go(element.to + query)
        return ""

    def _go(self, url: str) -> None:
        tab = self._tab
        tab.history = [*tab.history[: tab.position + 1], _Visit(url)]
        tab.position += 1
        self._stamped = []

    def _switch(self, number: int) -> str:
        if not 0 <= number < len(self._tabs):
            return f"There is no tab {number}."
        self._current = number
        self._stamped = []
        return ""

    def _travel(self, direction: int) -> str:
        tab = self._tab
        if not 0 <= tab.position + direction < len(tab.history):
            return f"There is no page to go {'back' if direction < 0 else 'forward'} to."
        tab.position += direction
        self._stamped = []
        return ""

    def _scroll(self, direction: int) -> str:
        visit, page = self._visit, self._page
        lowest = max(0, len(page.content) - page.screen)
        top = min(max(visit.top + direction * max(1, page.screen * 4 // 5), 0), lowest)
        if top == visit.top:
            return f"The page does not scroll further {'down' if direction > 0 else 'up'}."
        visit.top = top
        return ""


def _without_query(url: str) -> str:
    return url.partition("?")[0]


class FakeBrowser:
    """Opens fake sessions on one site, as `Browser` opens real ones. `opened` lists what each was opened with."""

    def __init__(self, pages: Mapping[str, FakePage], rendering: Rendering = "outline") -> None:
        self._pages = pages
        self._rendering: Rendering = rendering
        self.opened: list[tuple[str, dict[str, str], tuple[tuple[str, str, str], ...]]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def open(
        self,
        start_url: str,
        headers: Mapping[str, str] | None = None,
        cookies: Iterable[tuple[str, str, str]] = (),
        more_tabs: Sequence[str] = (),
    ) -> FakeSession:
        self.opened.append((start_url, dict(headers or {}), tuple(cookies)))
        return FakeSession(self._pages, (start_url, *more_tabs), self._rendering)

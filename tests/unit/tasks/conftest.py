"""A browser made of httpx and html.parser: enough to let experts walk the sites in milliseconds, without Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from clickgrad.types import Click, Element, Evidence, Observation, PageAction, Search, Select, Task, Type
from clickgrad.worlds import Arena, World

VOID = {"meta", "link", "input"}
BLOCKS = {"p", "li", "h1", "h2", "ul", "form", "nav", "main", "header"}


@dataclass
class Form:
    method: str
    action: str
    values: dict[str, str] = field(default_factory=dict)


@dataclass
class Control:
    role: str
    name: str = ""
    value: str = ""
    field_name: str = ""
    href: str = ""
    form: Form | None = None
    options: dict[str, str] = field(default_factory=dict)  # visible text -> value


class PageReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.items: list[Control | str] = []
        self._labels: dict[str, str] = {}
        self._ids: dict[int, str] = {}
        self._form: Form | None = None
        self._open: list[str] = []
        self._text = ""
        self._option_value: str | None = None

    def read(self, html: str) -> None:
        self.feed(html)
        for index, element_id in self._ids.items():
            control = self.items[index]
            assert isinstance(control, Control)
            control.name = control.name or self._labels.get(element_id, "")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in BLOCKS or tag in ("a", "button", "label", "option"):
            self._flush()
        if tag not in VOID:
            self._open.append(tag)
        if tag == "form":
            self._form = Form(given.get("method", "get"), given.get("action", ""))
        elif tag == "a":
            self.items.append(Control("link", href=given["href"]))
        elif tag == "button":
            self.items.append(Control("button", form=self._form))
        elif tag in ("input", "select", "textarea"):
            self._field(tag, given)
        elif tag == "label":
            self._labels[given["for"]] = ""
        elif tag == "option":
            self._option_value = given.get("value")
            self._selected = "selected" in given

    def handle_endtag(self, tag: str) -> None:
        text = self._take()
        self._open.pop()
        last = self.items[-1] if self.items else None
        if tag == "title":
            self.title = text
        elif tag in ("a", "button") and isinstance(last, Control):
            last.name = text
        elif tag == "label":
            self._labels[next(reversed(self._labels))] = text
        elif tag == "option" and isinstance(last, Control) and last.form:
            value = text if self._option_value is None else self._option_value
            last.options[text] = value
            if self._selected or len(last.options) == 1:
                last.value, last.form.values[last.field_name] = text, value
        elif text:
            self.items.append(text)
        if tag == "form":
            self._form = None

    def handle_data(self, data: str) -> None:
        self._text += data

    def _field(self, tag: str, given: dict[str, str]) -> None:
        assert self._form is not None
        value = given.get("value", "")
        self._form.values[given["name"]] = value
        if given.get("type") != "hidden":
            role = "select" if tag == "select" else "textbox"
            self._ids[len(self.items)] = given.get("id", "")
            self.items.append(Control(role, given.get("aria-label", ""), value, given["name"], form=self._form))

    def _take(self) -> str:
        text, self._text = " ".join(self._text.split()), ""
        return text

    def _flush(self) -> None:
        text = self._take()
        if text:
            self.items.append(text)


class TextSession:
    """One client in one world, on one page."""

    def __init__(self, arena: Arena, task: Task) -> None:
        self.world: World = arena.fork()
        self._task = task
        self._address = f"http://{arena.hosts['shop.localhost']}"
        cookies = {cookie.name: cookie.value for cookie in self.world.login(task.user or "")}
        self._client = httpx.Client(headers={**self.world.headers, "host": "shop.localhost"}, cookies=cookies)
        self.go("GET", task.start_url)

    def go(self, method: str, url: str, form: dict[str, str] | None = None) -> None:
        path = url.removeprefix("http://shop.localhost")
        sent = {"params": form} if method == "GET" else {"data": form}
        answer = self._client.request(method, self._address + path, **({} if form is None else sent))  # type: ignore[arg-type]
        if answer.has_redirect_location:
            return self.go("GET", answer.headers["location"])
        parts = urlsplit(str(answer.url))
        self.url = f"http://shop.localhost{parts.path}" + (f"?{parts.query}" if parts.query else "")
        self._html = answer.text
        self._page = PageReader()
        self._page.read(answer.text)
        return None

    @property
    def _controls(self) -> list[Control]:
        return [item for item in self._page.items if isinstance(item, Control)]

    def observe(self) -> Observation:
        ids = {id(control): number for number, control in enumerate(self._controls)}
        lines = [
            item if isinstance(item, str) else f"[{ids[id(item)]}] {item.role} {item.name}" for item in self._page.items
        ]
        elements = [
            Element(number, control.role, control.name, control.value, tuple(control.options))
            for number, control in enumerate(self._controls)
        ]
        return Observation(self.url, self._page.title, tuple(lines), tuple(elements))

    def perform(self, action: PageAction) -> None:
        assert isinstance(action, Click | Type | Search | Select)
        control = self._controls[action.element]
        if isinstance(action, Click) and control.href:
            return self.go("GET", urljoin(self.url, control.href))
        assert control.form is not None
        if isinstance(action, Type | Search):
            control.value = control.form.values[control.field_name] = action.text
        elif isinstance(action, Select):
            control.value, control.form.values[control.field_name] = action.option, control.options[action.option]
        if isinstance(action, Click | Search):
            return self.go(control.form.method.upper(), urljoin(self.url, control.form.action), control.form.values)
        return None

    def evidence(self, answer: str | None) -> Evidence:
        text = re.sub(r"<[^>]+>", " ", self._html)
        return Evidence(answer, self.url, text, self.world.diff())

    def close(self) -> None:
        self._client.close()
        self.world.close()


OpenSession = Callable[[Task], TextSession]


@pytest.fixture(scope="session")
def arena() -> Iterator[Arena]:
    with Arena() as arena:
        yield arena


@pytest.fixture
def open_session(arena: Arena) -> Iterator[OpenSession]:
    sessions: list[TextSession] = []

    def opened(task: Task) -> TextSession:
        sessions.append(TextSession(arena, task))
        return sessions[-1]

    yield opened
    for session in sessions:
        session.close()

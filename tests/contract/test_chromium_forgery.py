"""What a page does to its own scripts, names and texts changes nothing in what is seen of it and said about it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import unquote

import psutil
import pytest
from loopback import Answer, serve

from clickgrad.browser import Browser, find_chromium
from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.errors import BrowserError, PageError
from clickgrad.types import Click, Observation, ScrollDown, Select, Type, Wait

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine")]
HOME = "http://site.localhost"
HEAD = "<!doctype html><title>Home</title>"
BODY = "<p>Welcome</p><a href='/next'>Next</a> <button onclick=\"document.title='Bought'\">Buy</button>"
LINES = ("Welcome", "link Next [0]", "button Buy [1]")

PATCHES = {
    "stringify": "JSON.stringify = () => '{\"x\":1}'",
    "arrays": "for (const name of ['push', 'map', 'filter', 'find', 'some', 'every', 'slice', 'includes', 'join'])"
    " Array.prototype[name] = () => { throw Error(name) };",
    "strings": "String.prototype.trim = String.prototype.replace = () => 'forged'",
    "styles": "window.getComputedStyle = () => ({ display: 'none' })",
    "rectangles": "Element.prototype.getBoundingClientRect = () => ({})",
    "queries": "Document.prototype.querySelectorAll = Element.prototype.querySelector = () => null",
    "timers": "setTimeout = () => 0; performance.now = () => 0; Promise = null; MutationObserver = null",
    "objects": "Object.fromEntries = Object.getOwnPropertyDescriptor = Reflect.get = null",
    "symbols": "Symbol.for = () => 'open'; Object.defineProperty = () => { throw Error('no') }",
}
NAMES = [
    "querySelectorAll",
    "querySelector",
    "body",
    "documentElement",
    "scrollingElement",
    "createRange",
    "title",
    "evaluate",
    "scripts",
    "readyState",
    "defaultView",
    "elementFromPoint",
    "getElementById",
    "getSelection",
    "nodeType",
    "childNodes",
    "activeElement",
    "location",
]
FORM_NAMES = [
    "tagName",
    "nodeType",
    "childNodes",
    "children",
    "parentNode",
    "parentElement",
    "getAttribute",
    "hasAttribute",
    "matches",
    "closest",
    "contains",
    "querySelector",
    "querySelectorAll",
    "getBoundingClientRect",
    "getClientRects",
    "textContent",
    "innerText",
    "ownerDocument",
    "labels",
    "type",
    "value",
    "shadowRoot",
    "assignedSlot",
    "firstElementChild",
    "isContentEditable",
    "isConnected",
    "getRootNode",
    "scrollHeight",
    "clientHeight",
]


@asynccontextmanager
async def page(html: str, timeout_s: float = 10.0) -> AsyncIterator[ChromiumSession]:
    async def respond(path: str) -> Answer:
        return Answer(html if unquote(path) == "/" else "<!doctype html><title>Next</title>There")

    async with serve(respond) as site, Browser({"site.localhost": site.address}, timeout_s=timeout_s) as browser:
        session = await browser.open(f"{HOME}/")
        try:
            yield session
        finally:
            await session.close()


async def look_for_ever(session: ChromiumSession) -> None:
    while await session.observe():
        pass


def number(observation: Observation, name: str) -> int:
    return next(element.id for element in observation.elements if element.name == name)


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
async def test_a_page_that_changes_its_own_builtins_is_seen_and_used_as_it_is(patch: str) -> None:
    async with page(f"{HEAD}<script>{patch}</script>{BODY}") as session:
        observation = await session.observe()
        assert (observation.lines, observation.title) == (LINES, "Home")
        assert await session.perform(Click(1)) == ""
        assert (await session.observe()).title == "Bought"
        assert "Welcome" in await session.page_text()
        assert await session.perform(Click(0)) == ""
        assert session.url == f"{HOME}/next"


@pytest.mark.parametrize("tag", ["img", "embed", "form"])
async def test_named_elements_do_not_stand_in_for_the_document(tag: str) -> None:
    named = "".join(f"<{tag} name={name} width=0 height=0></{tag}>" for name in NAMES)
    async with page(f"{HEAD}{BODY}<div style='display:none'>{named}</div>") as session:
        assert (await session.observe()).lines == LINES
        assert "Welcome" in await session.page_text()
        assert await session.perform(ScrollDown()) == "The page does not scroll further down."
        assert await session.perform(Click(1)) == ""
        assert await session.perform(Wait()) == ""
        await session.observe()
        assert await session.perform(Click(0)) == ""
        assert session.url == f"{HOME}/next"


async def test_the_fields_of_a_form_do_not_stand_in_for_the_form() -> None:
    fields = "".join(f"<input type=hidden name={name}>" for name in FORM_NAMES)
    form = f"<form role=button aria-label=Whole>{fields}<label>Size <select><option>S<option>L</select></label>"
    async with page(f"{HEAD}{form}<label>Note <input></label></form>") as session:
        observation = await session.observe()
        assert [element.name for element in observation.elements][-2:] == ["Size", "Note"]
        assert await session.perform(Select(number(observation, "Size"), "L")) == ""
        assert await session.perform(Type(number(observation, "Note"), "fragile")) == ""
        assert [element.value for element in (await session.observe()).elements][-2:] == ["L", "fragile"]


async def test_a_page_finds_no_trace_of_being_observed() -> None:
    watch = """<script>
      const before = new Set(Reflect.ownKeys(window)), seen = [];
      JSON.stringify = (value) => { seen.push(value); return ''; };
      const added = () => Reflect.ownKeys(window).filter((key) => !before.has(key));
      function tell() { document.title = [...added(), ...seen].map(String).join(); }
    </script><button onclick="tell()">Tell</button>"""
    async with page(f"{HEAD}{watch}") as session:
        await session.observe()
        await session.perform(Click(0))
        assert (await session.observe()).title in ("before,seen", "")


async def test_a_frame_of_the_same_origin_is_still_read_when_the_page_forges() -> None:
    frame = '<iframe width=400 height=200 srcdoc="<p>Inside</p><button>Deep</button>"></iframe>'
    async with page(f"{HEAD}<script>{PATCHES['arrays']}{PATCHES['stringify']}</script>{frame}") as session:
        assert (await session.observe()).lines == ("Inside", "button Deep [0]")


RUNAWAY = """<style>button { position: absolute; left: 100px; top: 100px }
a { position: absolute; left: 0; top: 80px; width: 900px; height: 300px; z-index: -1; display: block }</style>
<button onclick="document.title='Caught'">Run</button>
<a href="/next">Below</a>
<script>document.querySelector('button').onmouseenter = (event) => { event.target.style.left = '1000px' }</script>"""


async def test_a_click_on_what_moved_away_clicks_nothing_and_says_so() -> None:
    async with page(f"{HEAD}{RUNAWAY}") as session:
        run = number(await session.observe(), "Run")
        notice = await session.perform(Click(run))
        assert notice == f"Element {run} moved away; nothing was clicked."
        observation = await session.observe()
        assert (observation.title, observation.url, observation.notice) == ("Home", f"{HOME}/", notice)
        assert await session.perform(Click(number(observation, "Below"))) == "", "the next click is one of its own"
        assert session.url == f"{HOME}/next"


async def test_texts_are_cut_between_characters_and_half_ones_are_replaced() -> None:
    script = """<p id=long></p><p id=half></p><input aria-label=Field><script>
      long.textContent = 'x'.repeat(499) + '\\u{1f600}'.repeat(3);
      half.textContent = 'a\\ud83d b\\0c\\u0085d';
      document.querySelector('input').value = '\\udc00'; document.title = '\\ud83d';
      history.pushState(0, '', '#/\\ud83d');
    </script><button onclick="alert('\\udc00')">Tell</button>"""
    async with page(f"{HEAD}{script}") as session:
        observation = await session.observe()
        assert observation.lines[0] == "x" * 499 + "…"
        assert observation.lines[1] == "a\ufffd b\ufffdc\ufffdd"
        assert (observation.title, observation.elements[0].value) == ("\ufffd", "\ufffd")
        assert '"\ufffd"' in await session.perform(Click(1))
        text = await session.page_text()
        "".join([*observation.lines, observation.url, session.url, text]).encode()  # raises if a half is left


async def test_who_closes_the_last_tab_is_at_fault_and_not_the_browser() -> None:
    async with page(f"{HEAD}{BODY}") as session:
        await session.observe()
        await session.page.close()
        for act in (session.observe(), session.perform(Wait()), session.page_text()):
            with pytest.raises(PageError, match="no open tab: the page closed the last tab"):
                await act


async def test_a_renderer_that_crashes_is_a_page_that_broke() -> None:
    async with page(f"{HEAD}{BODY}") as session:
        protocol = await session.page.context.new_cdp_session(session.page)
        crash = asyncio.ensure_future(protocol.send("Page.crash"))  # never answered
        with pytest.raises(PageError, match=r"crashed|the browser is sound"):
            await look_for_ever(session)
        await session.close()
        await asyncio.gather(crash, return_exceptions=True)


async def test_a_page_that_hangs_in_a_sound_browser_is_at_fault() -> None:
    async with page(f"{HEAD}<button onclick='for (;;);'>Hang</button>", timeout_s=3.0) as session:
        await session.observe()
        with pytest.raises(PageError, match="the browser is sound"):
            await session.perform(Click(0))


async def test_a_dead_browser_is_no_fault_of_the_page() -> None:
    async def respond(path: str) -> Answer:
        return Answer(f"{HEAD}{BODY}")

    async with serve(respond) as site, Browser({"site.localhost": site.address}) as browser:
        for victim in (0, 1):  # the browser, its driver
            session = await browser.open(f"{HOME}/")
            psutil.Process(browser.process_ids[victim]).kill()
            with pytest.raises(BrowserError) as caught:
                await look_for_ever(session)
            assert not isinstance(caught.value, PageError)
            await session.close()

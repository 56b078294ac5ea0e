"""An action is over when the timers, requests and frames that it set going are, and not for what went on before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from loopback import Answer, serve

from clickgrad.browser import Browser, find_chromium
from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.browser.tab import Pace
from clickgrad.types import Click, Type

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine")]
FIND = "<!doctype html><title>Find</title><input id=q aria-label=Find> <button id=b>Go</button><p id=out>Nothing</p>"
DEBOUNCED = """let timer; q.oninput = () => { clearTimeout(timer); timer = setTimeout(ask, 200); };
const ask = async () => { const answer = await fetch('/late'); show(await answer.text()); };
const show = (text) => setTimeout(() => { out.textContent = text; }, 100);"""
STEPS = """b.onclick = () => { let step = 0;
const draw = () => { out.textContent = `Step ${++step}`; if (step < 12) requestAnimationFrame(draw); }; draw(); };"""
FADES = """b.onclick = () => { out.style.transition = 'opacity 0.3s'; out.style.opacity = 0; };
out.ontransitionend = () => { out.textContent = 'Gone'; out.style.opacity = 1; };"""
# What it waits for in a loop goes on for ever; what the click delays by more than a second is for something else.
POLLS = """const poll = async () => { await new Promise((wake) => setTimeout(wake, 120)); poll(); }; poll();
const say = (text, ms) => setTimeout(() => { out.textContent = text; }, ms);
b.onclick = () => { say('Two', 250); say('Too late', 3000); };"""
FRAME = (
    "<iframe srcdoc=\"<button id=b onclick='setTimeout(() => { b.textContent = 1 + 1; }, 150)'>Add</button>\"></iframe>"
)


@asynccontextmanager
async def page(html: str, pace: Pace | None = None) -> AsyncIterator[ChromiumSession]:
    async def respond(path: str) -> Answer:
        if path == "/late":
            await asyncio.sleep(0.3)
        return Answer("Found it" if path == "/late" else html)

    async with serve(respond) as site, Browser({"site.localhost": site.address}, pace=pace) as browser:
        session = await browser.open("http://site.localhost/")
        await session.observe()
        try:
            yield session
        finally:
            await session.close()


async def lines(session: ChromiumSession) -> str:
    return " / ".join((await session.observe()).lines)


async def test_a_search_that_waits_for_the_next_key_and_then_for_the_server_is_read_when_it_has_found() -> None:
    async with page(f"{FIND}<script>{DEBOUNCED}</script>") as session:
        await session.perform(Type(0, "mug"))
        assert "Found it" in await lines(session)


@pytest.mark.parametrize(
    ("script", "text"), [(STEPS, "Step 12"), (FADES, "Gone"), (POLLS, "Two")], ids=["frames", "transition", "polling"]
)
async def test_what_a_click_draws_or_delays_is_waited_for_but_no_more_than_that(script: str, text: str) -> None:
    async with page(f"{FIND}<script>{script}</script>") as session:
        await session.perform(Click(1))
        assert text in await lines(session)


async def test_timers_of_a_frame_count_too() -> None:
    async with page(f"<!doctype html><title>Frame</title>{FRAME}") as session:
        await session.perform(Click(0))
        assert "button 2 [0]" in await lines(session)


async def test_a_page_that_goes_back_by_itself_is_waited_for() -> None:
    here = "<script>document.write(`<p>At ${location.pathname}</p>`)</script>"
    ways = "<a href=/next>On</a> <button onclick='history.back()'>Back</button>"
    async with page(f"<!doctype html><title>Ways</title>{ways}{here}") as session:
        await session.perform(Click(0))
        assert "At /next" in await lines(session)
        await session.perform(Click(1))
        assert (await lines(session)).endswith("At /")


async def test_timers_look_to_a_page_as_they_always_do() -> None:
    tell = "out.textContent = [setTimeout, fetch].map((one) => `${one} ${one.name} ${one.length}`).join();"
    seen = (
        "setTimeout((a, b) => { out.textContent += ` ${a + b} ${new Error().stack.split('\\n').length}`; }, 0, 1, 2);"
    )
    async with page(f"{FIND}<script>{tell}{seen}</script>") as session:
        native = "function () { [native code] } setTimeout 1,function () { [native code] } fetch 1 3 2"
        assert native in await lines(session)


async def test_a_site_with_a_clock_has_its_time() -> None:
    years = "new Date().getFullYear(), new Date(0).getFullYear(), Date().slice(11, 15), Date.now() < 1e12"
    tell = f"out.textContent = [{years}].join(' ');"
    async with page(f"{FIND}<script>{tell}</script>", Pace(clock=946_728_000)) as session:  # 2000-01-01, noon
        assert "2000 1970 2000 true" in await lines(session)

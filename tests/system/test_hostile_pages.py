"""Pages that mean harm or are broken: their own episode ends in bounds, and the one beside it does not notice."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import quote, unquote

import pytest
from loopback import Answer, SiteVenue, serve, until

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import Browser, Session, find_chromium
from clickgrad.errors import BrowserError, PageError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.types import Click, End, PageCheck, Task, Trajectory

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine")]
HOME = "http://site.localhost"
TIMEOUT_S = 5.0
WITHOUT_A_SESSION = 8  # processes: driver, browser, two zygotes, network, graphics, a spare renderer, crash handler
BUTTON = "<!doctype html><title>Hostile</title><button onclick='strike()'>Go</button>"


def striking(script: str) -> str:
    """A page that turns hostile when its button is clicked."""
    return f"{BUTTON}<script>function strike() {{ {script} }}</script>"


BIG = "'<p>word <b>bold</b> <a href=/>link</a></p>'.repeat(1.2e6)"  # about 50 MB
PAGES = {
    "calm": "<!doctype html><title>Calm</title><a href='/calm'>Again</a> All is well.",
    "redirects": striking("location = '/round'"),
    "reloads": striking("location = '/reloading'"),
    "reloading": "<script>location = '/reloading?' + Math.random()</script>",
    "never loads": striking("location = '/never'"),
    "alerts": striking("for (;;) alert('Hello')"),
    "alerts at once": f"{BUTTON}<script>for (;;) alert('Hello')</script>",
    "never ends": striking("for (;;);"),
    "never ends at once": f"{BUTTON}<script>for (;;);</script>",
    "timers": striking("for (let i = 0; i < 100; i++) setInterval(() => document.body.append('x'), 0)"),
    "windows": striking("for (let i = 0; i < 100; i++) window.open('/calm?' + i)"),
    "title": striking("document.title = 'x'.repeat(20e6)"),
    "writes": striking("setInterval(() => document.write('<p>' + 'x'.repeat(1e4)), 0)"),
    "big": striking(f"document.body.insertAdjacentHTML('beforeend', {BIG})"),
    "addresses": striking("for (let i = 0; i < 1e5; i++) history.pushState(0, '', '/' + i)"),
    "requests": striking("setInterval(() => { for (let i = 0; i < 20; i++) fetch('/calm?' + i); }, 10)"),
    "memory": striking("const kept = []; setInterval(() => kept.push(new Array(1e6).fill(Math.random())), 0)"),
    "closes": striking("window.close()"),
}


async def respond(path: str) -> Answer:
    name = unquote(path).strip("/").partition("?")[0]
    if name == "round":
        return Answer(status=302, headers=(("Location", "/round"),))
    if name == "never":
        await asyncio.Event().wait()
    return Answer(PAGES.get(name, ""), 200 if name in PAGES else 404)


async def visit(browser: Browser, page: str, clicks: int) -> Trajectory:
    start, well = f"{HOME}/{quote(page)}", PageCheck(("All is well.",))
    task = Task(page, "site", "test", ("site",), page, "Click.", start, (well,))
    policy = FixedPolicy("clicks", ['do(action="Click", element="0")'] * clicks + ['exit(message="")'])
    agent = Agent(policy, PromptBuilder(None, "plain", "short"), Limits(max_turns=clicks + 1, max_new_tokens=64))
    return await run_episode(page, task, 0, agent, SiteVenue(browser))


async def stay_calm(browser: Browser, over: asyncio.Event) -> list[Trajectory]:
    """Episodes one after the other until it is over, and one more."""
    calm = [await visit(browser, "calm", 3)]
    while not over.is_set():
        calm.append(await visit(browser, "calm", 3))
    return [*calm, await visit(browser, "calm", 3)]


WAITING = ("redirects", "reloads", "never loads", "alerts", "alerts at once", "windows", "title", "closes")
WORKING = ("never ends", "never ends at once", "timers", "writes", "big", "addresses", "memory")


@pytest.mark.parametrize("pages", [WAITING, WORKING], ids=["waiting", "working"])
async def test_hostile_pages_end_in_bounds_and_the_episode_beside_them_does_not_notice(pages: tuple[str, ...]) -> None:
    async with serve(respond) as site, Browser({"site.localhost": site.address}, timeout_s=TIMEOUT_S) as browser:
        over = asyncio.Event()
        beside = asyncio.create_task(stay_calm(browser, over))
        async with asyncio.timeout(90):
            hostile = await asyncio.gather(*(visit(browser, page, 1) for page in pages))
        over.set()
        for trajectory in hostile:
            assert trajectory.end in (End.STOPPED, End.PAGE_BROKEN, End.CRASHED), trajectory.episode
            if trajectory.end is End.PAGE_BROKEN:
                assert trajectory.reward == 0.0
            if trajectory.end is End.CRASHED:
                assert trajectory.reward is None
                assert trajectory.error is not None
                assert trajectory.error.startswith(("BrowserError", "PageError"))
            assert all(len(turn.observation.title) <= 1000 for turn in trajectory.turns), trajectory.episode
        assert {(one.reward, one.error) for one in await beside} == {(1.0, None)}
        await until(lambda: browser.footprint().processes <= WITHOUT_A_SESSION)


async def look_for_ever(session: Session) -> None:
    while await session.observe():
        pass


async def test_a_page_that_asks_without_end_loses_its_session() -> None:
    async with serve(respond) as site, Browser({"site.localhost": site.address}, timeout_s=30.0) as browser:
        session = await browser.open(f"{HOME}/requests")
        with suppress(BrowserError):
            await session.perform(Click((await session.observe()).elements[0].id))
        async with asyncio.timeout(60):
            with pytest.raises(PageError):
                await look_for_ever(session)
        assert (await visit(browser, "calm", 1)).reward == 1.0


async def test_a_page_that_crashes_takes_only_its_own_session_along() -> None:
    async with serve(respond) as site, Browser({"site.localhost": site.address}, timeout_s=15.0) as browser:
        crashing, other = await browser.open(f"{HOME}/calm"), await browser.open(f"{HOME}/calm")
        protocol = await crashing.page.context.new_cdp_session(crashing.page)
        crash = asyncio.ensure_future(protocol.send("Page.crash"))  # never answered
        async with asyncio.timeout(60):
            with pytest.raises(PageError):
                await look_for_ever(crashing)
        assert await other.perform(Click((await other.observe()).elements[0].id)) == ""
        await crashing.close()
        await asyncio.gather(crash, return_exceptions=True)

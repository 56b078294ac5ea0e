"""Browsers that die, grow old or get fat are replaced, and only the episodes in them notice."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import psutil
import pytest
from loopback import Answer, Loopback, SiteVenue, serve, until
from rollouts import fill_slots, player

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import Browser, find_chromium
from clickgrad.browser.pool import Sharing
from clickgrad.errors import BrowserError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.scheduler import Slot
from clickgrad.types import Click, Completion, End, PageCheck, Prompt, Sampling, Task, Trajectory

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine")]
HOME = "http://site.localhost"
WITHOUT_A_SESSION = 12
CLICK, EXIT = 'do(action="Click", element="0")', 'exit(message="")'


async def respond(path: str) -> Answer:
    if path.startswith("/slow"):
        await asyncio.sleep(1)
    return Answer(f"<!doctype html><title>Calm</title><a href='{path}'>Again</a> All is well.")


@asynccontextmanager
async def site() -> AsyncIterator[tuple[dict[str, str], Loopback]]:
    async with serve(respond) as server:
        yield {"site.localhost": server.address}, server


class InterruptedPolicy:
    """Clicks twice and stops; before one turn of one episode something happens."""

    name, version = "interrupted", 0

    def __init__(self, episode: str, happen: Callable[[], None]) -> None:
        self._fixed = FixedPolicy("clicks", [CLICK, CLICK, EXIT])
        self._episode = episode
        self._happen = happen

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        if prompt.episode == self._episode:
            self._episode = ""
            self._happen()
        return await self._fixed.complete(prompt, sampling)

    def forget(self, episode: str) -> None:
        self._fixed.forget(episode)

    def close(self) -> None:
        self._fixed.close()


async def play(
    browser: Browser, episodes: int, at_once: int, policy: FixedPolicy | InterruptedPolicy, url: str = f"{HOME}/"
) -> tuple[list[Trajectory], list[Trajectory]]:
    """The trajectory of every slot, and those of all tries."""
    agent = Agent(policy, PromptBuilder(None, "plain", "short"), Limits(max_turns=4, max_new_tokens=64))
    task = Task("t", "s", "test", ("site",), "t", "Go on.", url, (PageCheck(("All is well.",)),))
    slots = [Slot(f"slot-{number}", task, seed=0) for number in range(episodes)]
    tries: list[Trajectory] = []
    venue = SiteVenue(browser)
    filled = await fill_slots(
        slots, player(agent, venue), concurrency=at_once, retries=2, stored={}, on_end=tries.append
    )
    return filled, tries


async def test_when_a_browser_dies_its_episodes_are_tried_again_and_those_in_the_other_go_on() -> None:
    async with site() as (hosts, _), Browser(hosts, sharing=Sharing(browsers=2)) as browser:
        policy = InterruptedPolicy("slot-0/try-0", lambda: psutil.Process(browser.process_ids[0]).kill())
        filled, tries = await play(browser, 4, 4, policy)
        assert [trajectory.reward for trajectory in filled] == [1.0] * 4
        crashed = [trajectory.episode for trajectory in tries if trajectory.end is End.CRASHED]
        assert "slot-0/try-0" in crashed
        assert 1 <= len(crashed) <= 2, "two of four sessions were in the other browser"
        assert len(browser.process_ids) == 4  # a main process and a driver each


async def test_sessions_are_spread_over_the_browsers_and_the_first_alone_needs_only_one() -> None:
    async with site() as (hosts, _), Browser(hosts, sharing=Sharing(browsers=2)) as browser:
        first = await browser.open(f"{HOME}/")
        assert len(browser.process_ids) == 2
        await browser.open(f"{HOME}/")
        assert len(browser.process_ids) == 4
        psutil.Process(browser.process_ids[2]).kill()
        assert await first.perform(Click((await first.observe()).elements[0].id)) == ""


async def test_a_browser_that_takes_too_much_memory_gets_no_new_sessions_and_ends_with_its_last_one() -> None:
    async with site() as (hosts, _), Browser(hosts, sharing=Sharing(share_mb=1.0)) as browser:
        fat = browser.process_ids
        for _ in range(7):
            await (await browser.open(f"{HOME}/")).close()
        last = await browser.open(f"{HOME}/")
        assert browser.process_ids == fat
        await browser.open(f"{HOME}/")
        assert not set(browser.process_ids) & set(fat)
        assert (await last.observe()).title == "Calm"
        await last.close()
        await until(lambda: not any(map(psutil.pid_exists, fat)))


async def test_a_browser_that_gives_no_session_is_not_asked_again() -> None:
    async with site() as (hosts, _), Browser(hosts, timeout_s=2.0) as browser:
        stopped = psutil.Process(browser.process_ids[0])
        stopped.suspend()
        with pytest.raises(BrowserError, match="opening a session"):
            await browser.open(f"{HOME}/")
        again = await browser.open(f"{HOME}/")
        assert (await again.observe()).title == "Calm"
        assert stopped.pid not in browser.process_ids
        stopped.resume()  # so that it can end politely


async def test_thirty_episodes_leave_no_process_behind() -> None:
    async with site() as (hosts, _), Browser(hosts) as browser:
        policy = FixedPolicy("clicks", [CLICK, EXIT])
        await play(browser, 8, 4, policy)
        await until(lambda: browser.footprint().processes <= WITHOUT_A_SESSION)  # a renderer goes after its session
        warm = browser.footprint()
        await play(browser, 22, 4, policy)
        await until(lambda: browser.footprint().processes <= warm.processes)
        assert browser.footprint().rss_mb < 1.5 * warm.rss_mb


async def test_episodes_wait_for_a_slow_site_together() -> None:
    async with site() as (hosts, server), Browser(hosts) as browser:
        filled, _ = await play(browser, 8, 8, FixedPolicy("clicks", [CLICK, EXIT]), f"{HOME}/slow")
        assert [trajectory.reward for trajectory in filled] == [1.0] * 8
        assert server.most_at_once >= 6


def watchdogs() -> int:
    return sum(thread.name == "watchdog" for thread in threading.enumerate())


async def test_a_watch_outside_of_the_loop_lasts_as_long_as_the_browsers() -> None:
    before = watchdogs()
    async with Browser({}):
        assert watchdogs() == before + 1
    await until(lambda: watchdogs() == before)

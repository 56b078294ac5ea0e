"""What a turn costs: episodes one, four and eight at once, each kind of action, a slow site, and many episodes on end.

The experts act, so that a policy takes no time. An episode counts from the opening of its session to its verdict.
Seconds on processor cores are the whole machine's: nothing else should run meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle, islice

import psutil
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.backends.local import LocalPlayers
from clickgrad.bench.timed import TimedVenue, Times
from clickgrad.browser.pool import Browser, Sharing
from clickgrad.browser.process import Footprint
from clickgrad.display import Ticker, progress_bar
from clickgrad.errors import InfraError, UserError
from clickgrad.policy.protocol import Policy
from clickgrad.policy.scripted import ExpertPolicy, FixedPolicy, noop_policy
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.miniwob_venue import MiniwobVenue
from clickgrad.rollout.scheduler import Bounds, Scheduler, Slot
from clickgrad.rollout.venue import ArenaVenue, Venue, Visit
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import Evidence, Task, Trajectory
from clickgrad.worlds import Arena
from clickgrad.worlds.miniwob import Miniwob
from clickgrad.worlds.server import ThreadedServer

MINIWOB_PAGES = ("click-test-2", "click-button", "enter-text", "login-user")
SEEDS = 10  # of each page: so many episodes on it, at every level of concurrency
POCKET_TASKS = 40
WARM_EPISODES = 50  # before memory is looked at
SESSIONS = 8  # open at once, to see what one takes
SLOW_S = 1.0
SLOW_TURNS = 3
SLOW_EPISODES = 8


@dataclass(frozen=True, slots=True)
class BrowserFigures:
    turns_per_s_1: float  # MiniWoB++, so many episodes at once, from the opening of the session to its end
    turns_per_s_4: float
    turns_per_s_8: float
    acting_turns_per_s_1: float  # the same turns, observing and acting only: opening and judging are not counted
    acting_turns_per_s_4: float
    acting_turns_per_s_8: float
    observe_ms_p50: float
    observe_ms_p95: float
    click_ms_p50: float  # with the wait until the page has settled
    click_ms_p95: float
    type_ms_p50: float
    type_ms_p95: float
    fresh_session_ms_p50: float  # until its start page has settled
    fresh_session_ms_p95: float
    pocket_turns_per_s_1: float
    pocket_turns_per_s_8: float
    pocket_observe_ms_p50: float
    pocket_click_ms_p50: float  # nearly every one loads a page
    pocket_open_ms: float  # mean of an episode that gives up at once: opening, a look, judging
    pocket_open_core_ms: float  # of it, on processor cores
    pocket_turn_ms: float  # mean of every further turn
    pocket_turn_core_ms: float
    pocket_busy_cores: float  # with eight episodes at once
    session_mb: float  # more for every open session; pages that processes share count for each of them
    latency_ratio_8: float  # eight episodes at once against the slowest alone, on a site that takes a second a page
    episodes: int  # one after the other in one browser
    processes_warm: int  # after the first fifty, without an open session
    processes_end: int
    rss_mb_warm: float
    rss_mb_end: float


def bench_browser(episodes: int, quiet: bool) -> BrowserFigures:
    miniwob, pocket = _miniwob_tasks(), load_tasks("pocket", "test")[:POCKET_TASKS]
    total = 3 * len(miniwob) + 5 * len(pocket) + 2 * SLOW_EPISODES + episodes
    if episodes < 1:
        raise UserError(f"--episodes {episodes}: give at least 1")
    with progress_bar("bench browser", total, quiet=quiet) as ticker:
        return asyncio.run(_measure(miniwob, pocket, episodes, ticker))


def _miniwob_tasks() -> list[Task]:
    tasks = load_tasks("miniwob", "train")
    by_page = [[task for task in tasks if task.template == page][:SEEDS] for page in MINIWOB_PAGES]
    return [task for same_seed in zip(*by_page, strict=True) for task in same_seed]


async def _measure(miniwob: Sequence[Task], pocket: Sequence[Task], episodes: int, ticker: Ticker) -> BrowserFigures:
    wob, arena = Times(), Times()
    async with _miniwob() as (_, venue):
        alone = await _turns_per_s(miniwob, TimedVenue(venue, wob), 1, ticker)
        four = await _turns_per_s(miniwob, venue, 4, ticker)
        eight = await _turns_per_s(miniwob, venue, 8, ticker)
    async with _pocket() as (browser, venue):
        pocket_alone = await _turns_per_s(pocket, TimedVenue(venue, arena), 1, ticker)
        pocket_eight = await _turns_per_s(pocket, venue, 8, ticker)
        costs = await measure_costs(pocket, browser, venue, ticker)
    ratio = await _latency_ratio(ticker)
    warm, end = await _endure(miniwob, episodes, ticker)
    return BrowserFigures(
        turns_per_s_1=alone.all,
        turns_per_s_4=four.all,
        turns_per_s_8=eight.all,
        acting_turns_per_s_1=alone.acting,
        acting_turns_per_s_4=four.acting,
        acting_turns_per_s_8=eight.acting,
        observe_ms_p50=wob.ms_p50("observe"),
        observe_ms_p95=wob.ms_p95("observe"),
        click_ms_p50=wob.ms_p50("Click"),
        click_ms_p95=wob.ms_p95("Click"),
        type_ms_p50=wob.ms_p50("Type"),
        type_ms_p95=wob.ms_p95("Type"),
        fresh_session_ms_p50=wob.ms_p50("open"),
        fresh_session_ms_p95=wob.ms_p95("open"),
        pocket_turns_per_s_1=pocket_alone.all,
        pocket_turns_per_s_8=pocket_eight.all,
        pocket_observe_ms_p50=arena.ms_p50("observe"),
        pocket_click_ms_p50=arena.ms_p50("Click"),
        **costs,
        latency_ratio_8=ratio,
        episodes=episodes,
        processes_warm=warm.processes,
        processes_end=end.processes,
        rss_mb_warm=warm.rss_mb,
        rss_mb_end=end.rss_mb,
    )


@dataclass(frozen=True, slots=True)
class TurnRate:
    """Per second: all included, and while episodes are at their turns."""

    all: float
    acting: float


async def _turns_per_s(tasks: Sequence[Task], venue: Venue, at_once: int, ticker: Ticker) -> TurnRate:
    started = time.perf_counter()
    played = await _play(tasks, ExpertPolicy("plain"), venue, at_once, ticker)
    seconds = time.perf_counter() - started
    turns = [turn for trajectory in played for turn in trajectory.turns]
    return TurnRate(len(turns) / seconds, at_once * len(turns) / sum(turn.browser_s for turn in turns))


async def _play(tasks: Sequence[Task], policy: Policy, venue: Venue, at_once: int, ticker: Ticker) -> list[Trajectory]:
    """Episodes that must all come to an end that can be judged: a figure of broken ones would say nothing."""
    agent = Agent(policy, PromptBuilder(None, "plain", "short"), Limits(max_turns=40, max_new_tokens=64))
    slots = [Slot(f"{number}/{task.id}", task, seed=0) for number, task in enumerate(tasks)]
    players = LocalPlayers(agent, venue)
    played = await Scheduler(players.play, Bounds(at_once, retries=0), {}, lambda _: ticker.advance()).fill(slots)
    broken = next((trajectory.error for trajectory in played if not trajectory.usable), None)
    if broken is not None:
        raise InfraError(f"an episode broke, so there is nothing to measure: {broken}")
    return played


@asynccontextmanager
async def _miniwob(recycle_after: int = 200) -> AsyncIterator[tuple[Browser, Venue]]:
    with Miniwob() as pages:
        async with Browser(pages.hosts, sharing=Sharing(recycle_after=recycle_after)) as browser:
            yield browser, MiniwobVenue(pages, browser)


@asynccontextmanager
async def _pocket() -> AsyncIterator[tuple[Browser, Venue]]:
    with Arena() as arena:
        async with Browser(arena.hosts) as browser:
            yield browser, ArenaVenue(arena, browser)


# --- what `plan` reckons with ---


async def measure_costs(tasks: Sequence[Task], browser: Browser, venue: Venue, ticker: Ticker) -> dict[str, float]:
    """Episodes of one turn and whole ones, one at a time: the difference is what turns cost."""
    idle_mb = browser.footprint().rss_mb
    async with AsyncExitStack() as stack:
        for task in tasks[:SESSIONS]:
            await stack.enter_async_context(venue.open(task))
        session_mb = (browser.footprint().rss_mb - idle_mb) / SESSIONS
    turns, short_s, short_core_s = await _spend(tasks, noop_policy("plain"), venue, 1, ticker)
    all_turns, long_s, long_core_s = await _spend(tasks, ExpertPolicy("plain"), venue, 1, ticker)
    _, crowded_s, crowded_core_s = await _spend(tasks, ExpertPolicy("plain"), venue, 8, ticker)
    return {
        "pocket_open_ms": 1000 * short_s / len(tasks),
        "pocket_open_core_ms": 1000 * short_core_s / len(tasks),
        "pocket_turn_ms": 1000 * (long_s - short_s) / (all_turns - turns),
        "pocket_turn_core_ms": 1000 * (long_core_s - short_core_s) / (all_turns - turns),
        "pocket_busy_cores": crowded_core_s / crowded_s,
        "session_mb": session_mb,
    }


async def _spend(
    tasks: Sequence[Task], policy: Policy, venue: Venue, at_once: int, ticker: Ticker
) -> tuple[int, float, float]:
    """Turns, seconds and seconds of processor cores."""
    started, before = time.perf_counter(), _core_s()
    played = await _play(tasks, policy, venue, at_once, ticker)
    return sum(len(one.turns) for one in played), time.perf_counter() - started, _core_s() - before


def _core_s() -> float:
    """Of all processes: those of closed pages have ended, and nobody counts theirs."""
    spent = psutil.cpu_times()
    return spent.user + spent.nice + spent.system


# --- a site that takes its time ---


class SlowVenue:
    """A site of two pages that link to each other; each comes after `SLOW_S`."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        session = await self._browser.open(task.start_url)

        async def evidence(answer: str | None) -> Evidence:
            return Evidence(answer, session.url, await session.page_text(), ())

        try:
            yield Visit(session, evidence)
        finally:
            await session.close()


async def _serve_slowly(request: Request) -> HTMLResponse:
    await asyncio.sleep(SLOW_S)
    return HTMLResponse('<title>Slow</title><a href="/next">Next</a>')


async def _latency_ratio(ticker: Ticker) -> float:
    server = ThreadedServer(Starlette(routes=[Route("/{page}", _serve_slowly)]))
    server.start()
    task = Task("slow", "slow", "test", ("slow",), "slow", "Go on.", "http://slow.localhost/first", ())
    policy = FixedPolicy("clicks", ['do(action="Click", element="0")'] * SLOW_TURNS + ['exit(message="")'])
    try:
        async with Browser({"slow.localhost": server.address}) as browser:
            alone = await _play([task] * SLOW_EPISODES, policy, SlowVenue(browser), 1, ticker)
            started = time.perf_counter()
            await _play([task] * SLOW_EPISODES, policy, SlowVenue(browser), SLOW_EPISODES, ticker)
            together = time.perf_counter() - started
    finally:
        server.stop()
    return together / max(trajectory.seconds for trajectory in alone)


# --- many episodes on end ---


async def _endure(tasks: Sequence[Task], episodes: int, ticker: Ticker) -> tuple[Footprint, Footprint]:
    """What one browser takes after the first episodes and after the last; it is not replaced in between."""
    everyone = list(islice(cycle(tasks), episodes))
    async with _miniwob(recycle_after=episodes + 1) as (browser, venue):
        await _play(everyone[:WARM_EPISODES], ExpertPolicy("plain"), venue, 1, ticker)
        warm = browser.footprint()
        await _play(everyone[WARM_EPISODES:], ExpertPolicy("plain"), venue, 1, ticker)
        return warm, browser.footprint()

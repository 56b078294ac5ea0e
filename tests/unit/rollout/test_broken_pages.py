"""A page that becomes unusable under the agent's hands: whose doing was it?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

import pytest
from rollouts import fill_slots, player
from tiny import FakeVenue, make_task, make_trajectory, make_turn

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import FakeElement, FakePage
from clickgrad.browser.session import Session
from clickgrad.errors import BrowserError, WorldError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.report.summary import summarize
from clickgrad.rollout.again import Diverged, play_again
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.rollout.scheduler import Slot
from clickgrad.rollout.venue import Visit
from clickgrad.types import Click, End, Observation, Outcome, Task, Trajectory

pytestmark = pytest.mark.anyio

HOME = FakePage("Home", ("Welcome", FakeElement("link", "Next", to="http://toy/next")))
NEXT = FakePage("Next", (FakeElement("link", "Trap", to="http://toy/trap"),))
TRAP = FakePage("Trap", ("All is well.",), broken="the page hangs")
SITE = {"http://toy/": HOME, "http://toy/next": NEXT, "http://toy/trap": TRAP}
SOUND = {**SITE, "http://toy/trap": replace(TRAP, broken="")}
CLICK, EXIT = 'do(action="Click", element="0")', 'exit(message="yes")'


class Worlds:
    """One after the other, the last one for ever; counts how often it was opened."""

    def __init__(self, *worlds: dict[str, FakePage] | Exception) -> None:
        self._worlds = worlds
        self.opened = 0

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        world = self._worlds[min(self.opened, len(self._worlds) - 1)]
        self.opened += 1
        if isinstance(world, Exception):
            raise world
        async with FakeVenue(world).open(task) as visit:
            yield visit


def agent_of(*replies: str) -> Agent:
    return Agent(FixedPolicy("fixed", replies), PromptBuilder(None, "plain"), Limits(max_turns=6, max_new_tokens=32))


async def play(venue: object, *replies: str, task: Task | None = None) -> Trajectory:
    return await run_episode("e", task or make_task(), 7, agent_of(*replies), venue)  # type: ignore[arg-type]


async def test_a_page_that_breaks_each_time_the_actions_are_repeated_is_the_agents_failure() -> None:
    venue = Worlds(SITE)
    trajectory = await play(venue, CLICK, "no action at all", CLICK, EXIT)
    assert (trajectory.end, trajectory.reward) == (End.PAGE_BROKEN, 0.0)
    assert trajectory.verdict.outcome is Outcome.FAILED
    assert "the page hangs" in trajectory.verdict.results[0].reason
    assert [turn.action for turn in trajectory.turns][::2] == [Click(0), Click(0)], "the culprit is there to learn from"
    assert venue.opened == 3, "the episode and two repetitions"


@pytest.mark.parametrize(
    ("again", "opened"),
    [
        ([SOUND], 2),
        ([SITE, SOUND], 3),
        ([BrowserError("gone")], 2),
        ([WorldError("no room"), SITE], 2),
        ([{**SITE, "http://toy/": replace(HOME, broken="it hangs, too")}], 2),  # before the action that was to break it
        ([{**SITE, "http://toy/next": replace(NEXT, broken="it hangs, too")}], 2),
    ],
)
async def test_a_page_that_does_not_break_again_is_a_crash(again: list[object], opened: int) -> None:
    venue = Worlds(SITE, *again)  # type: ignore[arg-type]
    trajectory = await play(venue, CLICK, CLICK, EXIT)
    assert (trajectory.end, trajectory.reward, trajectory.verdict.outcome) == (End.CRASHED, None, Outcome.UNJUDGED)
    assert (trajectory.error or "").startswith("BrowserError: the page hangs; the same actions broke the page in ")
    assert venue.opened == opened


async def test_an_unusable_start_page_is_a_crash_of_its_own_kind() -> None:
    venue = Worlds({"http://toy/": replace(HOME, broken="the page hangs")})
    trajectory = await play(venue, CLICK)
    assert (trajectory.end, trajectory.reward, trajectory.error) == (End.CRASHED, None, "PageError: the page hangs")
    assert venue.opened == 1


async def test_without_checks_nothing_is_repeated() -> None:
    """`clickgrad run` on anybody's site: its reward would be none anyway."""
    venue = Worlds(SITE)
    trajectory = await play(venue, CLICK, CLICK, task=replace(make_task(), checks=()))
    assert (trajectory.end, venue.opened) == (End.CRASHED, 1)


class Standstill(Worlds):
    """A machine on which, after the episode itself, even a page that was sound takes for ever to be seen."""

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with super().open(task) as visit:
            yield replace(visit, session=cast(Session, Slow(visit.session))) if self.opened > 1 else visit


class Slow:
    def __init__(self, session: Session) -> None:
        self._session = session
        self.perform, self.page_text, self.close = session.perform, session.page_text, session.close

    async def observe(self) -> Observation:
        if self._session.url == "http://toy/":
            await asyncio.sleep(3600)
        return await self._session.observe()


async def test_a_machine_too_slow_to_show_a_sound_page_proves_nothing() -> None:
    """Where any page may time out, that one did so three times is nobody's failure."""
    trap = {**SITE, "http://toy/": replace(HOME, content=(FakeElement("link", "Trap", to="http://toy/trap"),))}
    assert (await play(Worlds(trap), CLICK, EXIT)).end is End.PAGE_BROKEN
    trajectory = await play(Standstill(trap), CLICK, EXIT)
    assert (trajectory.end, trajectory.reward) == (End.CRASHED, None)


async def test_a_clock_on_the_page_does_not_hide_what_the_actions_do() -> None:
    later = {**SITE, "http://toy/": replace(HOME, title="Home at 12:01")}
    assert (await play(Worlds(SITE, later), CLICK, CLICK)).end is End.PAGE_BROKEN


async def test_a_broken_page_is_final_and_a_crash_is_tried_again() -> None:
    async def tries(venue: Worlds) -> list[str]:
        ended: list[str] = []
        await fill_slots(
            [Slot("s", make_task(), 0)],
            player(agent_of(CLICK, CLICK, EXIT), venue),
            concurrency=1,
            retries=2,
            stored={},
            on_end=lambda trajectory: ended.append(trajectory.end.value),
        )
        return ended

    assert await tries(Worlds(SITE)) == ["page_broken"]
    assert await tries(Worlds(SITE, SOUND)) == ["crashed", "stopped"]


async def test_the_report_counts_broken_pages_among_the_failures_and_unusable_ones_among_the_lost() -> None:
    broke = await play(Worlds(SITE), CLICK, CLICK)
    unusable = await play(Worlds({"http://toy/": replace(HOME, broken="the page hangs")}), CLICK)
    crashed = await play(Worlds(SITE, SOUND), CLICK, CLICK)
    report = summarize([broke, unusable, crashed, make_trajectory([make_turn([1], [2])], 1.0)])
    assert (report.success.passed, report.success.n, report.success.infra_failed) == (1, 2, 2)
    assert (report.plain()["page_broken"], report.plain()["unusable_pages"]) == (1, 1)
    assert dict(report.failures) == {"page broken": 1, "unusable page": 1, "crashed: BrowserError": 1}
    assert "1 of the failures broke their page. 1 of the infra-failed met an unusable page." in report.text()


async def test_any_turn_is_restored_by_its_actions_or_the_first_difference_is_named() -> None:
    trajectory = await play(FakeVenue(SOUND), CLICK, CLICK, EXIT)
    async with FakeVenue(SOUND).open(trajectory.task) as visit:
        assert [done async for done in play_again(trajectory.turns[:2], visit.session)] == [1, 2]
        assert await visit.session.observe() == trajectory.turns[2].observation
    moved = {**SOUND, "http://toy/next": replace(NEXT, title="Elsewhere")}
    async with FakeVenue(moved).open(trajectory.task) as visit:
        with pytest.raises(Diverged, match=r"turn 2: title was 'Next', is 'Elsewhere'"):
            assert [done async for done in play_again(trajectory.turns, visit.session)]

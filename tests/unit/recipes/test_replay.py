"""A stored trajectory played again: the same pages and the same end, or a named difference.

All calls of the code under test are in `replayed`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from tiny import FakeVenue, make_task

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import FakeElement, FakePage
from clickgrad.errors import WorldError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.tools.replay import _difference
from clickgrad.types import Evidence, RowChange, Task, Trajectory

pytestmark = pytest.mark.anyio

SITE = {
    "http://toy/": FakePage("Home", (FakeElement("link", "Next", to="http://toy/next"), "Welcome")),
    "http://toy/next": FakePage("Next", (FakeElement("link", "Home", to="http://toy/"),)),
}
REPLIES = ['do(action="Click", element="0")', "no action at all", 'exit(message="yes")']
SOLD = RowChange("orders", "insert", (("id", 1),), 1)


class ChangedVenue(FakeVenue):
    """Whose world is found with these rows changed when the episode ends."""

    def __init__(self, *changes: RowChange) -> None:
        super().__init__(SITE)
        self._changes = changes

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with super().open(task) as visit:

            async def evidence(answer: str | None) -> Evidence:
                return replace(await visit.evidence(answer), changes=self._changes)

            yield replace(visit, evidence=evidence)


class BrokenVenue(FakeVenue):
    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        raise WorldError("no room")
        yield


async def played(venue: Venue) -> Trajectory:
    agent = Agent(FixedPolicy("fixed", REPLIES), PromptBuilder(None, "plain"), Limits(5, max_new_tokens=32))
    return await run_episode("e", make_task(), 7, agent, venue)


async def replayed(trajectory: Trajectory, venue: Venue) -> str:
    """What differs; "" when nothing does."""
    return await _difference(trajectory, venue)


async def test_the_same_actions_on_the_same_site_come_out_the_same() -> None:
    trajectory = await played(ChangedVenue(SOLD))
    assert len(trajectory.turns) == 3
    assert await replayed(trajectory, ChangedVenue(SOLD)) == ""


async def test_a_page_that_differs_is_named_with_its_turn_and_line() -> None:
    trajectory = await played(FakeVenue(SITE))
    greeting = {**SITE, "http://toy/": replace(SITE["http://toy/"], content=(SITE["http://toy/"].content[0], "Hello"))}
    assert await replayed(trajectory, FakeVenue(greeting)) == "turn 1: line 2 was 'Welcome', is 'Hello'"
    longer = {
        **SITE,
        "http://toy/next": replace(SITE["http://toy/next"], content=(*SITE["http://toy/next"].content, "Sale")),
    }
    assert await replayed(trajectory, FakeVenue(longer)) == "turn 2: the page had 1 lines, has 2"


async def test_the_same_pages_with_another_end_of_the_world_are_a_difference() -> None:
    trajectory = await played(ChangedVenue(SOLD))
    other = replace(SOLD, values=(("id", 2),))
    for end in ((), (other,), (SOLD, other)):
        assert await replayed(trajectory, ChangedVenue(*end)) == "the world ended in another state"


async def test_what_breaks_meanwhile_is_named_and_no_agreement() -> None:
    trajectory = await played(FakeVenue(SITE))
    assert await replayed(trajectory, BrokenVenue(SITE)) == "WorldError: no room"

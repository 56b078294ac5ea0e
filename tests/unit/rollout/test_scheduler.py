from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rollouts import fill_slots, player
from tiny import FakeVenue, make_task, make_trajectory

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import FakePage
from clickgrad.errors import BrowserError, UserError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.scheduler import Bounds, Scheduler, Slot
from clickgrad.rollout.store import MOST_BYTES, TrajectoryFile
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.types import Check, CustomCheck, End, Evidence, Finding, Opening, Task, Trajectory

pytestmark = pytest.mark.anyio

SITE = {"http://toy/": FakePage("Home", ("Welcome",))}
SLOTS = [Slot(f"slot-{n}", make_task(), seed=0) for n in range(6)]


def agent() -> Agent:
    return Agent(FixedPolicy("fixed", ['exit(message="yes")']), PromptBuilder(None, "plain"), Limits(3, 32))


class FlakyVenue(FakeVenue):
    """Refuses its first `failures` guests; counts how many are inside at once."""

    def __init__(self, failures: int) -> None:
        super().__init__(SITE)
        self.failures = failures
        self.inside = self.most = self.opened = 0

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        self.opened += 1
        if self.opened <= self.failures:
            raise BrowserError("refused")
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(0.01)
        async with super().open(task) as visit:
            yield visit
        self.inside -= 1


async def fill(
    venue: Venue, retries: int = 2, stored: dict[str, Trajectory] | None = None
) -> tuple[list[Trajectory], list[str]]:
    ended: list[str] = []
    filled = await fill_slots(
        SLOTS,
        player(agent(), venue),
        concurrency=3,
        retries=retries,
        stored=stored or {},
        on_end=lambda trajectory: ended.append(trajectory.episode),
    )
    return filled, ended


async def test_all_slots_are_filled_in_order_and_never_too_many_at_once() -> None:
    venue = FlakyVenue(failures=0)
    filled, ended = await fill(venue)
    assert [trajectory.episode for trajectory in filled] == [f"slot-{n}/try-0" for n in range(6)]
    assert sorted(ended) == [f"slot-{n}/try-0" for n in range(6)]
    assert venue.most == 3


async def test_crashed_episodes_are_tried_again_and_every_try_is_reported() -> None:
    filled, ended = await fill(FlakyVenue(failures=2))
    assert all(trajectory.usable for trajectory in filled)
    assert len(ended) == 6 + 2
    assert sum(not episode.endswith("try-0") for episode in ended) == 2


async def test_retries_are_bounded_and_a_crash_is_then_the_result() -> None:
    venue = FlakyVenue(failures=10**6)
    filled, ended = await fill(venue, retries=1)
    assert {trajectory.end for trajectory in filled} == {End.CRASHED}
    assert len(ended) == venue.opened == 12


async def test_what_is_stored_is_not_run_again() -> None:
    first, _ = await fill(FlakyVenue(failures=1))
    stored = {trajectory.episode: trajectory for trajectory in first[:4]}
    venue = FlakyVenue(failures=0)
    again, ended = await fill(venue, stored=stored)
    assert again[1:4] == first[1:4]
    assert len(ended) == venue.opened == 6 - len([episode for episode in stored if episode.endswith("try-0")])


async def test_each_try_has_a_seed_of_its_own() -> None:
    seeds = {slot.attempt(number)[1] for slot in SLOTS for number in range(3)}
    assert len(seeds) == 18


async def test_a_full_disk_stops_the_others_and_comes_out_as_it_is() -> None:
    def no_room(trajectory: Trajectory) -> None:
        raise UserError("no room")

    with pytest.raises(UserError, match="no room"):
        await fill_slots(SLOTS, player(agent(), FlakyVenue(0)), concurrency=3, retries=0, stored={}, on_end=no_room)


async def test_an_episode_that_cannot_be_stored_is_a_crash_of_its_own_and_the_neighbours_go_on() -> None:
    stored: dict[str, Trajectory] = {}

    def keep(trajectory: Trajectory) -> None:
        if trajectory.episode == "slot-2/try-0" and trajectory.usable:
            raise TypeError("no plain form for Mystery")
        stored[trajectory.episode] = trajectory

    filled = await fill_slots(SLOTS, player(agent(), FlakyVenue(0)), concurrency=3, retries=1, stored={}, on_end=keep)
    assert [trajectory.episode for trajectory in filled if trajectory.usable] == [
        f"slot-{n}/try-{int(n == 2)}" for n in range(6)
    ]
    lost = stored["slot-2/try-0"]
    assert (lost.end, lost.reward, lost.turns) == (End.CRASHED, None, ())
    assert lost.error == "InfraError: storing the episode: TypeError: no plain form for Mystery"


async def test_an_episode_too_large_to_be_stored_is_a_crash_of_its_own(tmp_path: Path) -> None:
    file = TrajectoryFile(tmp_path / "t.jsonl.zst")

    async def play(episode: str, task: Task, seed: int, opening: Opening) -> Trajectory:
        small = make_trajectory((), 0.0, task, episode)
        return replace(small, error="x" * MOST_BYTES) if episode == "slot-0/try-0" else small

    bounds = Bounds(concurrency=2, retries=0)
    filled = await Scheduler(play, bounds, {}, file.append).fill(SLOTS[:2])
    assert [trajectory.end for trajectory in filled] == [End.CRASHED, End.STOPPED]
    assert "slot-0/try-0 takes 134" in (filled[0].error or "")
    assert {trajectory.episode for trajectory in file.read()} == {"slot-0/try-0", "slot-1/try-0"}


async def test_half_an_emoji_is_stored_and_the_neighbours_go_on(tmp_path: Path) -> None:
    file = TrajectoryFile(tmp_path / "t.jsonl.zst")
    policy = FixedPolicy("fixed", ['exit(message="yes \ud83d")'])
    half = Agent(policy, PromptBuilder(None, "plain"), Limits(3, 32))

    async def play(episode: str, task: Task, seed: int, opening: Opening) -> Trajectory:
        return await player(half if episode.startswith("slot-2") else agent(), FlakyVenue(0))(
            episode, task, seed, opening
        )

    await fill_slots(SLOTS, play, concurrency=3, retries=0, stored={}, on_end=file.append)
    answers = {trajectory.episode[:6]: trajectory.answer for trajectory in file.read()}
    assert answers == {f"slot-{n}": "yes" for n in range(6)} | {"slot-2": "yes \ufffd"}


@pytest.mark.parametrize(
    ("checks", "finding", "tries"),
    [
        ((CustomCheck("mine"),), Finding("mine", None, "checks.py, line 3: KeyError"), 1),
        ((CustomCheck("mine"),), Finding("mine", False, "mine says no"), 1),
        ((), None, 1),
    ],
)
async def test_what_another_try_would_not_change_is_not_tried_again(
    checks: tuple[Check, ...], finding: Finding | None, tries: int
) -> None:
    """A broken check of the user's is deterministic code: the verdict stays missing."""
    ended: list[Trajectory] = []
    task = replace(make_task(), checks=checks)

    class Judging(FakeVenue):
        @asynccontextmanager
        async def open(self, task: Task) -> AsyncIterator[Visit]:
            async with super().open(task) as visit:

                async def evidence(answer: str | None) -> Evidence:
                    return Evidence(answer, "", "", (), findings=(finding,) if finding else ())

                yield replace(visit, evidence=evidence)

    await fill_slots(
        [Slot("s", task, 0)], player(agent(), Judging(SITE)), concurrency=1, retries=2, stored={}, on_end=ended.append
    )
    assert len(ended) == tries
    assert ended[0].usable is (finding is not None and finding.passed is not None)


async def test_a_site_is_visited_by_no_more_episodes_at_once_than_it_bears() -> None:
    """Tasks on two sites count for both; every task gets its turn, whatever the order they name their sites in."""
    visits: dict[str, int] = {"a": 0, "b": 0}
    most = dict(visits)

    async def play(episode: str, task: Task, seed: int, opening: Opening) -> Trajectory:
        for site in task.sites:
            visits[site] += 1
            most[site] = max(most[site], visits[site])
        await asyncio.sleep(0.005)
        for site in task.sites:
            visits[site] -= 1
        return make_trajectory((), 1.0, task, episode)

    sites = [("a",), ("b",), ("a", "b"), ("b", "a")] * 4
    slots = [Slot(f"slot-{n}", replace(make_task(), sites=where), 0) for n, where in enumerate(sites)]
    filled = await fill_slots(
        slots, play, concurrency=16, retries=0, stored={}, on_end=lambda trajectory: None, site_sessions=2
    )
    assert len(filled) == 16
    assert most == {"a": 2, "b": 2}

"""Many episodes at once: bounded concurrency, bounded retries, and nothing sampled twice."""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from clickgrad.errors import ClickgradError, InfraError, boundary
from clickgrad.rollout.episode import UNJUDGED, Agent, run_episode
from clickgrad.rollout.venue import Venue
from clickgrad.tasks.webarena.checks import needs_judge
from clickgrad.types import End, Task, Trajectory

Play = Callable[[str, Task, int], Awaitable[Trajectory]]  # an episode by its id, task and seed; here or elsewhere


def player(agent: Agent, venue: Venue) -> Play:
    """Episodes in this process."""
    return lambda episode, task, seed: run_episode(episode, task, seed, agent, venue)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one usable trajectory. Each try has an id of its own below it: `<slot>/try-0`."""

    id: str
    task: Task
    seed: int

    def attempt(self, number: int) -> tuple[str, int]:
        """Id and seed of a try."""
        episode = f"{self.id}/try-{number}"
        return episode, int.from_bytes(hashlib.sha256(f"{self.seed}/{episode}".encode()).digest()[:6])


def filled_from(slots: Sequence[Slot], stored: Mapping[str, Trajectory], retries: int) -> list[Trajectory] | None:
    """What `fill_slots` would return if nothing is left to run; None if something is."""
    filled = []
    for slot in slots:
        tries = [stored.get(slot.attempt(number)[0]) for number in range(retries + 1)]
        final = next((trajectory for trajectory in tries if trajectory and _is_final(trajectory)), None)
        if final is None and None in tries:
            return None
        filled.append(final or tries[-1])
    return [trajectory for trajectory in filled if trajectory]


async def fill_slots(
    slots: Sequence[Slot],
    play: Play,
    *,
    concurrency: int,
    retries: int,
    stored: Mapping[str, Trajectory],
    on_end: Callable[[Trajectory], None],
    site_sessions: int = 0,
) -> list[Trajectory]:
    """One trajectory a slot, in the order of the slots: the first usable try, or the last one if none was.

    Tries found in `stored` are taken from there; `on_end` sees every new one, crashed ones included. `site_sessions`
    bounds the episodes that visit a site at the same time; 0 does not.
    """
    gate = asyncio.Semaphore(concurrency)
    doors: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(site_sessions))

    async def attempt(slot: Slot, number: int) -> Trajectory:
        episode, seed = slot.attempt(number)
        if episode in stored:
            return stored[episode]
        async with AsyncExitStack() as stack:
            for site in sorted(set(slot.task.sites)) if site_sessions else ():  # sorted: nobody waits in a circle
                await stack.enter_async_context(doors[site])
            trajectory = await play(episode, slot.task, seed)
        return _handed_over(trajectory, on_end)

    async def fill(slot: Slot) -> Trajectory:
        async with gate:
            trajectory = await attempt(slot, 0)
            for number in range(1, retries + 1):
                if _is_final(trajectory):
                    break
                trajectory = await attempt(slot, number)
            return trajectory

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(fill(slot)) for slot in slots]
    except* (ClickgradError, OSError) as errors:
        raise errors.exceptions[0] from None  # the others were cancelled because of it
    return [task.result() for task in tasks]


def _handed_over(trajectory: Trajectory, on_end: Callable[[Trajectory], None]) -> Trajectory:
    """What `on_end` cannot take, though there is room on the disk, is a crash of that episode alone."""
    try:
        with boundary(InfraError, "storing the episode"):
            on_end(trajectory)
    except InfraError as error:
        told = f"{type(error).__name__}: {error}"
        trajectory = replace(
            trajectory, turns=(), end=End.CRASHED, evidence=None, verdict=UNJUDGED, reward=None, error=told
        )
        on_end(trajectory)
    return trajectory


def _is_final(trajectory: Trajectory) -> bool:
    """Another try would change nothing: it has a reward, or lacks one because its task takes a judge or has no checks,
    or because a check in the user's own code broke."""
    task, evidence = trajectory.task, trajectory.evidence
    if trajectory.usable or evidence is None:
        return trajectory.usable
    has_broken_check = any(finding.passed is None for finding in evidence.findings)
    return not task.checks or has_broken_check or (evidence.opinions is None and needs_judge(task))

"""Many episodes at once: bounded concurrency, bounded retries, and nothing sampled twice."""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import count

from clickgrad.errors import ClickgradError, InfraError, boundary
from clickgrad.rollout.episode import UNJUDGED
from clickgrad.tasks.webarena.checks import needs_judge
from clickgrad.types import USUAL, End, Opening, Task, Trajectory

# An episode by its id, task, seed and how it begins; here or elsewhere.
Play = Callable[[str, Task, int, Opening], Awaitable[Trajectory]]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one usable trajectory. Each try has an id of its own below it: `<slot>/try-0`."""

    id: str
    task: Task
    seed: int
    opening: Opening = USUAL

    def attempt(self, number: int) -> tuple[str, int]:
        """Id and seed of a try."""
        episode = f"{self.id}/try-{number}"
        return episode, int.from_bytes(hashlib.sha256(f"{self.seed}/{episode}".encode()).digest()[:6])


def filled_from(slots: Sequence[Slot], stored: Mapping[str, Trajectory], retries: int) -> list[Trajectory] | None:
    """What `Scheduler.fill` would return if nothing is left to run; None if something is."""
    filled = []
    for slot in slots:
        tries = [stored.get(slot.attempt(number)[0]) for number in range(retries + 1)]
        final = next((trajectory for trajectory in tries if trajectory and _is_final(trajectory)), None)
        if final is None and None in tries:
            return None
        filled.append(final or tries[-1])
    return [trajectory for trajectory in filled if trajectory]


def most_tries(slots: Sequence[Slot], stored: Mapping[str, Trajectory]) -> int:
    """Of any of the slots, counted from its first up to the last before one that is missing."""
    return max((next(n for n in count() if slot.attempt(n)[0] not in stored) for slot in slots), default=0)


@dataclass(frozen=True, slots=True)
class Bounds:
    """On what runs at the same time, and on how often a slot is tried again."""

    concurrency: int
    retries: int
    site_sessions: int = 0  # episodes at once on a site; 0 is no bound


class Scheduler:
    """Fills slots within bounds that hold for all calls of `fill` together.

    Tries found in `stored` are taken from there; `on_end` sees every new one, crashed ones included.
    """

    def __init__(
        self,
        play: Play,
        bounds: Bounds,
        stored: Mapping[str, Trajectory],
        on_end: Callable[[Trajectory], None],
    ) -> None:
        self._play = play
        self._retries = bounds.retries
        self._stored = stored
        self._on_end = on_end
        self._gate = asyncio.Semaphore(bounds.concurrency)
        self._is_bounded = bounds.site_sessions > 0
        self._doors: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(bounds.site_sessions))

    async def fill(self, slots: Sequence[Slot]) -> list[Trajectory]:
        """One trajectory a slot, in the order of the slots: the first usable try, or the last one if none was."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._fill_one(slot)) for slot in slots]
        except* (ClickgradError, OSError) as errors:
            raise errors.exceptions[0] from None  # the others were cancelled because of it
        return [task.result() for task in tasks]

    async def _fill_one(self, slot: Slot) -> Trajectory:
        async with self._gate:
            trajectory = await self._attempt(slot, 0)
            for number in range(1, self._retries + 1):
                if _is_final(trajectory):
                    break
                trajectory = await self._attempt(slot, number)
            return trajectory

    async def _attempt(self, slot: Slot, number: int) -> Trajectory:
        episode, seed = slot.attempt(number)
        if episode in self._stored:
            return self._stored[episode]
        async with AsyncExitStack() as stack:
            # In one order for all: two episodes that want the same two sites cannot deadlock.
            for site in sorted(set(slot.task.sites)) if self._is_bounded else ():
                await stack.enter_async_context(self._doors[site])
            trajectory = await self._play(episode, slot.task, seed, slot.opening)
        return _handed_over(trajectory, self._on_end)


def _handed_over(trajectory: Trajectory, on_end: Callable[[Trajectory], None]) -> Trajectory:
    """What `on_end` cannot take, though there is room on the disk, is a crash of that episode alone."""
    try:
        with boundary(InfraError, "storing the episode"):
            on_end(trajectory)
    except InfraError as error:
        error_text = f"{type(error).__name__}: {error}"
        trajectory = replace(
            trajectory, turns=(), end=End.CRASHED, evidence=None, verdict=UNJUDGED, reward=None, error=error_text
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

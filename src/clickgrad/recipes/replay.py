"""Replay: a stored trajectory's actions once more, in a fresh world, and whether every page came out the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clickgrad.config import Config
from clickgrad.errors import InfraError, UserError
from clickgrad.recipes.display import stage
from clickgrad.recipes.interrupts import run_async
from clickgrad.recipes.wiring import open_venue
from clickgrad.rollout.reading import told_after
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.types import Exit, Observation, Trajectory, Turn, Unparsable


@dataclass(frozen=True, slots=True)
class Replayed:
    episode: str
    turns: int
    difference: str  # "" when every page and the end are identical


_Replay = Callable[[Trajectory, asyncio.Semaphore], Awaitable[Replayed]]


def replay(config: Config, path: Path, quiet: bool = False) -> list[Replayed]:
    if not path.is_file():
        raise UserError(f"there is no trajectory file {path}")
    trajectories = TrajectoryFile(path).read()
    if not trajectories:
        raise UserError(f"{path} holds no trajectory: there is nothing to replay")
    with (
        asyncio.Runner() as runner,
        open_venue(config, runner) as venue,
        stage("replay", len(trajectories), quiet=quiet) as ticker,
    ):

        async def one(trajectory: Trajectory, gate: asyncio.Semaphore) -> Replayed:
            async with gate:
                difference = await _difference(trajectory, venue)
            ticker.advance()
            return Replayed(trajectory.episode, len(trajectory.turns), difference)

        return run_async(runner, _all(trajectories, one, config.rollout.concurrency))


async def _all(trajectories: Sequence[Trajectory], one: _Replay, concurrency: int) -> list[Replayed]:
    gate = asyncio.Semaphore(concurrency)
    return list(await asyncio.gather(*(one(trajectory, gate) for trajectory in trajectories)))


class Diverged(Exception):
    """A page came out unlike the stored one."""


async def play_again(trajectory: Trajectory, visit: Visit) -> AsyncIterator[int]:
    """The stored actions, each on the page it was chosen from; yields how many turns are done, after each of them."""
    before: Turn | None = None
    for number, turn in enumerate(trajectory.turns, 1):
        page = await visit.session.observe()
        page = told_after(before.action, page, before.paged) if before else page
        page = replace(page, first=turn.observation.first)  # the agent's own place in it, not the browser's doing
        if page != turn.observation:
            raise Diverged(f"turn {number}: {_first_difference(turn.observation, page)}")
        if not turn.paged and not isinstance(turn.action, Exit | Unparsable):
            await visit.session.perform(turn.action)
        before = turn
        yield number


async def _difference(trajectory: Trajectory, venue: Venue) -> str:
    try:
        async with venue.open(trajectory.task) as visit:
            async for _ in play_again(trajectory, visit):
                pass
            ended = await visit.evidence(trajectory.answer)
            if trajectory.evidence and trajectory.evidence.changes != ended.changes:
                return "the world ended in another state"
            return ""
    except Diverged as diverged:
        return str(diverged)
    except InfraError as error:
        return f"{type(error).__name__}: {error}"


def _first_difference(was: Observation, now: Observation) -> str:
    for name in ("url", "title", "tabs", "tab", "notice"):
        if getattr(was, name) != getattr(now, name):
            return f"{name} was {getattr(was, name)!r}, is {getattr(now, name)!r}"
    for number, (old, new) in enumerate(zip(was.lines, now.lines, strict=False), 1):
        if old != new:
            return f"line {number} was {old!r}, is {new!r}"
    if len(was.lines) != len(now.lines):
        return f"the page had {len(was.lines)} lines, has {len(now.lines)}"
    return "the elements differ"

"""Replay: a stored trajectory's actions once more, in a fresh world, and whether every page came out the same."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from clickgrad.config import Config
from clickgrad.errors import InfraError, UserError
from clickgrad.recipes.display import stage
from clickgrad.recipes.interrupts import run_async
from clickgrad.recipes.wiring import open_venue
from clickgrad.rollout.again import Diverged, play_again
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.rollout.venue import Venue
from clickgrad.types import Trajectory


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


async def _difference(trajectory: Trajectory, venue: Venue) -> str:
    try:
        async with venue.open(trajectory.task) as visit:
            async for _ in play_again(trajectory.turns, visit.session):
                pass
            ended = await visit.evidence(trajectory.answer)
            if trajectory.evidence and trajectory.evidence.changes != ended.changes:
                return "the world ended in another state"
            return ""
    except Diverged as diverged:
        return str(diverged)
    except InfraError as error:
        return f"{type(error).__name__}: {error}"

"""Replay: a stored trajectory's actions once more, in a fresh world, and whether every page came out the same."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from clickgrad.backends.venues import open_venue
from clickgrad.config import Config
from clickgrad.display import Ticker, progress_bar
from clickgrad.errors import InfraError, UserError
from clickgrad.rollout.again import Diverged, play_again
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.rollout.venue import Venue
from clickgrad.types import Trajectory


@dataclass(frozen=True, slots=True)
class Replayed:
    episode: str
    turns: int
    difference: str  # "" when every page and the end are identical


async def replay(config: Config, path: Path, quiet: bool = False) -> list[Replayed]:
    trajectories = _stored(path)
    gate = asyncio.Semaphore(config.rollout.concurrency)
    with progress_bar("replay", len(trajectories), quiet=quiet) as ticker:
        async with open_venue(config) as venue:
            return await asyncio.gather(*(_replay(trajectory, venue, gate, ticker) for trajectory in trajectories))


def _stored(path: Path) -> list[Trajectory]:
    if not path.is_file():
        raise UserError(f"there is no trajectory file {path}")
    trajectories = TrajectoryFile(path).read()
    if not trajectories:
        raise UserError(f"{path} holds no trajectory: there is nothing to replay")
    return trajectories


async def _replay(trajectory: Trajectory, venue: Venue, gate: asyncio.Semaphore, ticker: Ticker) -> Replayed:
    async with gate:
        difference = await _difference(trajectory, venue)
    ticker.advance()
    return Replayed(trajectory.episode, len(trajectory.turns), difference)


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

"""What a picture of every turn costs an evaluation: the same tasks with and without, turn about, in one browser.

Seconds of cores are those of this process and all it started, so they hold on a machine that others use, too. Where
all cores are busy, as with an expert that answers at once, turns per second go as they do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from clickgrad.backends.agents import as_trained
from clickgrad.backends.local import LocalBackend, LocalPlayers
from clickgrad.backends.policies import PolicySpec, parse_policy
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.bench.figures import median
from clickgrad.config import Config
from clickgrad.display import Ticker, progress_bar
from clickgrad.errors import InfraError, UserError
from clickgrad.recipes.clock import cores_s
from clickgrad.rollout.scheduler import Bounds, Scheduler, Slot
from clickgrad.run_layout import SCREENSHOTS
from clickgrad.types import Task

MOST_TASKS = 60  # a browser is replaced after 200 sessions


@dataclass(frozen=True, slots=True)
class PictureFigures:
    rounds: int  # of each kind; all figures below are medians of them
    turns: int  # of a round
    turns_per_s_without: float
    turns_per_s_with: float
    ratio: float  # of the two
    core_ms_per_turn_without: float
    core_ms_per_turn_with: float
    core_ratio: float  # without by with: the ratio of turns per second where all cores are busy
    pictures_per_turn: float  # less than 1 where some came too late
    kb_per_picture: float


@dataclass(frozen=True, slots=True)
class _Round:
    turns: int
    wall_s: float
    core_s: float

    @property
    def turns_per_s(self) -> float:
        return self.turns / self.wall_s

    @property
    def core_ms(self) -> float:
        return 1000 * self.core_s / self.turns


def bench_pictures(config: Config, policy: str, rounds: int, quiet: bool) -> PictureFigures:
    if rounds < 1:
        raise UserError(f"--rounds {rounds}: give at least 1")
    spec = parse_policy(policy)
    config = as_trained(config, spec)
    tasks = chosen_tasks(config, config.evaluate.split)
    tasks = tasks[: min(config.evaluate.limit or MOST_TASKS, MOST_TASKS)]
    with (
        TemporaryDirectory(prefix="clickgrad-bench-") as folder,
        progress_bar("bench pictures", 3 * rounds * len(tasks), quiet=quiet) as ticker,
    ):
        return asyncio.run(_measure(LocalBackend(config, Path(folder), quiet), spec, tasks, rounds, ticker))


async def _measure(
    backend: LocalBackend, spec: PolicySpec, tasks: Sequence[Task], rounds: int, ticker: Ticker
) -> PictureFigures:
    pairs = [await _pair(backend, spec, tasks, str(number), ticker) for number in range(rounds)]
    files = list((backend.run / SCREENSHOTS).iterdir())
    without, with_them = zip(*pairs, strict=True)
    return PictureFigures(
        rounds=rounds,
        turns=without[0].turns,
        turns_per_s_without=median([one.turns_per_s for one in without]),
        turns_per_s_with=median([one.turns_per_s for one in with_them]),
        ratio=median([b.turns_per_s / a.turns_per_s for a, b in pairs]),
        core_ms_per_turn_without=median([one.core_ms for one in without]),
        core_ms_per_turn_with=median([one.core_ms for one in with_them]),
        core_ratio=median([a.core_ms / b.core_ms for a, b in pairs]),
        pictures_per_turn=len(files) / sum(one.turns for one in with_them),
        kb_per_picture=sum(file.stat().st_size for file in files) / len(files) / 1000,
    )


async def _pair(
    backend: LocalBackend, spec: PolicySpec, tasks: Sequence[Task], name: str, ticker: Ticker
) -> tuple[_Round, _Round]:
    """Without and with, in a browser of their own: one that is replaced meanwhile takes its seconds along."""
    bounds = Bounds(backend.config.rollout.concurrency, retries=0)
    async with backend.players(spec) as pictured:
        plain = replace(pictured, agent=replace(pictured.agent, save_screenshot=None))
        slots = _slots(tasks, name)
        await _play(plain, slots, bounds, ticker)  # not counted: caches are cold, those of the model's prompts, too
        return await _play(plain, slots, bounds, ticker), await _play(pictured, slots, bounds, ticker)


def _slots(tasks: Sequence[Task], name: str) -> list[Slot]:
    return [Slot(f"{name}/{task.id}", task, seed=0) for task in tasks]


async def _play(players: LocalPlayers, slots: Sequence[Slot], bounds: Bounds, ticker: Ticker) -> _Round:
    started, before = time.perf_counter(), cores_s()
    played = await Scheduler(players.play, bounds, {}, lambda _: ticker.advance()).fill(slots)
    wall_s, core_s = time.perf_counter() - started, cores_s() - before
    broken = next((trajectory.error for trajectory in played if not trajectory.usable), None)
    if broken is not None:
        raise InfraError(f"an episode broke, so there is nothing to measure: {broken}")
    return _Round(sum(len(trajectory.turns) for trajectory in played), wall_s, core_s)

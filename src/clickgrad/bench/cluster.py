"""What Ray costs on one machine: the same episodes played by this process and by one worker of a local cluster.

The experts play: they take no time, so all that Ray adds is seen.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from clickgrad.backends import open_backend
from clickgrad.backends.policies import Scripted
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.config import Config, load_config
from clickgrad.display import Ticker, progress_bar
from clickgrad.errors import InfraError
from clickgrad.rollout.scheduler import Bounds, Scheduler, Slot

AT_ONCE = 4
WARMING = 8  # episodes before the clock starts: browsers, caches, connections
LIMITS = ("agent.max_turns=40", "tasks.max_expert_turns=4")
ON_RAY = ("cluster.address=local", "cluster.workers=1", f"cluster.worker_episodes={AT_ONCE}")


@dataclass(frozen=True, slots=True)
class ClusterFigures:
    episodes: int
    plain_episodes_per_min: float
    ray_episodes_per_min: float
    ratio: float


def bench_cluster(episodes: int, rounds: int, quiet: bool) -> ClusterFigures:
    """In turn, so that a slow minute of the machine hits both; the best round of each counts."""
    plain, ray = [], []
    with progress_bar("bench cluster", 2 * rounds * (episodes + WARMING), quiet=quiet) as ticker:
        for _ in range(rounds):
            plain.append(_episodes_per_min((), episodes, ticker))
            ray.append(_episodes_per_min(ON_RAY, episodes, ticker))
    return ClusterFigures(episodes, max(plain), max(ray), max(ray) / max(plain))


def _episodes_per_min(settings: tuple[str, ...], episodes: int, ticker: Ticker) -> float:
    config = load_config(None, [*LIMITS, *settings], "evaluate")
    tasks = chosen_tasks(config, "train")
    slots = [Slot(f"{number}", tasks[number % len(tasks)], 0) for number in range(WARMING + episodes)]
    return asyncio.run(_measure(config, slots, ticker))


async def _measure(config: Config, slots: list[Slot], ticker: Ticker) -> float:
    with TemporaryDirectory(prefix="clickgrad-bench-") as folder:
        async with open_backend(config, Path(folder), quiet=True).players(Scripted("expert")) as players:
            scheduler = Scheduler(players.play, Bounds(AT_ONCE, retries=0), {}, lambda trajectory: ticker.advance())
            await _play(slots[:WARMING], scheduler)
            started = time.perf_counter()
            await _play(slots[WARMING:], scheduler)
            return 60 * (len(slots) - WARMING) / (time.perf_counter() - started)


async def _play(slots: list[Slot], scheduler: Scheduler) -> None:
    played = await scheduler.fill(slots)
    broken = next((trajectory.error for trajectory in played if not trajectory.usable), None)
    if broken is not None:
        raise InfraError(f"an episode broke, so there is nothing to measure: {broken}")

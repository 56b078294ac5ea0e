"""What Ray costs on one machine: the same episodes played by this process and by one worker of a local cluster."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from clickgrad.config import load_config
from clickgrad.errors import InfraError
from clickgrad.recipes.display import Ticker, stage
from clickgrad.recipes.evaluate import open_players
from clickgrad.recipes.wiring import chosen_tasks
from clickgrad.rollout.scheduler import Play, Slot, fill_slots

AT_ONCE = 4
WARMING = 8  # episodes before the clock starts: browsers, caches, connections
POLICY = "scripted:expert"  # takes no time, so all that Ray adds is seen
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
    with stage("bench cluster", 2 * rounds * (episodes + WARMING), quiet=quiet) as ticker:
        for _ in range(rounds):
            plain.append(_episodes_per_min((), episodes, ticker))
            ray.append(_episodes_per_min(ON_RAY, episodes, ticker))
    return ClusterFigures(episodes, max(plain), max(ray), max(ray) / max(plain))


def _episodes_per_min(settings: tuple[str, ...], episodes: int, ticker: Ticker) -> float:
    config = load_config(None, [*LIMITS, *settings], "evaluate")
    tasks = chosen_tasks(config, "train")
    slots = [Slot(f"{number}", tasks[number % len(tasks)], 0) for number in range(WARMING + episodes)]
    with (
        TemporaryDirectory(prefix="clickgrad-bench-") as folder,
        asyncio.Runner() as runner,
        open_players(config, POLICY, Path(folder), runner, quiet=True) as play,
    ):
        runner.run(_play(slots[:WARMING], play, ticker))
        started = time.perf_counter()
        runner.run(_play(slots[WARMING:], play, ticker))
        return 60 * episodes / (time.perf_counter() - started)


async def _play(slots: list[Slot], play: Play, ticker: Ticker) -> None:
    played = await fill_slots(
        slots, play, concurrency=AT_ONCE, retries=0, stored={}, on_end=lambda trajectory: ticker.advance()
    )
    broken = next((trajectory.error for trajectory in played if not trajectory.usable), None)
    if broken is not None:
        raise InfraError(f"an episode broke, so there is nothing to measure: {broken}")

"""Demo: the policy that ships with the package does held-out tasks, one after the other, in the viewer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from clickgrad.backends.policies import PolicySpec, parse_policy, shipped_names
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.backends.venues import universe_of
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.live.showing import Show, play_rounds, served, take_seats
from clickgrad.live.studio import Stage
from clickgrad.rollout.live import LiveFolder
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import LIVE, TRAJECTORIES
from clickgrad.types import Task, Trajectory

REST_S = 5.0  # after a verdict, before the next task begins by itself
MAKE = "clickgrad clone --config quick --set clone.epochs=2 --run runs/demo-policy"


def demo_policy(named: str | None) -> PolicySpec:
    if named:
        return parse_policy(named)
    shipped = shipped_names()
    if not shipped:
        raise UserError(f"no policy ships with this copy: `{MAKE}` makes one, then add --policy runs/demo-policy")
    return parse_policy(f"shipped:{shipped[0]}")


async def demo(config: Config, policy: PolicySpec, run: Path, show: Show) -> list[Trajectory]:
    tasks = chosen_tasks(config, "test")
    folder = LiveFolder(run / LIVE, always=True, universe=universe_of(config), pace_s=show.pace_s)
    file = TrajectoryFile(run / TRAJECTORIES / "demo.jsonl.zst")
    before = len(file.read())
    stage = Stage("demo", folder, tasks, config.seed, before)
    coming = _shuffled(tasks, before)

    async def following() -> Task:
        """What somebody chose; else the next one, when the verdict has been read."""
        try:
            return await asyncio.wait_for(stage.next_task(), REST_S)
        except TimeoutError:
            return next(coming)

    with folder.opened():
        async with served(stage, config, run, show), AsyncExitStack() as stack:
            stage.tell(f"loading {policy}, a moment")
            stage.seat(await take_seats(stack, config, [policy], folder, file))
            return await play_rounds(stage, next(coming), show.once, following)


def _shuffled(tasks: Sequence[Task], seed: int) -> Iterator[Task]:
    rng = random.Random(seed)
    while True:
        yield from rng.sample(tasks, len(tasks))

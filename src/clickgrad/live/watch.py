"""Watch: one policy at work on a task, or two side by side on the same one, live in the viewer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from clickgrad.backends.policies import PolicySpec
from clickgrad.backends.tasks import chosen_tasks, find_task
from clickgrad.backends.venues import universe_of
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.live.showing import Show, play_rounds, served, take_seats
from clickgrad.live.studio import Stage
from clickgrad.rollout.live import LiveFolder
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import LIVE, TRAJECTORIES
from clickgrad.types import Trajectory

MOST = 2


async def watch(
    config: Config, task: str | None, specs: Sequence[PolicySpec], run: Path, show: Show
) -> list[Trajectory]:
    """Greedy. Episodes are kept in `run`; returns those of the last round when the show ends by itself."""
    if len(specs) > MOST:
        raise UserError(f"--policy: {len(specs)} of them; at most {MOST} are shown side by side")
    tasks = chosen_tasks(config, "all")
    first = find_task(tasks, task, config.tasks.suite) if task else tasks[0]
    folder = LiveFolder(run / LIVE, always=True, universe=universe_of(config), pace_s=show.pace_s)
    file = TrajectoryFile(run / TRAJECTORIES / "watch.jsonl.zst")
    stage = Stage("watch", folder, tasks, config.seed, len(file.read()))
    with folder.opened():
        async with served(stage, config, run, show), AsyncExitStack() as stack:
            stage.tell(f"loading {' and '.join(map(str, specs))}")
            stage.seat(await take_seats(stack, config, specs, folder, file))
            return await play_rounds(stage, first, show.once)

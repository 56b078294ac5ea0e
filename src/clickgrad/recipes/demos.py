"""Demonstrations: the scripted experts at work in the real browser."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.recipes.display import say, stage
from clickgrad.recipes.wiring import chosen_tasks, make_agent, open_policy, open_venue
from clickgrad.rollout.scheduler import Slot, fill_slots, filled_from
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Trajectory

SESSIONS = 4  # experts think in no time: more sessions than this only crowd the browser


def record_demos(config: Config, path: Path) -> list[Trajectory]:
    """The experts at work in the real browser; what is in the file already is not recorded again."""
    tasks = chosen_tasks(config, "demo")
    random.Random(config.seed).shuffle(order := list(tasks))
    slots = [Slot(task.id, task, config.seed) for task in order[: config.clone.demos]]
    file = TrajectoryFile(path)
    stored = {trajectory.episode: trajectory for trajectory in file.read()}
    known = filled_from(slots, stored, config.rollout.retries)
    if known is not None:
        return _passed(slots, known)
    with (
        open_policy("scripted:expert", config) as (policy, builder),
        asyncio.Runner() as runner,
        open_venue(config, runner) as venue,
        stage("demonstrations", len(slots), len(stored)) as ticker,
    ):

        def on_end(trajectory: Trajectory) -> None:
            file.append(trajectory)
            ticker.advance()

        agent = make_agent(config, policy, builder, temperature=1.0, run=path.parent)
        recorded = runner.run(
            fill_slots(
                slots,
                agent,
                venue,
                concurrency=min(config.rollout.concurrency, SESSIONS),
                retries=config.rollout.retries,
                stored=stored,
                on_end=on_end,
            )
        )
    return _passed(slots, recorded)


def _passed(slots: Sequence[Slot], recorded: Sequence[Trajectory]) -> list[Trajectory]:
    passed = [trajectory for trajectory in recorded if trajectory.reward == 1.0]
    if len(passed) < len(slots):
        say(f"{len(slots) - len(passed)} of {len(slots)} demonstrations did not pass and are left out")
    if not passed:
        raise UserError("no demonstration passed: `clickgrad doctor` checks the browser")
    return passed

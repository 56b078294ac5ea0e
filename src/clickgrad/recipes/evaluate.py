"""Evaluate: every task of a split, `attempts` times, judged; figures with n and interval."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from clickgrad.config import Config
from clickgrad.recipes.display import stage
from clickgrad.recipes.run_folder import open_run
from clickgrad.recipes.wiring import chosen_tasks, make_agent, open_policy, open_venue
from clickgrad.report.summary import EvalReport, success_rate, summarize
from clickgrad.rollout.scheduler import Slot, fill_slots
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Trajectory

REPORT = "report.json"


def evaluate(config: Config, policy_spec: str, run: Path, title: str = "evaluate", quiet: bool = False) -> EvalReport:
    """Resumable: episodes already in the folder are not run again."""
    options = config.evaluate
    tasks = chosen_tasks(config, options.split)
    tasks = tasks[: options.limit or len(tasks)]
    slots = [Slot(f"{task.id}/attempt-{k}", task, config.seed) for k in range(options.attempts) for task in tasks]
    with open_run(run, config, "evaluate", policy_spec):
        file = TrajectoryFile(run / "trajectories" / "evaluate.jsonl.zst")
        stored = {trajectory.episode: trajectory for trajectory in file.read()}
        seen = [trajectory for trajectory in stored.values() if trajectory.usable]
        with (
            open_policy(policy_spec, config) as (policy, builder),
            asyncio.Runner() as runner,
            open_venue(config, runner) as venue,
            stage(title, len(slots), len(seen), quiet) as ticker,
        ):

            def on_end(trajectory: Trajectory) -> None:
                file.append(trajectory)
                if trajectory.usable:
                    seen.append(trajectory)
                    ticker.advance(f"success {success_rate(seen).value:.0%}")

            started = time.monotonic()
            trajectories = runner.run(
                fill_slots(
                    slots,
                    make_agent(config, policy, builder, options.temperature, run),
                    venue,
                    concurrency=config.rollout.concurrency,
                    retries=config.rollout.retries,
                    stored=stored,
                    on_end=on_end,
                )
            )
        report = summarize(trajectories, time.monotonic() - started)
        report.save(run / REPORT)
        return report

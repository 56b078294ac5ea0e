"""Evaluate: every task of a split, `attempts` times, judged; figures with n and interval."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clickgrad.config import Config
from clickgrad.errors import UserError, warn
from clickgrad.recipes.display import Ticker, stage
from clickgrad.recipes.hosted import metered
from clickgrad.recipes.interrupts import run_async
from clickgrad.recipes.judging import open_judge
from clickgrad.recipes.run_folder import TRAJECTORIES, open_run
from clickgrad.recipes.wiring import chosen_tasks, make_agent, open_policy, open_venue
from clickgrad.report.metrics import timed
from clickgrad.report.page import read_report
from clickgrad.report.summary import EvalReport, success_rate, summarize
from clickgrad.rollout.scheduler import Play, Slot, fill_slots, filled_from, player
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Trajectory

REPORT = "report.json"


def evaluate(config: Config, policy_spec: str, run: Path, title: str = "evaluate", quiet: bool = False) -> EvalReport:
    """Resumable: episodes already in the folder are not run again."""
    options = config.evaluate
    if config.chat.reasoning and options.temperature and policy_spec.startswith("chat:"):
        raise UserError("chat.reasoning sends no temperature, so evaluate.temperature would do nothing: leave one out")
    tasks = chosen_tasks(config, options.split)
    tasks = tasks[: options.limit or len(tasks)]
    slots = [Slot(f"{task.id}/attempt-{k}", task, config.seed) for k in range(options.attempts) for task in tasks]
    with open_run(run, config, "evaluate", policy_spec):
        file = TrajectoryFile(run / TRAJECTORIES / "evaluate.jsonl.zst")
        stored = {trajectory.episode: trajectory for trajectory in file.mend(warn)}
        filled = filled_from(slots, stored, config.rollout.retries)
        if filled is None:
            done = sum(trajectory.usable for trajectory in stored.values())
            with timed(run, "evaluation"), stage(title, len(slots), done, quiet) as ticker:
                filled = _run(config, policy_spec, run, slots, file, stored, ticker, quiet)
        report = summarize(filled)
        report.save(run / REPORT)
        read_report(run).save_page(run)
        return report


def _run(
    config: Config,
    policy_spec: str,
    run: Path,
    slots: list[Slot],
    file: TrajectoryFile,
    stored: dict[str, Trajectory],
    ticker: Ticker,
    quiet: bool,
) -> list[Trajectory]:
    seen = list(stored.values())

    def on_end(trajectory: Trajectory) -> None:
        file.append(trajectory)
        seen.append(trajectory)
        if trajectory.usable:
            ticker.advance(f"success {success_rate(seen).share}")

    with asyncio.Runner() as runner, open_players(config, policy_spec, run, runner, quiet) as play:
        return run_async(
            runner,
            fill_slots(
                slots,
                play,
                concurrency=config.rollout.concurrency,
                site_sessions=config.rollout.site_sessions,
                retries=config.rollout.retries,
                stored=stored,
                on_end=on_end,
            ),
        )


@contextmanager
def open_players(config: Config, policy_spec: str, run: Path, runner: asyncio.Runner, quiet: bool) -> Iterator[Play]:
    if config.cluster.address:
        from clickgrad.recipes.on_cluster import open_players_on_cluster

        with open_players_on_cluster(config, policy_spec, run, runner) as play:
            yield play
        return
    with (
        open_policy(policy_spec, config) as (policy, builder),
        metered(config, policy, run, quiet),
        open_venue(config, runner, open_judge(config)) as venue,
    ):
        yield player(make_agent(config, policy, builder, config.evaluate.temperature, run), venue)

"""Evaluate: every task of a split, `attempts` times, judged; figures with n and interval."""

from __future__ import annotations

from pathlib import Path

from clickgrad.backends import open_backend
from clickgrad.backends.policies import ChatModel, PolicySpec, TorchModel, settle_compute
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.config import Config
from clickgrad.display import Ticker, progress_bar
from clickgrad.errors import UserError, warn
from clickgrad.report.metrics import timed
from clickgrad.report.page import read_report
from clickgrad.report.summary import EvalReport, success_rate, summarize
from clickgrad.rollout.scheduler import Bounds, Scheduler, Slot, filled_from, most_tries
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_folder import open_run
from clickgrad.run_layout import EVALUATION, REPORT_JSON, TRAJECTORIES
from clickgrad.types import End, Trajectory


async def evaluate(
    config: Config, policy: PolicySpec, run: Path, title: str = "evaluate", quiet: bool = False
) -> EvalReport:
    """Resumable: episodes already in the folder are not run again, unless every one of them crashed."""
    options, rollout = config.evaluate, config.rollout
    if config.chat.reasoning and options.temperature and isinstance(policy, ChatModel):
        raise UserError("chat.reasoning sends no temperature, so evaluate.temperature would do nothing: leave one out")
    tasks = chosen_tasks(config, options.split)
    tasks = tasks[: options.limit or len(tasks)]
    slots = [Slot(f"{task.id}/attempt-{k}", task, config.seed) for k in range(options.attempts) for task in tasks]
    with open_run(run, config, "evaluate", str(policy)):
        file = TrajectoryFile(run / TRAJECTORIES / EVALUATION)
        stored = {trajectory.episode: trajectory for trajectory in file.mend(warn)}
        tries = max(rollout.retries + 1, most_tries(slots, stored))
        filled = filled_from(slots, stored, tries - 1)
        if filled and all(trajectory.end is End.CRASHED for trajectory in filled):
            # Whatever was broken may be mended by now: each slot gets as many tries again.
            tries, filled = tries + rollout.retries + 1, None
        if filled is None:
            done = sum(trajectory.usable for trajectory in stored.values())
            bounds = Bounds(rollout.concurrency, tries - 1, rollout.site_sessions)
            with timed(run, "evaluation"), progress_bar(title, len(slots), done, quiet) as ticker:
                if isinstance(policy, TorchModel):
                    config = settle_compute(config, run)
                async with open_backend(config, run, quiet).players(policy) as players:
                    filled = await Scheduler(players.play, bounds, stored, Kept(file, stored, ticker)).fill(slots)
        report = summarize(filled)
        report.save(run / REPORT_JSON)
        read_report(run).save_page(run)
        return report


class Kept:
    """Stores episodes as they end, and shows how it goes."""

    def __init__(self, file: TrajectoryFile, stored: dict[str, Trajectory], ticker: Ticker) -> None:
        self._file = file
        self._seen = list(stored.values())
        self._ticker = ticker

    def __call__(self, trajectory: Trajectory) -> None:
        self._file.append(trajectory)
        self._seen.append(trajectory)
        if trajectory.usable:
            self._ticker.advance(f"success {success_rate(self._seen).share}")

"""What a user does from Python: the recipes and tools as plain functions, for scripts and notebooks.

Each waits until its work is done. Where an event loop runs already, as in a notebook, the work gets a thread with a
loop of its own. The coroutines themselves are in `clickgrad.recipes` and `clickgrad.tools`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from clickgrad.backends.policies import PolicySpec, parse_policy
from clickgrad.config import Config
from clickgrad.types import Task, Trajectory

if TYPE_CHECKING:  # torch is loaded only by those who use a model
    from clickgrad.report.compare import Comparison
    from clickgrad.report.page import RunReport
    from clickgrad.report.summary import EvalReport
    from clickgrad.tools.prove import Proof

T = TypeVar("T")
Policy = str | PolicySpec  # as on the command line, `scripted:expert`, or parsed


def train(config: Config, run: str | Path) -> RunReport:
    """Demonstrations, cloning, reinforcement, with an evaluation around each; goes on where `run` stands."""
    from clickgrad.recipes.train import train

    return _wait(train(config, Path(run)))


def demos(config: Config, out: str | Path) -> list[Trajectory]:
    """Demonstrations by the scripted experts, also kept in the file `out`."""
    from clickgrad.recipes.demos import record_demos

    return _wait(record_demos(config, Path(out)))


def clone(config: Config, run: str | Path, demos: str | Path | None = None) -> Path:
    """Behaviour cloning; returns the folder of the model. Demonstrations are recorded when none are given."""
    from clickgrad.recipes.clone import clone

    return _wait(clone(config, Path(run), None if demos is None else Path(demos)))


def reinforce(config: Config, start: str | Path, run: str | Path) -> Path:
    """Reinforcement from the model or run folder `start`; returns the folder of the model."""
    from clickgrad.recipes.reinforce import reinforce

    return _wait(reinforce(config, str(start), Path(run)))


def evaluate(config: Config, policy: Policy, run: str | Path) -> EvalReport:
    """Success of a policy on a split, with n and interval. A policy that a run made is prompted as it was trained."""
    from clickgrad.backends.agents import as_trained
    from clickgrad.recipes.evaluate import evaluate

    spec = _parsed(policy)
    return _wait(evaluate(as_trained(config, spec), spec, Path(run), quiet=True))


def play(config: Config, policy: Policy, tasks: Sequence[Task]) -> list[Trajectory]:
    """One episode of each task, in its order; nothing is kept. Greedy, unless `evaluate.temperature` says otherwise."""
    from clickgrad.backends import open_backend
    from clickgrad.backends.agents import as_trained
    from clickgrad.rollout.scheduler import Bounds, Scheduler, Slot

    spec, rollout = _parsed(policy), config.rollout

    async def played() -> list[Trajectory]:
        slots = [Slot(f"play-{number:05d}/{task.id}", task, config.seed) for number, task in enumerate(tasks)]
        bounds = Bounds(rollout.concurrency, rollout.retries, rollout.site_sessions)
        with TemporaryDirectory(prefix="clickgrad-play-") as folder:
            backend = open_backend(as_trained(config, spec), Path(folder), quiet=True)
            async with backend.players(spec) as players:
                return await Scheduler(players.play, bounds, {}, lambda _: None).fill(slots)

    return _wait(played())


def prove(config: Config) -> Proof:
    """Whether the tasks are sound: experts pass, doing nothing and near misses fail."""
    from clickgrad.tools.prove import prove

    return _wait(prove(config, quiet=True))


def compare(a: str | Path, b: str | Path) -> Comparison:
    """Two evaluations, task by task."""
    from clickgrad.tools.compare import compare_runs

    return compare_runs(Path(a), Path(b))


def read_run(run: str | Path) -> RunReport:
    """What a run came to: its evaluations, metrics and times."""
    from clickgrad.report.page import read_report

    return read_report(Path(run))


def read_trajectories(path: str | Path) -> list[Trajectory]:
    """All episodes of a trajectory file, *.jsonl.zst."""
    from clickgrad.rollout.store import TrajectoryFile

    return TrajectoryFile(Path(path)).read()


def _parsed(policy: Policy) -> PolicySpec:
    return parse_policy(policy) if isinstance(policy, str) else policy


def _wait(work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1, "clickgrad") as thread:
        return thread.submit(asyncio.run, work).result()

"""What a person is told around `clickgrad train`: its stages with their share, where to watch, what is next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clickgrad.backends.tasks import chosen_tasks
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.planning.estimate import estimate
from clickgrad.report.episodes import Episode
from clickgrad.report.page import read_evaluation

# As the recipes call the parts that `estimate` reckons, in its order.
STAGES = (
    "evaluate before cloning",
    "demonstrations",
    "clone",
    "evaluate after cloning",
    "reinforce",
    "evaluate after reinforcement",
)


def reckon_stages(config: Config) -> list[tuple[str, float]]:
    """Stage and seconds; empty where nobody can say."""
    try:
        parts = estimate(config, "train", chosen_tasks(config, "all")).parts
    except UserError:
        return []
    if len(parts) != len(STAGES):
        return []
    return [(stage, seconds) for stage, (_, seconds) in zip(STAGES, parts, strict=True)]


def opening_lines(stages: list[tuple[str, float]], run: Path) -> Iterator[str]:
    total = sum(seconds for _, seconds in stages)
    if total:
        yield f"plan: about {total / 60:.0f} min on two free cores, or as long as this machine takes"
        for number, (name, seconds) in enumerate(stages, 1):
            yield f"  {number}. {name:<29} {seconds / 60:5.1f} min  {100 * seconds / total:3.0f} %"
    yield f"watch: `clickgrad view {run}` in another terminal has curves, episodes and, under Live, those that run"
    yield "stop: Ctrl-C whenever you like; the same command goes on"


def closing_lines(run: Path) -> Iterator[str]:
    before, after = run / "evaluate-clone", run / "evaluate-reinforce"
    yield "next:"
    yield f"  clickgrad view {run}"
    if task := _gained(before, after):
        agents = f"--policy {run / 'clone'} --policy {run / 'reinforce'}"
        yield f"  clickgrad watch {task} --config {run / 'config.toml'} {agents}"
        yield f"  clickgrad film {after / 'trajectories' / 'evaluate.jsonl.zst'} --episode {task}"
    yield f"  clickgrad compare {before} {after}"


def _gained(before: Path, after: Path) -> str:
    """A task that failed before reinforcement and passed after it: the one to look at first."""
    old = {one.task: one for one in _episodes(before)}
    return next((one.task for one in _episodes(after) if one.reward == 1.0 and _failed(old.get(one.task))), "")


def _failed(episode: Episode | None) -> bool:
    return episode is not None and episode.reward == 0.0


def _episodes(stage: Path) -> list[Episode]:
    return read_evaluation(stage, [])

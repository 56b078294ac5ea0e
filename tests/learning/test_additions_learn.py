"""All additions at work in the recipe's own loop: what is learned, and that a resumed run is the same run."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from shops import TASKS, demonstrations, train

from clickgrad.config import load_config
from clickgrad.learn import checkpoint
from clickgrad.recipes.clone import clone
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import CHECKPOINTS, TRAJECTORIES, probe_trajectories
from clickgrad.types import UrlCheck

ALL = [
    "lora.rank=8",
    "lora.alpha=16",
    "reinforce.lr=1e-3",
    "reinforce.group_size=8",
    "reinforce.warmup=2",
    "reinforce.divisor=none",
    "reinforce.average_over=asked",
    "reinforce.clip_high=0.28",
    "reinforce.turn_discount=0.95",
    "reinforce.credit=tree",
    "reinforce.curriculum=posterior",
    "reinforce.first_part=3",
    "reinforce.starts=demos",
    "reinforce.branches=2",
    "reinforce.forks=2",
    "reinforce.replay=1",
    "reinforce.ratio_bound=2",
]


def weights(run: Path, step: int) -> bytes:
    return (run / CHECKPOINTS / f"step-{step:04d}" / "weights.safetensors").read_bytes()


@pytest.mark.timeout(900)
def test_with_all_additions_it_learns_and_a_run_resumed_on_its_files_ends_in_the_same_weights(
    start: Path, tmp_path: Path
) -> None:
    steps, options = 8, [*ALL, "reinforce.steps=8", "reinforce.keep=100"]
    rows = train(start, tmp_path / "straight", *options, followed=demonstrations(start))
    assert rows[0]["success"] < 0.45, "the start must leave something to learn"
    assert sum(row["success"] for row in rows[-3:]) / 3 > 0.7, [row["success"] for row in rows]
    check_episodes(tmp_path / "straight", rows)

    run = tmp_path / "resumed"
    shutil.copytree(tmp_path / "straight" / TRAJECTORIES, run / TRAJECTORIES)
    for step in (2, 3, steps):  # in three sittings, each from the checkpoint of the one before
        train(
            start, run, *options[:-2], f"reinforce.steps={step}", "reinforce.keep=100", followed=demonstrations(start)
        )
    for step in range(1, steps + 1):
        assert weights(run, step) == weights(tmp_path / "straight", step)


def check_episodes(run: Path, rows: list[dict[str, Any]]) -> None:
    sources = set()
    for row in rows:
        stored = {
            one.episode: one for one in TrajectoryFile(run / TRAJECTORIES / f"step-{row['step']:04d}.jsonl.zst").read()
        }
        assert all(one.usable for one in stored.values())
        for one in stored.values():
            if not one.given:
                continue
            sources.add(one.given.source)
            assert 0 < one.given.turns < len(one.turns)
            if one.given.source == "branch":
                trunk = stored[one.given.episode]
                again = [(turn.observation, turn.prompt_ids, turn.completion) for turn in one.turns[: one.given.turns]]
                assert again == [
                    (turn.observation, turn.prompt_ids, turn.completion) for turn in trunk.turns[: one.given.turns]
                ]
                assert one.chosen[0].prompt_ids == trunk.turns[one.given.turns].prompt_ids, "one page, several replies"
        true = [one for one in stored.values() if one.given is None]
        assert row["success"] == pytest.approx(sum(one.reward or 0 for one in true) / len(true), abs=1e-5)
        assert row["true_starts"] == len(true)
    assert sources == {"demo", "branch"}


SHORT = ["lora.rank=0", "reinforce.lr=3e-4", "reinforce.groups=2", "reinforce.group_size=8", "reinforce.probe_every=1"]
PROBED = [replace(task, id=f"{task.id}-{number}") for number in range(4) for task in TASKS]


def probed(run: Path, step: int) -> list[float | None]:
    return [one.reward for one in TrajectoryFile(probe_trajectories(run, step)).read()]


@pytest.mark.timeout(900)
def test_the_probe_is_greedy_on_the_same_tasks_and_ends_a_run_that_is_worse_than_its_start(
    start: Path, tmp_path: Path
) -> None:
    """Greedy, so alike tasks fare alike. The second run is told that at its start it had solved what nobody can."""
    rows = train(start, tmp_path / "fair", *SHORT, "reinforce.steps=2", probed=PROBED)
    assert len(rows) == 2
    for row in rows:
        rewards = probed(tmp_path / "fair", row["step"])
        assert sorted(rewards, key=str)[0:8:4] in ([0.0, 0.0], [0.0, 1.0], [1.0, 1.0])
        assert row["probe_success"] == sum(map(bool, rewards)) / 8
    scores = {step: sum(map(bool, probed(tmp_path / "fair", step))) / 8 for step in range(3)}
    best = checkpoint.best(tmp_path / "fair" / CHECKPOINTS)
    assert best is not None
    assert scores[checkpoint.step_of(best)] == max(scores.values())

    proud = tmp_path / "proud"
    told = TrajectoryFile(probe_trajectories(tmp_path / "fair", 0)).read()
    TrajectoryFile(probe_trajectories(proud, 0)).extend([replace(one, reward=1.0) for one in told])
    hopeless = [replace(task, checks=(UrlCheck("toy", "/nowhere"),)) for task in PROBED]
    for _ in range(2):  # it stays ended
        (row,) = train(start, proud, *SHORT, "reinforce.steps=9", probed=hopeless)
        assert (row["probe_success"], row["probe_gain"]) == (0.0, -1.0)
    last = checkpoint.latest(proud / CHECKPOINTS)
    assert last is not None
    assert checkpoint.read_progress(last).ended == "worse"
    assert checkpoint.best(proud / CHECKPOINTS) == proud / CHECKPOINTS / "step-0000"


@pytest.mark.timeout(900)
def test_cloning_goes_on_for_its_minutes_and_what_is_best_on_held_out_demonstrations_comes_out(
    start: Path, tmp_path: Path
) -> None:
    demos = tmp_path / "demos.jsonl.zst"
    TrajectoryFile(demos).extend(demonstrations(start))
    settings = [f"model.path={start}", "model.device=cpu", "lora.rank=4", "clone.held_out=0.5", "clone.epochs=1000"]
    config = load_config(None, [*settings, "clone.minutes=0.02", "clone.lr=1e-2"], "clone")
    for _ in range(2):
        model = asyncio.run(clone(config, tmp_path / "clone", demos))
    assert (model / "model.safetensors").is_file()
    last, best = (look(tmp_path / "clone" / CHECKPOINTS) for look in (checkpoint.latest, checkpoint.best))
    assert last is not None
    assert best is not None
    progress = checkpoint.read_progress(last)
    assert progress.spent_s >= 1.2
    assert 0 < progress.step < 1000, "the second call found it done"
    assert min(progress.held_out) == progress.held_out[checkpoint.step_of(best)], (
        "an epoch here is a step; 0 is the start"
    )

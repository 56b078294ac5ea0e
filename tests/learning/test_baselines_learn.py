"""The four baselines in the recipe's own loop: what they learn, and only from true rewards, and that they resume."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from shops import TASKS, train

from clickgrad.algorithms.phases import NO_SUCCESS
from clickgrad.learn.checkpoint import VALUES
from clickgrad.run_layout import CHECKPOINTS, TRAJECTORIES, step_trajectories
from clickgrad.types import PageCheck

STEPS = 3
COMMON = [
    "lora.rank=8",
    "lora.alpha=16",
    "reinforce.lr=3e-3",
    "reinforce.kl_beta=0",
    "reinforce.max_refills=0",
    "reinforce.batch=32",
    "reinforce.keep=100",
]
WAYS: dict[str, list[str]] = {
    "filtered-bc": ["filtered_bc.per_task=16"],  # the more there is to clone, the less it drifts by chance
    "awr": [],
    "digirl": ["digirl.turns=128", "digirl.top_share=0.5"],
    "webrl": [],
}


def options(algorithm: str, steps: int = STEPS) -> list[str]:
    return [f"reinforce.algorithm={algorithm}", f"reinforce.steps={steps}", *COMMON, *WAYS[algorithm]]


def checkpoint_files(run: Path, step: int) -> dict[str, bytes]:
    folder = run / CHECKPOINTS / f"step-{step:04d}"
    return {file.name: file.read_bytes() for file in folder.glob("*.safetensors")}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("algorithm", WAYS)
def test_it_learns_and_a_run_resumed_or_offline_on_its_files_ends_in_the_same_weights(
    start: Path, tmp_path: Path, algorithm: str
) -> None:
    rows = train(start, tmp_path / "straight", *options(algorithm))
    rates = [row["success"] for row in rows]
    assert rates[0] < 0.45, "the start must leave something to learn"
    assert rates[-1] > 0.7, rates
    measured = [row["value_auc"] for row in rows if row["value_auc"] is not None]
    assert bool(measured) == (algorithm != "filtered-bc")
    assert rows[-1]["kl"] is rows[-1]["sampler_gap"] is None

    first = step_trajectories(tmp_path / "straight", 1)
    train(start, tmp_path / "offline", *options(algorithm), f"reinforce.rollouts={first}")
    assert checkpoint_files(tmp_path / "offline", 1) == checkpoint_files(tmp_path / "straight", 1), "one pass"
    assert not (tmp_path / "offline" / CHECKPOINTS / "step-0002").exists()

    run = tmp_path / "resumed"
    shutil.copytree(tmp_path / "straight" / TRAJECTORIES, run / TRAJECTORIES)
    for step in (STEPS - 1, STEPS):  # in two sittings
        train(start, run, *options(algorithm, step))
    for step in range(1, STEPS + 1):
        files = checkpoint_files(run, step)
        assert files == checkpoint_files(tmp_path / "straight", step)
        assert (VALUES in files) == (algorithm != "filtered-bc")


@pytest.mark.parametrize("algorithm", WAYS)
def test_shuffled_rewards_teach_it_nothing(start: Path, tmp_path: Path, algorithm: str) -> None:
    """Chance is 1/4, and with true rewards the same steps come to more than 0.8. Averaged: one seed may drift."""
    shuffled = [*options(algorithm), "reinforce.shuffle_rewards=true"]
    ends = [train(start, tmp_path / str(seed), *shuffled, f"seed={seed}")[-1]["success"] for seed in range(3)]
    assert sum(ends) / len(ends) < 0.5, ends


@pytest.mark.parametrize("algorithm", ["filtered-bc", "digirl"])
def test_a_phase_without_success_changes_nothing_and_says_so_once(
    start: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], algorithm: str
) -> None:
    hopeless = [replace(task, checks=(PageCheck(("nowhere",)),)) for task in TASKS]
    rows = train(start, tmp_path, *options(algorithm, 2), "reinforce.group_size=2", tasks=hopeless)
    assert [(row["success"], row["pool_turns"], row["loss"]) for row in rows] == [(0.0, 0, None)] * 2
    assert [line for line in capsys.readouterr().out.splitlines() if NO_SUCCESS in line] == [
        f"step {step}: {NO_SUCCESS}" for step in (1, 2)
    ]
    learned = [checkpoint_files(tmp_path, step)["weights.safetensors"] for step in (1, 2)]
    assert learned[0] == learned[1]

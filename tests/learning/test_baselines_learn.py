"""The four baselines in the recipe's own loop: what they learn, and only from true rewards, and that they resume."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from shops import train

from clickgrad.learn.checkpoint import VALUES
from clickgrad.run_layout import CHECKPOINTS, TRAJECTORIES, step_trajectories

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


@pytest.mark.timeout(300)
@pytest.mark.parametrize("algorithm", WAYS)
def test_it_learns_and_a_run_resumed_or_offline_on_its_files_ends_in_the_same_weights(
    start: Path, tmp_path: Path, algorithm: str
) -> None:
    rows = train(start, tmp_path / "straight", *options(algorithm))
    rates = [row["success"] for row in rows]
    assert rates[0] < 0.45, "the start must leave something to learn"
    assert rates[-1] > 0.55, rates
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


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("algorithm", WAYS)
def test_shuffled_rewards_teach_it_nothing(start: Path, tmp_path: Path, algorithm: str) -> None:
    """Chance is 1/4. Averaged over seeds: one run may drift anywhere, all together not."""
    shuffled = [*options(algorithm, 4), "reinforce.shuffle_rewards=true"]
    ends = [train(start, tmp_path / str(seed), *shuffled, f"seed={seed}")[-1]["success"] for seed in range(6)]
    assert sum(ends) / len(ends) < 0.5, ends
    true = [train(start, tmp_path / f"true-{seed}", *options(algorithm, 4), f"seed={seed}") for seed in range(3)]
    assert min(rows[-1]["success"] for rows in true) > 0.55, "over seeds"

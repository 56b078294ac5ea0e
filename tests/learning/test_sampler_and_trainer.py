"""Where sampler and trainer are not the same policy: rounded weights, and sampling that runs ahead of learning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from shops import train

from clickgrad.learn.checkpoint import step_folder
from clickgrad.learn.logprobs import collate, reply_logprobs
from clickgrad.learn.samples import clone_samples
from clickgrad.policy.models import load_model
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import CHECKPOINTS, TRAJECTORIES
from clickgrad.types import Trajectory

SMALL = ["lora.rank=0", "reinforce.lr=5e-4", "reinforce.groups=2", "reinforce.group_size=8", "reinforce.keep=100"]


def sampled_for(run: Path, step: int) -> list[Trajectory]:
    return list(TrajectoryFile(run / TRAJECTORIES / f"step-{step:04d}.jsonl.zst").read())


def policy_at(start: Path, run: Path, version: int) -> Any:
    """The exact weights after so many steps."""
    model = load_model(str(start)).model
    if version:
        model.load_state_dict(load_file(step_folder(run / CHECKPOINTS, version) / "weights.safetensors"), strict=False)
    return model


def gaps(model: Any, trajectories: list[Trajectory]) -> list[float]:
    """Of each turn: the largest difference of the sampler's logprobs from the model's own."""
    batch = collate([sample for trajectory in trajectories for sample in clone_samples(trajectory)])
    with torch.no_grad():
        own = reply_logprobs(model, batch)[0]
    return [float(gap) for gap in ((own - batch.old_logprobs_BK).abs() * batch.loss_BK).amax(1)]


@pytest.mark.timeout(900)
def test_rounded_weights_sample_and_exact_ones_learn(start: Path, tmp_path: Path) -> None:
    options = ["model.compute=int8", "reinforce.steps=3"]
    rows = train(start, tmp_path, *SMALL, *options)
    for step, row in enumerate(rows, 1):
        rounded = gaps(policy_at(start, tmp_path, step - 1), sampled_for(tmp_path, step))
        assert 1e-4 < max(rounded) < 0.5, "nearly the trained policy, rounded anew at every step"
        assert 1e-4 < row["sampler_gap"] <= max(rounded) + 1e-4  # groups without contrast are not looked at
        assert row["grad_norm"] > 0
    moved = gaps(policy_at(start, tmp_path, 0), sampled_for(tmp_path, 3))
    assert max(moved) > max(rounded), "what sampled has learned"


@pytest.mark.timeout(900)
def test_sampling_one_step_ahead_is_never_older_and_says_which_policy_it_was(start: Path, tmp_path: Path) -> None:
    """Weights that arrive in the middle of a reply make it a mixed one: eight at a time, out of some thirty turns."""
    rows = train(start, tmp_path, *SMALL, "reinforce.max_staleness=1", "reinforce.steps=5", "rollout.concurrency=8")
    assert rows[0]["max_staleness"] == 0
    assert max(row["max_staleness"] for row in rows) == 1
    exact = total = 0
    for step in range(1, 6):
        trajectories = sampled_for(tmp_path, step)
        versions = [turn.completion.policy_version for one in trajectories for turn in one.turns]
        assert set(versions) <= {max(0, step - 2), step - 1}
        found = {version: gaps(policy_at(start, tmp_path, version), trajectories) for version in set(versions)}
        exact += sum(found[version][place] < 1e-4 for place, version in enumerate(versions))
        total += len(versions)
    assert exact > total / 2

"""Checkpoints: all that a run needs to go on, written so that a half-written one is never mistaken for a whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from clickgrad.errors import UserError
from clickgrad.learn.crew import split_like, whole
from clickgrad.learn.trainee import Trainee

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands after a step. Counters are totals since the run began."""

    step: int = 0
    tasks_taken: int = 0  # position in the endless shuffled sequence of tasks
    episodes: int = 0
    crashed: int = 0
    skipped_groups: int = 0
    records: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # task -> episodes passed, episodes tried


def step_folder(root: Path, step: int) -> Path:
    return root / f"step-{step:04d}"


def step_of(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))


def latest(root: Path) -> Path | None:
    """The newest whole checkpoint: only a finished one has its final name."""
    return max(root.glob("step-[0-9]*"), key=step_of, default=None)


def save(
    root: Path,
    progress: Progress,
    trainee: Trainee,
    optimizer: torch.optim.Optimizer,
    keep: int,
    score: float | None = None,
) -> None:
    """The last `keep` stay, and the one with the best score so far. A crew calls it together, the first one writes."""
    weights, moments = trainee.weights(), _moments(optimizer)
    if not trainee.crew.leads:
        return
    final = step_folder(root, progress.step)
    partial = root / f".partial-{final.name}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    safetensors.torch.save_file(weights, partial / "weights.safetensors")
    safetensors.torch.save_file(moments, partial / "optimizer.safetensors")
    state: dict[str, Any] = {"format": FORMAT, "score": score} | {
        name: getattr(progress, name) for name in Progress.__dataclass_fields__
    }
    (partial / "progress.json").write_text(json.dumps(state))
    for file in partial.iterdir():
        _flush(file)
    shutil.rmtree(final, ignore_errors=True)
    partial.rename(final)
    _flush(root)
    for old in sorted(root.glob("step-[0-9]*"), key=step_of)[:-keep]:
        if old != best(root):
            shutil.rmtree(old)


def best(root: Path) -> Path | None:
    """The checkpoint with the highest score, the later one of two; None when no checkpoint has a score."""
    scored = [(folder, _read_state(folder).get("score")) for folder in root.glob("step-[0-9]*")]
    known = [(score, step_of(folder), folder) for folder, score in scored if score is not None]
    return max(known)[2] if known else None


def load(folder: Path, trainee: Trainee, optimizer: torch.optim.Optimizer) -> Progress:
    try:
        state = _read_state(folder)
        if state.pop("format") != FORMAT:
            raise UserError(f"checkpoint {folder} is of another version of clickgrad; start the run in a new folder")
        del state["score"]
        trainee.load_weights(safetensors.torch.load_file(folder / "weights.safetensors"))
        _load_moments(optimizer, safetensors.torch.load_file(folder / "optimizer.safetensors"))
        state["records"] = {task: tuple(record) for task, record in state["records"].items()}
        return Progress(**state)
    except UserError:
        raise
    except (OSError, ValueError, LookupError, TypeError, RuntimeError, safetensors.SafetensorError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"checkpoint {folder} cannot be read ({reason}): delete it to go on from the one before"
        ) from error


def _read_state(folder: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((folder / "progress.json").read_text())
    return state


def _moments(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """`3.exp_avg` is a moment of the fourth parameter. Learning rates are not state: every step sets its own."""
    state = optimizer.state_dict()["state"]
    return {f"{index}.{name}": whole(value) for index, moments in state.items() for name, value in moments.items()}


def _load_moments(optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]) -> None:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in tensors.items():
        index, name = key.split(".")
        state.setdefault(int(index), {})[name] = split_like(parameters[int(index)], value)
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

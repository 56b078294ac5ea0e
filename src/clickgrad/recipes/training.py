"""What the two training recipes share: where a run stands, and what it leaves behind."""

from __future__ import annotations

import shutil
from pathlib import Path

from torch.optim import Optimizer

from clickgrad.learn import checkpoint
from clickgrad.learn.trainee import Trainee
from clickgrad.recipes.run_folder import CHECKPOINTS, METRICS, MODEL
from clickgrad.report.metrics import Metrics


def resume(run: Path, trainee: Trainee, optimizer: Optimizer) -> checkpoint.Progress:
    """Weights, optimizer and metrics as they were at the last checkpoint, or as at the start."""
    saved = checkpoint.latest(run / CHECKPOINTS)
    progress = checkpoint.load(saved, trainee, optimizer) if saved else checkpoint.Progress()
    Metrics(run / METRICS).rewind(progress.step)
    return progress


def is_finished(run: Path, steps: int) -> bool:
    """The model was exported after the last of `steps`: more steps than before make a run unfinished again."""
    saved = checkpoint.latest(run / CHECKPOINTS)
    return (run / MODEL).exists() and saved is not None and checkpoint.step_of(saved) >= steps


def export(trainee: Trainee, run: Path) -> None:
    partial = run / f".partial-{MODEL}"
    trainee.export(partial)
    shutil.rmtree(run / MODEL, ignore_errors=True)
    partial.rename(run / MODEL)

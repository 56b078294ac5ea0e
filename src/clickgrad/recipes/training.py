"""What the two training recipes share: where a run stands, and what it leaves behind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from torch.optim import Optimizer

from clickgrad.codec import to_plain
from clickgrad.errors import LearnError
from clickgrad.learn import checkpoint
from clickgrad.learn.step import StepFigures
from clickgrad.learn.trainee import Trainee
from clickgrad.recipes.display import say
from clickgrad.recipes.run_folder import CHECKPOINTS, METRICS, MODEL
from clickgrad.report.metrics import Metrics
from clickgrad.types import Sample

MOST_IN_A_ROW = 3


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


class SkippedSteps:
    """Steps whose loss or gradient was not finite: each is kept for inspection, and several in a row end the run."""

    def __init__(self, run: Path) -> None:
        self._folder = run / "skipped"
        self._in_a_row = 0

    def note(self, step: int, samples: Sequence[Sample], figures: StepFigures) -> None:
        if not figures.skipped:
            self._in_a_row = 0
            return
        self._in_a_row += 1
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"step-{step:04d}.json"
        file.write_text(json.dumps([to_plain(sample) for sample in samples]))
        what = (
            f"step {step} was skipped: loss {figures.loss}, gradient norm {figures.grad_norm}; its batch is in {file}"
        )
        if self._in_a_row == MOST_IN_A_ROW:
            raise LearnError(
                f"{MOST_IN_A_ROW} steps in a row were not finite; lower the learning rate. The last: {what}"
            )
        say(what)


def export(trainee: Trainee, run: Path) -> None:
    partial = run / f".partial-{MODEL}"
    trainee.export(partial)
    shutil.rmtree(run / MODEL, ignore_errors=True)
    partial.rename(run / MODEL)

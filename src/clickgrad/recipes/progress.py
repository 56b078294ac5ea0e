"""Where a training run stands, and what it leaves behind: shared by cloning and reinforcement."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

import torch

from clickgrad.codec import to_plain
from clickgrad.display import say
from clickgrad.errors import InfraError, LearnError, boundary, warn
from clickgrad.integrity import broken_seal, seal, set_aside, write_whole, writing
from clickgrad.learn import checkpoint
from clickgrad.learn.learner import Learner
from clickgrad.learn.progress import Progress
from clickgrad.learn.step import StepFigures
from clickgrad.report.metrics import Metrics
from clickgrad.run_layout import CHECKPOINTS, CONFIG, MADE_BY, METRICS, MODEL, SKIPPED
from clickgrad.types import Sample

MOST_IN_A_ROW = 3
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class LearnerThread:
    """Updates beside the event loop, in one thread that torch knows. A context manager.

    Whoever is cancelled while he waits ends the update at its next micro-batch.
    """

    def __init__(self, learner: Learner, show: Callable[[int, int], None]) -> None:
        # Torch counts its threads by the thread that asks: this one shall have as many.
        self._pool = ThreadPoolExecutor(1, "learner", torch.set_num_threads, (torch.get_num_threads(),))
        self._show = show
        self._cancelled = False
        learner.on_progress = self._on_progress

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cancelled = True
        self._pool.shutdown()

    async def run(
        self, work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
    ) -> Result:
        with boundary(InfraError, f"the learner's {work.__name__}"):  # out of memory, most likely
            return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*arguments, **named))

    def _on_progress(self, done: int, total: int) -> None:
        if self._cancelled:
            raise LearnError("the update was cancelled")
        self._show(done, total)


def resume(run: Path, learner: Learner, need_all: bool = False) -> Progress:
    """Weights, optimizer and metrics as they were at the last whole checkpoint, or as at the start."""
    checkpoint.set_aside_damaged(run / CHECKPOINTS, warn, need_all)
    saved = checkpoint.latest(run / CHECKPOINTS)
    progress = learner.load(saved) if saved else Progress()
    Metrics(run / METRICS).rewind(progress.step, warn)
    return progress


def is_finished(run: Path, steps: int) -> bool:
    """The model was exported after the last of `steps`: more steps than before make a run unfinished again."""
    if (run / MODEL).exists() and (fault := broken_seal(run / MODEL)):
        aside = set_aside(run / MODEL)
        warn(f"the model {run / MODEL} is damaged ({fault}): kept as {aside.name}; it is made anew")
    saved = checkpoint.latest(run / CHECKPOINTS)
    return (run / MODEL).exists() and saved is not None and checkpoint.step_of(saved) >= steps


class SkippedSteps:
    """Steps whose loss or gradient was not finite: each is kept for inspection, and several in a row end the run."""

    def __init__(self, run: Path) -> None:
        self._folder = run / SKIPPED
        self._in_a_row = 0

    def note(self, step: int, samples: Sequence[Sample], figures: StepFigures) -> None:
        if not figures.skipped:
            self._in_a_row = 0
            return
        self._in_a_row += 1
        file = self._folder / f"step-{step:04d}.json"
        with writing(file):
            self._folder.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps([to_plain(sample) for sample in samples]))
        what = (
            f"step {step} was skipped: loss {figures.loss}, gradient norm {figures.grad_norm}; its batch is in {file}"
        )
        if self._in_a_row == MOST_IN_A_ROW:
            raise LearnError(
                f"{MOST_IN_A_ROW} steps in a row were not finite; lower the learning rate. The last: {what}"
            )
        say(what)


def export(learner: Learner, run: Path) -> None:
    partial = run / f".partial-{MODEL}"
    shutil.rmtree(partial, ignore_errors=True)
    with writing(run / MODEL):
        learner.export(partial)
        shutil.copyfile(run / CONFIG, partial / MADE_BY)
        seal(partial)
        shutil.rmtree(run / MODEL, ignore_errors=True)
        partial.rename(run / MODEL)

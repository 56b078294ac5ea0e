"""What the two training recipes share: who learns, where a run stands, and what it leaves behind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clickgrad.codec import to_plain
from clickgrad.config import Config
from clickgrad.errors import LearnError, warn
from clickgrad.integrity import broken_seal, seal, set_aside, writing
from clickgrad.learn import checkpoint
from clickgrad.learn.crew import ALONE, Crew, join_crew
from clickgrad.learn.learner import Learner, LocalLearner, follow
from clickgrad.learn.step import StepFigures
from clickgrad.learn.trainee import Trainee
from clickgrad.recipes.display import say
from clickgrad.recipes.run_folder import CHECKPOINTS, CONFIG, MADE_BY, METRICS, MODEL
from clickgrad.recipes.wiring import load_torch, model_source
from clickgrad.report.metrics import Metrics
from clickgrad.types import Sample

MOST_IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Apprentice:
    """Which policy is to be trained, and what its training will need. Enough to build it in any process."""

    config: Config
    start: str
    with_reference: bool = False
    separate_sampler: bool = False
    samples_here: bool = False  # from the learner's own copy; else that is only written to files

    def build(self, crew: Crew) -> LocalLearner:
        return LocalLearner(self.trainee(crew))

    def trainee(self, crew: Crew = ALONE) -> Trainee:
        lora, learner = self.config.lora, self.config.learner
        return Trainee(
            load_torch(self.config, model_source(self.start)),
            lora.rank,
            lora.alpha,
            self.config.seed,
            lora_layers=lora.layers,
            with_reference=self.with_reference,
            separate_sampler=self.separate_sampler,
            samples_here=self.samples_here,
            recompute=learner.recompute,
            autocast=learner.autocast,
            crew=crew,
        )


@contextmanager
def open_learner(apprentice: Apprentice) -> Iterator[LocalLearner]:
    """Trained by all processes that `torchrun` started; by this one without it."""
    crew = join_crew()
    crew.tell(apprentice)
    yield apprentice.build(crew)
    crew.tell(None)  # not after an error: the others may be inside a call, and end with this process


def follow_orders() -> None:
    """What all processes but the first do, from start to end."""
    crew = join_crew()
    while (apprentice := crew.hear()) is not None:
        follow(apprentice.build(crew))


def dismiss_crew() -> None:
    """The first one: there is nothing more to be done."""
    join_crew().tell(None)


def resume(run: Path, learner: Learner, need_all: bool = False) -> checkpoint.Progress:
    """Weights, optimizer and metrics as they were at the last whole checkpoint, or as at the start."""
    checkpoint.set_aside_damaged(run / CHECKPOINTS, warn, need_all)
    saved = checkpoint.latest(run / CHECKPOINTS)
    progress = learner.load(saved) if saved else checkpoint.Progress()
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


def export(learner: Learner, run: Path) -> None:
    partial = run / f".partial-{MODEL}"
    shutil.rmtree(partial, ignore_errors=True)
    with writing(run / MODEL):
        learner.export(partial)
        shutil.copyfile(run / CONFIG, partial / MADE_BY)
        seal(partial)
        shutil.rmtree(run / MODEL, ignore_errors=True)
        partial.rename(run / MODEL)

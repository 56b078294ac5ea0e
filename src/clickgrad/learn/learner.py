"""A policy in training with its optimizer: all that a recipe asks of it, whoever computes.

In a crew every process holds a part of the weights, so every process has to make every call. The first one makes them
as it would alone, and each is told to the others before it begins; they do nothing but `follow`. Orders can also come
from another process altogether (`cluster/learner.py`); then `obey` makes the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import torch

from clickgrad.learn import checkpoint
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.logprobs import Layout
from clickgrad.learn.step import OnProgress, StepFigures, clone_step, grpo_step, make_optimizer, mean_loss
from clickgrad.learn.trainee import Trainee
from clickgrad.policy.models import ChatTokenizer, LoadedModel
from clickgrad.types import Sample

Order = tuple[str, tuple[Any, ...]]  # a method of `Learner` and its arguments
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class GrpoOptions:
    lr: float
    clip: float
    kl_beta: float
    temperature: float
    micro_tokens: int
    layout: Layout
    updates: int
    importance_cap: float


class Learner(Protocol):
    on_progress: OnProgress  # of an update, in turns

    @property
    def tokenizer(self) -> ChatTokenizer: ...

    def clone(self, samples: Sequence[Sample], lr: float, micro_tokens: int, layout: Layout) -> StepFigures:
        """One step of behaviour cloning."""

    def mean_loss(self, samples: Sequence[Sample], micro_tokens: int) -> float | None:
        """What cloning would call the loss of these samples; None when there are none."""

    def reinforce(self, samples: Sequence[Sample], options: GrpoOptions) -> tuple[StepFigures, ...]:
        """One step of M-GRPO. Empty when no group had contrast: then there is nothing to learn from."""

    def refresh_sampler(self) -> None:
        """Whoever samples from the learner's own weights gets those of now."""

    def save(self, checkpoints: Path, progress: Progress, keep: int, score: float | None) -> None:
        """The last `keep` checkpoints stay, and the one with the best score so far."""

    def load(self, folder: Path) -> Progress:
        """Go on from a checkpoint."""

    def export(self, folder: Path) -> None:
        """A plain transformers folder, adapter merged."""


def _together(
    method: Callable[Concatenate[LocalLearner, Arguments], Result],
) -> Callable[Concatenate[LocalLearner, Arguments], Result]:
    @wraps(method)
    def call(learner: LocalLearner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        assert not kwargs, "an order has its arguments by position"
        learner.crew.tell((method.__name__, args))
        return method(learner, *args, **kwargs)

    return call


class LocalLearner:
    """The weights are in this process, or sharded among its crew."""

    def __init__(self, trainee: Trainee) -> None:
        self.crew = trainee.crew
        self.on_progress: OnProgress = lambda done, total: None
        self._trainee = trainee
        self._optimizer = make_optimizer(trainee.model, lr=0.0)  # every step sets its own rate

    @property
    def sampler(self) -> LoadedModel:
        """The policy to sample from: as it was when `refresh_sampler` was last called, or later."""
        return self._trainee.sampler

    @property
    def tokenizer(self) -> ChatTokenizer:
        return self._trainee.sampler.tokenizer

    @_together
    def clone(self, samples: Sequence[Sample], lr: float, micro_tokens: int, layout: Layout) -> StepFigures:
        with self._trainee.computing():
            return clone_step(self._trainee.model, self._optimizer, samples, lr, micro_tokens, layout, self.crew)

    @_together
    def mean_loss(self, samples: Sequence[Sample], micro_tokens: int) -> float | None:
        with self._trainee.computing():
            return mean_loss(self._trainee.model, samples, micro_tokens)

    @_together
    def reinforce(self, samples: Sequence[Sample], options: GrpoOptions) -> tuple[StepFigures, ...]:
        if not samples:
            return ()
        with self._trainee.computing():
            return grpo_step(
                self._trainee.model,
                self._trainee.reference if options.kl_beta else None,
                self._optimizer,
                samples,
                **asdict(options),
                crew=self.crew,
                progress=self.on_progress,
            )

    @_together
    def refresh_sampler(self) -> None:
        self._trainee.refresh_sampler()

    @_together
    def save_for_sampling(self, folder: Path) -> None:
        """What a sampler that reads files lacks: the adapter if there is one, else all weights."""
        self._trainee.save_for_sampling(folder)

    @_together
    def weights(self) -> dict[str, torch.Tensor]:
        """What training has changed, whole, for a sampler in another process."""
        return {name: value.cpu() for name, value in self._trainee.weights().items()}

    @_together
    def files(self) -> dict[str, bytes]:
        """The same as files by their names, for a sampler that reads them."""
        self._trainee.refresh_sampler()
        with TemporaryDirectory(prefix="clickgrad-push-") as folder:
            self._trainee.save_for_sampling(Path(folder))
            return {file.name: file.read_bytes() for file in Path(folder).iterdir()}

    @_together
    def save(self, checkpoints: Path, progress: Progress, keep: int, score: float | None) -> None:
        checkpoint.save(checkpoints, progress, self._trainee, self._optimizer, keep, score)

    @_together
    def load(self, folder: Path) -> Progress:
        return checkpoint.load(folder, self._trainee, self._optimizer)

    @_together
    def export(self, folder: Path) -> None:
        with checkpoint.saving(folder):
            self._trainee.export(folder)


def obey(learner: LocalLearner, order: Order) -> Any:
    name, arguments = order
    return getattr(learner, name)(*arguments)


def follow(learner: LocalLearner) -> None:
    """All but the first of a crew: make the calls that the first one makes, until it is done with the learner."""
    while (order := learner.crew.hear()) is not None:
        obey(learner, order)

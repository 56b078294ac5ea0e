"""The learner in other processes: Ray Train starts them, and starts them anew when one is lost.

The driver's calls lie in a mailbox. Every rank of the learner takes them from there in order and makes them; the first
one brings back the result. Processes that are started anew first load the last checkpoint and make again what was
done since, so they stand where the lost ones stood, to the bit.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
import ray.train
import torch
from ray.exceptions import RayError
from ray.util.placement_group import PlacementGroup

from clickgrad.backends.ray.connection import Resources, here
from clickgrad.backends.ray.events import Events
from clickgrad.config import ClusterSection
from clickgrad.errors import ClickgradError, InfraError, boundary
from clickgrad.learn.checkpoint import step_folder
from clickgrad.learn.learner import Call, LocalLearner
from clickgrad.learn.progress import Answers, Progress, Question
from clickgrad.learn.ranks import Ranks
from clickgrad.learn.spec import Layout, LearnerSpec, UpdateOptions
from clickgrad.learn.step import OnProgress, StepFigures, silent
from clickgrad.policy.models import load_tokenizer
from clickgrad.types import Sample

POLL_S = 5.0
CLOSE_S = 60.0
CHANGING = (
    LocalLearner.clone,
    LocalLearner.update,
    LocalLearner.assess,
    LocalLearner.load,
)  # after these the learner stands elsewhere
LARGE = (LocalLearner.weights, LocalLearner.files)  # what they give stays in the object store

Build = Callable[[LearnerSpec, Ranks], LocalLearner]


def _end(learner: LocalLearner) -> None:
    """The last call: its processes end."""


def _nothing(learner: LocalLearner) -> None:
    """Stands for a call that is done and that nobody will make again."""


END, DONE = Call(_end, ()), Call(_nothing, ())


class Mailbox:
    """Made a Ray actor on the driver's machine: calls in, results out."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._results: dict[int, Any] = {}
        self._again: list[int] = []  # calls to be made again by processes started anew
        self._starts = 0
        self._moved = asyncio.Condition()

    async def put(self, call: Call) -> int:
        async with self._moved:
            self._calls.append(call)
            self._moved.notify_all()
            return len(self._calls) - 1

    async def begin(self) -> tuple[list[Call], int]:
        """A learner starts: what it makes first, without a result, and the number of the call after that."""
        self._starts += 1
        pending = next((n for n in range(len(self._calls)) if n not in self._results), len(self._calls))
        return [self._calls[number] for number in self._again], pending

    async def take(self, number: int) -> Call | None:
        """None when there is none yet: ask again."""
        await self._until(lambda: number < len(self._calls))
        return self._calls[number] if number < len(self._calls) else None

    async def finish(self, number: int, result: Any) -> None:
        async with self._moved:
            call = self._calls[number]
            self._results[number] = result
            if isinstance(result, Failed):
                pass  # the learner stands where it stood
            elif call.method == LocalLearner.save:
                checkpoints, progress, *_ = call.arguments
                self._calls[number] = Call(LocalLearner.load, (step_folder(checkpoints, progress.step),))
                self._again = [number]
                for old in range(number):  # their samples are no longer needed by anybody
                    self._calls[old] = DONE
            elif call.method in CHANGING:
                self._again.append(number)
            self._moved.notify_all()

    async def result(self, number: int) -> tuple[bool, Any]:
        """Whether there is one, and what it is. To be had once: what is large is not kept."""
        await self._until(lambda: number in self._results)
        if number not in self._results:
            return False, None
        result, self._results[number] = self._results[number], None
        return True, result

    async def starts(self) -> int:
        return self._starts

    async def _until(self, happened: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(POLL_S), self._moved:
                await self._moved.wait_for(happened)
        except TimeoutError:
            pass


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that raised: the learner lives, its caller hears of it."""

    error: ClickgradError


def learn(given: dict[str, Any]) -> None:
    """What every process of the learner runs, from start to end."""
    context = ray.train.get_context()
    ranks = Ranks(context.get_world_rank(), context.get_world_size())
    mailbox, learner = given["mailbox"], given["build"](given["spec"], ranks)
    again, number = _same_for_all(ranks, lambda: ray.get(mailbox.begin.remote()))
    for call in again:
        call.make(learner)
    while (call := ray.get(mailbox.take.remote(number))) != END:
        if call is not None:
            _make(learner, call, number, mailbox)
            number += 1


def _make(learner: LocalLearner, call: Call, number: int, mailbox: Any) -> None:
    try:
        result = call.make(learner)
    except ClickgradError as error:
        result = Failed(error)
    else:
        if call.method in LARGE and learner.ranks.is_first:
            result = [ray.put(result)]
    if learner.ranks.is_first:
        ray.get(mailbox.finish.remote(number, result))


def _same_for_all(ranks: Ranks, ask: Callable[[], Any]) -> Any:
    answer = [ask() if ranks.is_first else None]
    if ranks.size > 1:
        torch.distributed.broadcast_object_list(answer, src=0)
    return answer[0]


class RayLearner:
    """A `Learner` whose weights are in other processes."""

    def __init__(
        self,
        spec: LearnerSpec,
        build: Build,
        options: ClusterSection,
        each: Resources,
        events: Events,
        places: PlacementGroup,
    ) -> None:
        """`each` is what one of its processes takes; `places` are kept for the engines that will sample from it."""
        self.spec = spec
        self.places = places
        self.tokenizer = load_tokenizer(spec.model.source)
        self.on_progress: OnProgress = silent
        self._update_s = options.update_s
        self._events = events
        self._seen_starts = 1
        self._mailbox = ray.remote(Mailbox).options(num_cpus=0, scheduling_strategy=here()).remote()
        given = {"mailbox": self._mailbox, "build": build, "spec": spec}
        self._failure: ClickgradError | None = None
        self._trainer = _trainer(given, options, each, events.run)
        self._thread = threading.Thread(target=self._fit, name="learner", daemon=True)
        self._thread.start()
        self._call(LocalLearner.mean_loss, (), 1)  # of nothing: it is up, and has its place before others ask for one

    def clone(self, samples: Sequence[Sample], lr: float, micro_tokens: int, layout: Layout) -> StepFigures:
        return self._call(LocalLearner.clone, samples, lr, micro_tokens, layout)  # type: ignore[no-any-return]

    def mean_loss(self, samples: Sequence[Sample], micro_tokens: int) -> float | None:
        return self._call(LocalLearner.mean_loss, samples, micro_tokens)  # type: ignore[no-any-return]

    def update(self, samples: Sequence[Sample], options: UpdateOptions) -> tuple[StepFigures, ...]:
        return self._call(LocalLearner.update, samples, options)  # type: ignore[no-any-return]

    def assess(self, question: Question) -> Answers:
        return self._call(LocalLearner.assess, question)  # type: ignore[no-any-return]

    def refresh_sampler(self) -> None:
        """Nobody samples from weights that lie with the learner: engines are sent `weights`."""

    def weights(self) -> Any:
        """A reference into the object store."""
        return self._call(LocalLearner.weights)[0]

    def files(self) -> Any:
        """The same for engines that read files."""
        return self._call(LocalLearner.files)[0]

    def save(self, checkpoints: Path, progress: Progress, keep: int, score: float | None) -> None:
        self._call(LocalLearner.save, checkpoints.resolve(), progress, keep, score)

    def finish_saving(self) -> None:
        """A call returns when it is done: here nothing is saved beside the training."""

    def load(self, folder: Path) -> Progress:
        return self._call(LocalLearner.load, folder.resolve())  # type: ignore[no-any-return]

    def export(self, folder: Path) -> None:
        self._call(LocalLearner.export, folder.resolve())

    def close(self) -> None:
        if self._thread.is_alive():
            ray.get(self._mailbox.put.remote(END))
            self._thread.join(CLOSE_S)  # what still computes then ends with the connection
        ray.kill(self._mailbox)

    def _call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        number = ray.get(self._mailbox.put.remote(Call(method, arguments)))
        for _ in range(int(self._update_s / POLL_S) + 1):
            done, result = ray.get(self._mailbox.result.remote(number))
            self._note_restarts()
            if done:
                if isinstance(result, Failed):
                    raise result.error
                return result
            if not self._thread.is_alive():
                raise InfraError(f"the learner ended: {self._failure}") from self._failure
        raise InfraError(f"the learner did not finish {method.__name__!r} within {self._update_s:.0f} s")

    def _note_restarts(self) -> None:
        starts = ray.get(self._mailbox.starts.remote())
        for _ in range(self._seen_starts, starts):
            self._events.note("learner lost", "a process of the learner", "started anew from the last checkpoint")
        self._seen_starts = max(self._seen_starts, starts)

    def _fit(self) -> None:
        self._failure = failure_of(self._trainer.fit)


def failure_of(fit: Callable[[], object]) -> ClickgradError | None:
    """What ended it, whatever that was: None when it ended as it should."""
    try:
        with boundary(InfraError, "its processes"):
            try:
                fit()
            except (RayError, RuntimeError) as error:
                raise InfraError(str(error)) from error  # whole: the reason is seldom in its first line
    except ClickgradError as error:
        return error
    return None


def _trainer(given: dict[str, Any], options: ClusterSection, each: Resources, run: Path) -> Any:
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    gpus = each.get("GPU", 0)
    return TorchTrainer(
        learn,
        train_loop_config=given,
        scaling_config=ScalingConfig(num_workers=options.learners, use_gpu=gpus > 0, resources_per_worker=dict(each)),
        run_config=RunConfig(
            name="learner", storage_path=str(run / "ray"), failure_config=FailureConfig(max_failures=options.restarts)
        ),
        torch_config=TorchConfig(backend="cpu:gloo,cuda:nccl" if gpus else "gloo"),
    )

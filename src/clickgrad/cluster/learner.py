"""The learner elsewhere: Ray Train starts its processes and starts them anew when one is lost.

The driver's calls lie on a desk. Every process of the learner takes them from there in order and makes them; the first
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

from clickgrad.cluster.connection import Resources, here
from clickgrad.cluster.events import Events
from clickgrad.errors import ClickgradError, InfraError, LearnError
from clickgrad.learn.checkpoint import Progress, step_folder
from clickgrad.learn.crew import Crew
from clickgrad.learn.learner import GrpoOptions, LocalLearner, Order, obey
from clickgrad.learn.logprobs import Layout
from clickgrad.learn.step import OnProgress, StepFigures
from clickgrad.policy.models import ChatTokenizer
from clickgrad.types import Sample

POLL_S = 5.0
CLOSE_S = 60.0
CHANGING = ("clone", "reinforce", "load")  # the orders after which the learner stands elsewhere
LARGE = ("weights", "files")  # what they give stays in the object store
END: Order = ("end", ())
DONE: Order = ("done", ())

Build = Callable[[Crew], LocalLearner]


class Desk:
    """Made a Ray actor on the driver's machine: orders in, results out."""

    def __init__(self) -> None:
        self._orders: list[Order] = []
        self._results: dict[int, Any] = {}
        self._again: list[int] = []  # orders to be made again by processes started anew
        self._starts = 0
        self._moved = asyncio.Condition()

    async def put(self, order: Order) -> int:
        async with self._moved:
            self._orders.append(order)
            self._moved.notify_all()
            return len(self._orders) - 1

    async def begin(self) -> tuple[list[Order], int]:
        """A learner starts: what it makes first, without a result, and the number of the order after that."""
        self._starts += 1
        pending = next((n for n in range(len(self._orders)) if n not in self._results), len(self._orders))
        return [self._orders[number] for number in self._again], pending

    async def take(self, number: int) -> Order | None:
        """None when there is none yet: ask again."""
        await self._until(lambda: number < len(self._orders))
        return self._orders[number] if number < len(self._orders) else None

    async def finish(self, number: int, result: Any) -> None:
        async with self._moved:
            name, arguments = self._orders[number]
            self._results[number] = result
            if isinstance(result, Failed):
                pass  # the learner stands where it stood
            elif name == "save":
                checkpoints, progress, *_ = arguments
                self._orders[number] = ("load", (step_folder(checkpoints, progress.step),))
                self._again = [number]
                for old in range(number):  # their samples are no longer needed by anybody
                    self._orders[old] = DONE
            elif name in CHANGING:
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
    crew = Crew(context.get_world_rank(), context.get_world_size())
    desk, learner = given["desk"], given["build"](crew)
    again, number = _same_for_all(crew, lambda: ray.get(desk.begin.remote()))
    for order in again:
        obey(learner, order)
    while (order := ray.get(desk.take.remote(number))) != END:
        if order is not None:
            _make(learner, order, number, desk)
            number += 1


def _make(learner: LocalLearner, order: Order, number: int, desk: Any) -> None:
    try:
        result = obey(learner, order)
    except ClickgradError as error:
        result = Failed(error)
    else:
        if order[0] in LARGE and learner.crew.leads:
            result = [ray.put(result)]
    if learner.crew.leads:
        ray.get(desk.finish.remote(number, result))


def _same_for_all(crew: Crew, ask: Callable[[], Any]) -> Any:
    heard = [ask() if crew.leads else None]
    if crew.size > 1:
        torch.distributed.broadcast_object_list(heard, src=0)
    return heard[0]


class LearnerElsewhere:
    """A `Learner` whose weights are in other processes."""

    def __init__(
        self,
        build: Build,
        tokenizer: ChatTokenizer,
        processes: int,
        each: Resources,
        restarts: int,
        update_s: float,
        run: Path,
        events: Events,
    ) -> None:
        self.tokenizer = tokenizer
        self.on_progress: OnProgress = lambda done, total: None
        self._update_s = update_s
        self._events = events
        self._seen_starts = 1
        self._desk = ray.remote(Desk).options(num_cpus=0, scheduling_strategy=here()).remote()
        given = {"desk": self._desk, "build": build}
        self._failure: Exception | None = None
        self._trainer = _trainer(given, processes, each, restarts, run)
        self._thread = threading.Thread(target=self._fit, name="learner", daemon=True)
        self._thread.start()
        self._call("mean_loss", (), 1)  # of nothing: it is up, and has its place before others ask for one

    def clone(self, samples: Sequence[Sample], lr: float, micro_tokens: int, layout: Layout) -> StepFigures:
        return self._call("clone", samples, lr, micro_tokens, layout)  # type: ignore[no-any-return]

    def mean_loss(self, samples: Sequence[Sample], micro_tokens: int) -> float | None:
        return self._call("mean_loss", samples, micro_tokens)  # type: ignore[no-any-return]

    def reinforce(self, samples: Sequence[Sample], options: GrpoOptions) -> tuple[StepFigures, ...]:
        return self._call("reinforce", samples, options)  # type: ignore[no-any-return]

    def refresh_sampler(self) -> None:
        """Nobody samples from weights that lie with the learner: engines are sent `weights`."""

    def weights(self) -> Any:
        """A reference into the object store."""
        return self._call("weights")[0]

    def files(self) -> Any:
        """The same for engines that read files."""
        return self._call("files")[0]

    def save(self, checkpoints: Path, progress: Progress, keep: int, score: float | None) -> None:
        self._call("save", checkpoints, progress, keep, score)

    def load(self, folder: Path) -> Progress:
        return self._call("load", folder)  # type: ignore[no-any-return]

    def export(self, folder: Path) -> None:
        self._call("export", folder)

    def close(self) -> None:
        if self._thread.is_alive():
            ray.get(self._desk.put.remote(END))
            self._thread.join(CLOSE_S)  # what still computes then ends with the connection
        ray.kill(self._desk)

    def _call(self, name: str, *arguments: Any) -> Any:
        number = ray.get(self._desk.put.remote((name, arguments)))
        for _ in range(int(self._update_s / POLL_S) + 1):
            done, result = ray.get(self._desk.result.remote(number))
            self._note_restarts()
            if done:
                if isinstance(result, Failed):
                    raise result.error
                return result
            if not self._thread.is_alive():
                raise InfraError(f"the learner ended: {self._failure}") from self._failure
        raise InfraError(f"the learner did not finish {name!r} within {self._update_s:.0f} s")

    def _note_restarts(self) -> None:
        starts = ray.get(self._desk.starts.remote())
        for _ in range(self._seen_starts, starts):
            self._events.note("learner lost", "a process of the learner", "started anew from the last checkpoint")
        self._seen_starts = max(self._seen_starts, starts)

    def _fit(self) -> None:
        try:
            self._trainer.fit()
        except (RayError, RuntimeError, LearnError) as error:
            self._failure = error


def _trainer(given: dict[str, Any], processes: int, each: Resources, restarts: int, run: Path) -> Any:
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    gpus = each.get("GPU", 0)
    return TorchTrainer(
        learn,
        train_loop_config=given,
        scaling_config=ScalingConfig(num_workers=processes, use_gpu=gpus > 0, resources_per_worker=dict(each)),
        run_config=RunConfig(
            name="learner", storage_path=str(run / "ray"), failure_config=FailureConfig(max_failures=restarts)
        ),
        torch_config=TorchConfig(backend="cpu:gloo,cuda:nccl" if gpus else "gloo"),
    )

"""Policy engines as processes of the cluster, and the driver's view of them: replaced when lost, renewed by steps."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.placement_group import PlacementGroup
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from clickgrad.backends.ray.events import Events
from clickgrad.errors import InfraError, PolicyError, TokenLimit
from clickgrad.policy.protocol import Policy
from clickgrad.types import Completion, Prompt, Sampling

START_S = 600.0  # a large model is read from disk
TAKE_S = 600.0
PING_S = 30.0


@dataclass(frozen=True, slots=True)
class HostedEngine:
    policy: Policy
    take: Callable[[Any, int], None] | None = None  # weights and their version; None: it is not in training
    figures: Callable[[], Mapping[str, float]] = dict  # for the metrics of a step


OpenEngine = Callable[[], AbstractContextManager[HostedEngine]]


class EngineHost:
    """Made a Ray actor: one engine, asked by any worker."""

    def __init__(self, open_engine: OpenEngine) -> None:
        self._open = ExitStack()
        self._hosted = self._open.enter_context(open_engine())

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion | str:
        """A text says why the prompt does not fit: that is no failure of the machinery."""
        try:
            return await self._hosted.policy.complete(prompt, sampling)
        except TokenLimit as limit:
            return str(limit)

    async def forget(self, episode: str) -> None:
        self._hosted.policy.forget(episode)

    async def take(self, weights: Any, version: int) -> None:
        assert self._hosted.take is not None
        await asyncio.to_thread(self._hosted.take, weights, version)

    async def figures(self) -> dict[str, float]:
        return dict(self._hosted.figures())

    async def ping(self) -> None:
        """Answers while it lives."""

    async def close(self) -> None:
        await asyncio.to_thread(self._open.close)


class Engines:
    """Several engines with one policy; `weights` says where new ones come from when it is in training."""

    def __init__(
        self,
        open_engine: OpenEngine,
        name: str,
        places: PlacementGroup,
        bundles: Sequence[int],
        events: Events,
        weights: Callable[[], Any] | None = None,
    ) -> None:
        """One engine in each of the `bundles` of `places`. `weights` gives a reference into the object store."""
        self.name = name
        self.version = 0
        self._open_engine = open_engine
        self._places = places
        self._bundles = bundles
        self._events = events
        self._weights = weights
        self._newest: Any = None  # the reference that was sent last
        self._mending = threading.Lock()  # several episodes may notice the same loss
        self._homes: dict[str, int] = {}  # of a group of episodes, which begin alike
        self._actors = [self._start(bundle) for bundle in bundles]
        self._wait_for(self._actors)

    def home(self, episode: str) -> Any:
        """The engine for an episode. Members of a group share one: their prompts begin alike."""
        group = episode.partition("/member-")[0]
        return self._actors[self._homes.setdefault(group, len(self._homes) % len(self._actors))]

    def push(self, version: int) -> None:
        """The learner's weights as they are now go to every engine; one that does not take them is replaced."""
        if self._weights is None:
            raise PolicyError("these engines were opened without weights to push")
        with self._mending:
            self._newest, self.version = self._weights(), version
            self._homes.clear()
            self._replace(self._renew(range(len(self._actors))))

    def mend(self) -> None:
        """Start those anew that no longer answer."""
        with self._mending:
            asked = [(place, actor.ping.remote()) for place, actor in enumerate(self._actors)]
            self._replace([place for place, answer in asked if not _answers(answer)])

    def _replace(self, places: Sequence[int]) -> None:
        for place in places:
            self._events.note("engine lost", f"engine {place}", "started anew with the newest weights")
            ray.kill(self._actors[place])
            self._actors[place] = self._start(self._bundles[place])
        self._wait_for([self._actors[place] for place in places])
        if self._weights is None or not self._renew(places):
            return
        # The learner that held the reference is gone, too. Its successor's weights are as new, or newer.
        self._newest = self._weights()
        if self._renew(places):
            raise PolicyError(f"an engine that was started anew did not take the weights of version {self.version}")

    def figures(self) -> dict[str, float]:
        """The mean over the engines that answer."""
        asked = [actor.figures.remote() for actor in self._actors]
        answers: list[dict[str, float]] = [ray.get(answer) for answer in asked if _answers(answer)]
        return {name: sum(one[name] for one in answers) / len(answers) for name in (answers[0] if answers else ())}

    def close(self) -> None:
        for actor in self._actors:
            _answers(actor.close.remote())
            ray.kill(actor)

    def _start(self, bundle: int) -> Any:
        place = PlacementGroupSchedulingStrategy(self._places, placement_group_bundle_index=bundle)
        specs = self._places.bundle_specs[bundle]
        host = ray.remote(EngineHost).options(
            num_cpus=specs.get("CPU", 0), num_gpus=specs.get("GPU", 0), scheduling_strategy=place
        )
        return host.remote(self._open_engine)

    def _wait_for(self, actors: Sequence[Any]) -> None:
        try:
            ray.get([actor.ping.remote() for actor in actors], timeout=START_S)
        except RayError as error:
            raise _engine_error("an engine did not start", error) from error

    def _renew(self, places: Sequence[int]) -> list[int]:
        """Give them the newest weights; returns those that did not take them."""
        asked = [(place, self._actors[place].take.remote(self._newest, self.version)) for place in places]
        return [place for place, answer in asked if not _answers(answer, TAKE_S)]


def _answers(reference: Any, wait_s: float = PING_S) -> bool:
    try:
        ray.get(reference, timeout=wait_s)
    except (RayError, GetTimeoutError):
        return False
    return True


def _engine_error(what: str, error: RayError) -> InfraError:
    cause = getattr(error, "cause", None) or error
    return InfraError(f"{what}: {type(cause).__name__}: {(str(cause).strip().splitlines() or [''])[0]}")

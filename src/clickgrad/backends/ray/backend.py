"""A run on a Ray cluster: what is sent to its rollout workers, engines and learner, and the driver's side of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clickgrad.agent.prompt import Tokenizer
from clickgrad.backends.agents import make_agent, pictured
from clickgrad.backends.engines import open_evaluated, start_server
from clickgrad.backends.learners import build_learner
from clickgrad.backends.policies import (
    PolicySpec,
    Replies,
    Scripted,
    TorchModel,
    open_policy,
    prompt_builder,
)
from clickgrad.backends.ray.connection import Resources, connected, room_for
from clickgrad.backends.ray.engine import Engines, HostedEngine, OpenEngine
from clickgrad.backends.ray.events import Events
from clickgrad.backends.ray.fleet import Fleet, FleetOptions
from clickgrad.backends.ray.learner import RayLearner
from clickgrad.backends.ray.worker import OpenParts, WorkerParts
from clickgrad.backends.venues import open_judge, open_venue
from clickgrad.config import Config
from clickgrad.display import say
from clickgrad.errors import UserError
from clickgrad.learn.ranks import ALONE
from clickgrad.learn.spec import LearnerSpec
from clickgrad.policy.models import load_tokenizer
from clickgrad.policy.protocol import Policy
from clickgrad.run_layout import PUSHED, SERVER_LOG
from clickgrad.types import USUAL, Opening, Task, Trajectory


@dataclass(frozen=True, slots=True)
class RayPlayers:
    fleet: Fleet
    engines: Engines | None = None  # None: every worker has a policy of its own
    learner: RayLearner | None = None  # whose weights the engines get

    async def play(self, episode: str, task: Task, seed: int, opening: Opening = USUAL) -> Trajectory:
        return await self.fleet.play(episode, task, seed, opening)

    async def push_weights(self, version: int) -> None:
        assert self.engines, "a scripted policy has no weights"
        await asyncio.to_thread(self.engines.push, version)

    async def rest(self) -> None:
        """Engines have devices of their own here."""

    def figures(self) -> Mapping[str, float]:
        return {**self.fleet.figures(), **(self.engines.figures() if self.engines else {})}


@dataclass(frozen=True, slots=True)
class RayBackend:
    config: Config
    run: Path
    quiet: bool = False

    @contextmanager
    def learner(self, spec: LearnerSpec) -> Iterator[RayLearner]:
        config, cluster = self.config, self.config.cluster
        spec = replace(spec, model=replace(spec.model, source=_for_all_nodes(spec.model.source)))
        each = _needs(cluster.learner_cpus, cluster.learner_gpus)
        kept = {name: amount * cluster.learners for name, amount in each.items()}
        with connected(cluster.address):
            # Places for the engines first: the learner takes what it finds, and they come after it.
            places = room_for(self._engine_bundles(), kept | {"CPU": _cpus_kept(config)}, cluster.start_s)
            with closing(RayLearner(spec, build_learner, cluster, each, self._events(), places)) as learner:
                yield learner

    @asynccontextmanager
    async def training_players(self, learner: RayLearner) -> AsyncIterator[RayPlayers]:
        config, source = self.config, learner.spec.model.source
        name = f"{config.reinforce.engine}:{source}"
        is_torch = config.reinforce.engine == "torch"
        hosted: OpenEngine = partial(_host_torch if is_torch else _host_vllm, config, learner.spec)
        open_parts = partial(_asking_parts, config, source, config.reinforce.temperature, self.run.resolve(), False)
        newest = learner.weights if is_torch else learner.files
        events = self._events()
        with closing(Engines(hosted, name, learner.places, range(config.cluster.engines), events, newest)) as engines:
            async with self._fleet(open_parts, name, learner.tokenizer, engines, events) as fleet:
                yield RayPlayers(fleet, engines, learner)

    @asynccontextmanager
    async def players(self, policy: PolicySpec) -> AsyncIterator[RayPlayers]:
        config, cluster = self.config, self.config.cluster
        match policy:
            case Scripted() | Replies():
                with connected(cluster.address):
                    open_parts = partial(_own_parts, config, policy, self.run.resolve())
                    async with self._fleet(open_parts, str(policy), None, None, self._events()) as fleet:
                        yield RayPlayers(fleet)
            case TorchModel():
                source = _for_all_nodes(policy.source)
                open_parts = partial(
                    _asking_parts, config, source, config.evaluate.temperature, self.run.resolve(), True
                )
                hosted = partial(_host_policy, config, TorchModel(source, str(policy)))
                events = self._events()
                with connected(cluster.address):
                    places = room_for(self._engine_bundles(), {"CPU": cluster.worker_cpus}, cluster.start_s)
                    tokenizer = load_tokenizer(source)
                    with closing(Engines(hosted, str(policy), places, range(cluster.engines), events)) as engines:
                        async with self._fleet(open_parts, str(policy), tokenizer, engines, events) as fleet:
                            yield RayPlayers(fleet, engines)
            case _:
                raise UserError(f"{policy} is a server elsewhere already: evaluate it without cluster.address")

    def _engine_bundles(self) -> list[Resources]:
        cluster = self.config.cluster
        return [_needs(cluster.engine_cpus, cluster.engine_gpus)] * cluster.engines

    def _events(self) -> Events:
        return Events(self.run.resolve(), say)

    @asynccontextmanager
    async def _fleet(
        self, open_parts: OpenParts, policy: str, tokenizer: Tokenizer | None, engines: Engines | None, events: Events
    ) -> AsyncIterator[Fleet]:
        cluster, rollout = self.config.cluster, self.config.rollout
        options = FleetOptions(
            workers=cluster.workers,
            worker_cpus=cluster.worker_cpus,
            episodes_each=cluster.worker_episodes,
            # The episode's own limit is looked at between turns; a turn waits for a reply and for the browser. The
            # actions of one that broke its page are then performed again, in as much time at most.
            episode_s=2 * rollout.episode_s + rollout.reply_s + cluster.start_s,
            patience_s=cluster.start_s,
        )
        fingerprint = prompt_builder(self.config, tokenizer).fingerprint
        fleet = Fleet(open_parts, policy, fingerprint, engines, options, events)
        await fleet.open()
        try:
            yield fleet
        finally:
            await fleet.close()


# --- sent to the workers and the engines ----------------------------------------------------------------------------


@asynccontextmanager
async def _asking_parts(
    config: Config, source: str, temperature: float, run: Path, judged: bool
) -> AsyncIterator[WorkerParts]:
    """Prompts are made here; replies come from an engine elsewhere. No reward of training depends on a judge."""
    builder = prompt_builder(config, load_tokenizer(source))
    async with open_venue(config, open_judge(config) if judged else None) as venue:

        def agent_for(policy: Policy | None) -> Any:
            assert policy is not None
            agent = make_agent(config, policy, builder, temperature, run)
            return pictured(config, agent, run) if judged else agent

        yield WorkerParts(venue, agent_for)


@asynccontextmanager
async def _own_parts(config: Config, spec: PolicySpec, run: Path) -> AsyncIterator[WorkerParts]:
    """The policy is scripted: every worker has its own."""
    with open_policy(spec, config) as (policy, builder):
        async with open_venue(config, open_judge(config)) as venue:
            agent = pictured(config, make_agent(config, policy, builder, config.evaluate.temperature, run), run)
            yield WorkerParts(venue, lambda _: agent)


@contextmanager
def _host_policy(config: Config, spec: PolicySpec) -> Iterator[HostedEngine]:
    with (
        TemporaryDirectory(prefix="clickgrad-engine-") as scratch,
        open_evaluated(spec, config, Path(scratch)) as opened,
    ):
        yield HostedEngine(opened[0])


@contextmanager
def _host_torch(config: Config, spec: LearnerSpec) -> Iterator[HostedEngine]:
    from clickgrad.policy.torch_engine import TorchEngine

    trained = build_learner(replace(spec, with_reference=False), ALONE)
    engine = TorchEngine(trained.sampler, max_rows=config.rollout.concurrency)

    def take(weights: Any, version: int) -> None:
        engine.swap_weights(lambda: trained.load_weights(weights), version)

    with closing(engine):
        yield HostedEngine(engine, take, engine.figures)


@contextmanager
def _host_vllm(config: Config, spec: LearnerSpec) -> Iterator[HostedEngine]:
    from clickgrad.policy.vllm_engine import Push, VllmEngine

    newest, source = dict[str, bytes](), spec.model.source

    def save(folder: Path) -> None:
        for name, content in newest.items():
            (folder / name).write_bytes(content)

    with TemporaryDirectory(prefix="clickgrad-engine-") as scratch:
        push = Push("adapter" if config.lora.rank else "full", save, Path(scratch) / PUSHED)
        with start_server(config, source, Path(scratch) / SERVER_LOG) as server:
            most_tokens = config.model.context_tokens
            engine = VllmEngine([server.url], name=f"vllm:{source}", push=push, most_tokens=most_tokens)

            def take(files: dict[str, bytes], version: int) -> None:
                engine.swap_weights(lambda: newest.update(files), version)

            with closing(engine):
                yield HostedEngine(engine, take, engine.figures)


def _needs(cpus: float, gpus: float) -> Resources:
    return {name: amount for name, amount in (("CPU", cpus), ("GPU", gpus)) if amount}


def _cpus_kept(config: Config) -> float:
    """For the learner and at least one worker."""
    return config.cluster.learner_cpus * config.cluster.learners + config.cluster.worker_cpus


def _for_all_nodes(source: str) -> str:
    """A folder by its whole path: other processes work elsewhere. It has to lie on a disk that all nodes share."""
    return str(Path(source).resolve()) if Path(source).is_dir() else source

"""The parts of a run on a Ray cluster: what the recipes send to its workers, engines and learner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from clickgrad.cluster.connection import Resources, connected, room_for
from clickgrad.cluster.engine import Engines, HostedEngine, OpenEngine
from clickgrad.cluster.events import Events
from clickgrad.cluster.fleet import Fleet, FleetOptions
from clickgrad.cluster.learner import LearnerElsewhere
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.learn.learner import Learner
from clickgrad.policy.models import ChatTokenizer, load_tokenizer
from clickgrad.recipes.display import say
from clickgrad.recipes.interrupts import run_async
from clickgrad.recipes.judging import open_judge
from clickgrad.recipes.parts import OpenRollouts, Rollouts
from clickgrad.recipes.sampling import SERVER_LOG, refuse_useless, start_server
from clickgrad.recipes.training import Apprentice
from clickgrad.recipes.wiring import make_agent, model_source, open_policy, open_venue, prompt_builder
from clickgrad.rollout.scheduler import Play
from clickgrad.rollout.stage import Stage

if TYPE_CHECKING:
    from clickgrad.rollout.webarena_services import Judge


@contextmanager
def open_training_on_cluster(
    config: Config, apprentice: Apprentice, run: Path
) -> Iterator[tuple[Learner, OpenRollouts]]:
    refuse_useless(config)
    if config.reinforce.servers:
        raise UserError("reinforce.servers: on a cluster the engines are started by it; leave the servers out")
    run, apprentice = run.resolve(), replace(apprentice, start=_for_everybody(apprentice.start))
    cluster, events = config.cluster, Events(run, say)
    learning = _needs(cluster.learner_cpus, cluster.learner_gpus)
    with connected(cluster.address):
        places = room_for(
            [_needs(cluster.engine_cpus, cluster.engine_gpus)] * cluster.engines,
            {name: amount * cluster.learners for name, amount in learning.items()} | {"CPU": _cpus_kept(config)},
            cluster.start_s,
        )
        tokenizer = load_tokenizer(model_source(apprentice.start))
        learner = LearnerElsewhere(
            apprentice.build, tokenizer, cluster.learners, learning, cluster.restarts, cluster.update_s, run, events
        )

        @contextmanager
        def rollouts(runner: asyncio.Runner) -> Iterator[Rollouts]:
            name = f"{config.reinforce.engine}:{apprentice.start}"
            hosted: OpenEngine
            if config.reinforce.engine == "torch":
                hosted, weights = partial(_host_torch, apprentice), learner.weights
            else:
                hosted, weights = partial(_host_vllm, apprentice), learner.files
            stage = partial(_asking_stage, config, apprentice.start, config.reinforce.temperature, run, _nobody)
            with (
                closing(Engines(hosted, name, places, range(cluster.engines), events, weights)) as engines,
                _open_fleet(config, stage, name, tokenizer, engines, events, runner) as fleet,
            ):
                yield Rollouts(engines, fleet.play, fleet.figures)

        with closing(learner):
            yield learner, rollouts


@contextmanager
def open_players_on_cluster(config: Config, spec: str, run: Path, runner: asyncio.Runner) -> Iterator[Play]:
    """The episodes of an evaluation."""
    run, cluster, events = run.resolve(), config.cluster, Events(run.resolve(), say)
    kind, _, name = spec.partition(":")
    if kind in ("chat", "vllm"):
        raise UserError(f"{spec} is a server elsewhere already: evaluate it without cluster.address")
    with connected(cluster.address):
        if kind == "scripted":
            stage = partial(_own_stage, config, spec, run)
            with _open_fleet(config, stage, spec, None, None, events, runner) as fleet:
                yield fleet.play
            return
        source = _for_everybody(model_source(name if kind == "torch" else spec))
        engine = _needs(cluster.engine_cpus, cluster.engine_gpus)
        places = room_for([engine] * cluster.engines, {"CPU": cluster.worker_cpus}, cluster.start_s)
        stage = partial(_asking_stage, config, source, config.evaluate.temperature, run, open_judge)
        hosted = partial(_host_policy, config, f"torch:{source}")
        with (
            closing(Engines(hosted, spec, places, range(cluster.engines), events)) as engines,
            _open_fleet(config, stage, spec, load_tokenizer(source), engines, events, runner) as fleet,
        ):
            yield fleet.play


# --- sent to the workers and the engines ----------------------------------------------------------------------------


@contextmanager
def _asking_stage(
    config: Config,
    source: str,
    temperature: float,
    run: Path,
    opened_judge: Callable[[Config], Judge | None],
    runner: asyncio.Runner,
) -> Iterator[Stage]:
    """Prompts are made here; replies come from an engine elsewhere."""
    builder = prompt_builder(config, load_tokenizer(model_source(source)))
    with open_venue(config, runner, opened_judge(config)) as venue:
        yield Stage(venue, lambda policy: make_agent(config, _given(policy), builder, temperature, run))


@contextmanager
def _own_stage(config: Config, spec: str, run: Path, runner: asyncio.Runner) -> Iterator[Stage]:
    """The policy is scripted: every worker has its own."""
    with open_policy(spec, config) as (policy, builder), open_venue(config, runner, open_judge(config)) as venue:
        agent = make_agent(config, policy, builder, config.evaluate.temperature, run)
        yield Stage(venue, lambda _: agent)


def _nobody(config: Config) -> None:
    """The judge of training: no reward depends on one."""


def _given(policy: Any) -> Any:
    assert policy is not None
    return policy


@contextmanager
def _host_policy(config: Config, spec: str) -> Iterator[HostedEngine]:
    with open_policy(spec, config) as (policy, _):
        yield HostedEngine(policy)


@contextmanager
def _host_torch(apprentice: Apprentice) -> Iterator[HostedEngine]:
    from clickgrad.policy.torch_engine import TorchEngine

    config = apprentice.config
    trainee = replace(apprentice, with_reference=False).trainee()
    engine = TorchEngine(
        trainee.sampler,
        name=f"torch:{apprentice.start}",
        max_rows=config.rollout.concurrency,
        int8=config.reinforce.int8,
    )

    def take(weights: Any, version: int) -> None:
        engine.swap_weights(lambda: trainee.load_weights(weights), version)

    with closing(engine):
        yield HostedEngine(engine, take, lambda: engine.cache_hit_share)


@contextmanager
def _host_vllm(apprentice: Apprentice) -> Iterator[HostedEngine]:
    from clickgrad.policy.vllm_engine import Push, VllmEngine

    config, newest = apprentice.config, dict[str, bytes]()

    def save(folder: Path) -> None:
        for name, content in newest.items():
            (folder / name).write_bytes(content)

    with TemporaryDirectory(prefix="clickgrad-engine-") as scratch:
        push = Push("adapter" if config.lora.rank else "full", save, Path(scratch) / "pushed")
        with start_server(config, apprentice.start, Path(scratch) / SERVER_LOG) as server:
            most_tokens, name = config.model.context_tokens, f"vllm:{apprentice.start}"
            engine = VllmEngine([server.url], name=name, push=push, most_tokens=most_tokens)

            def take(files: dict[str, bytes], version: int) -> None:
                engine.swap_weights(lambda: newest.update(files), version)

            with closing(engine):
                yield HostedEngine(engine, take, lambda: engine.cache_hit_share)


# --- the driver's side ----------------------------------------------------------------------------------------------


@contextmanager
def _open_fleet(
    config: Config,
    stage: Callable[[asyncio.Runner], Any],
    policy: str,
    tokenizer: ChatTokenizer | None,
    engines: Engines | None,
    events: Events,
    runner: asyncio.Runner,
) -> Iterator[Fleet]:
    cluster, rollout = config.cluster, config.rollout
    options = FleetOptions(
        workers=cluster.workers,
        worker_cpus=cluster.worker_cpus,
        episodes_each=cluster.worker_episodes,
        # The episode's own limit is looked at between turns; a turn waits for a reply and for the browser. The actions
        # of one that broke its page are then performed again, in as much time at most.
        episode_s=2 * rollout.episode_s + rollout.reply_s + cluster.start_s,
        patience_s=cluster.start_s,
    )
    fleet = Fleet(stage, policy, prompt_builder(config, tokenizer).fingerprint, engines, options, events)
    run_async(runner, fleet.open())
    try:
        yield fleet
    finally:
        run_async(runner, fleet.close())


def _needs(cpus: float, gpus: float) -> Resources:
    return {name: amount for name, amount in (("CPU", cpus), ("GPU", gpus)) if amount}


def _cpus_kept(config: Config) -> float:
    """For the learner and at least one worker."""
    return config.cluster.learner_cpus * config.cluster.learners + config.cluster.worker_cpus


def _for_everybody(source: str) -> str:
    """A folder by its whole path: other processes work elsewhere. It has to lie on a disk that all nodes share."""
    return str(Path(source).resolve()) if Path(source).is_dir() else source

"""Who learns, who samples and who plays: this process, or a cluster. The recipes are the same for both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from clickgrad.config import Config
from clickgrad.learn.learner import Learner
from clickgrad.policy.protocol import TrainedPolicy
from clickgrad.recipes.sampling import open_sampler
from clickgrad.recipes.training import Apprentice, open_learner
from clickgrad.recipes.wiring import make_agent, open_venue, prompt_builder
from clickgrad.rollout.scheduler import Play, player


@dataclass(frozen=True, slots=True)
class Rollouts:
    engine: TrainedPolicy
    play: Play
    figures: Callable[[], Mapping[str, float]] = dict  # of whoever samples and plays, for the metrics of a step


OpenRollouts = Callable[[asyncio.Runner], AbstractContextManager[Rollouts]]


@contextmanager
def open_training(config: Config, apprentice: Apprentice, run: Path) -> Iterator[tuple[Learner, OpenRollouts]]:
    """The learner, and the sampling from it, which is opened when the learner stands where it goes on from."""
    if config.cluster.address:
        from clickgrad.recipes.on_cluster import open_training_on_cluster as opened
    else:
        opened = _open_here
    with opened(config, apprentice, run) as parts:
        yield parts


@contextmanager
def _open_here(config: Config, apprentice: Apprentice, run: Path) -> Iterator[tuple[Learner, OpenRollouts]]:
    with open_learner(apprentice) as learner:

        @contextmanager
        def rollouts(runner: asyncio.Runner) -> Iterator[Rollouts]:
            with open_sampler(config, learner, apprentice.start, run) as engine, open_venue(config, runner) as venue:
                builder = prompt_builder(config, learner.tokenizer)
                agent = make_agent(config, engine, builder, config.reinforce.temperature, run)
                yield Rollouts(engine, player(agent, venue), getattr(engine, "seconds", dict))  # vLLM's does not know

        yield learner, rollouts

"""Everything in this process: engine, browser, sites, learner; under torchrun the learner in all of its processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clickgrad.backends.agents import make_agent, pictured
from clickgrad.backends.policies import PolicySpec, metered, prompt_builder
from clickgrad.backends.venues import open_judge, open_venue, universe_of
from clickgrad.config import Config
from clickgrad.policy.protocol import Resting
from clickgrad.rollout.episode import Agent, run_episode
from clickgrad.rollout.live import LiveEpisode, LiveFolder
from clickgrad.rollout.venue import Venue
from clickgrad.run_layout import LIVE
from clickgrad.types import USUAL, Opening, Task, Trajectory

if TYPE_CHECKING:  # torch is loaded only by those who learn
    from clickgrad.learn.learner import LocalLearner
    from clickgrad.learn.spec import LearnerSpec
    from clickgrad.policy.protocol import TrainedPolicy


@dataclass(frozen=True, slots=True)
class LocalPlayers:
    agent: Agent
    venue: Venue
    live: LiveFolder | None = field(default=None, kw_only=True)  # where onlookers look

    async def play(self, episode: str, task: Task, seed: int, opening: Opening = USUAL) -> Trajectory:
        if self.live is None:
            return await run_episode(episode, task, seed, self.agent, self.venue, opening)
        told = LiveEpisode(self.live, episode, task, self.agent.builder.grammar)
        agent = replace(self.agent, policy=told.policy(self.agent.policy))
        trajectory = await run_episode(episode, task, seed, agent, told.venue(self.venue), opening)
        told.ended(trajectory)
        return trajectory

    async def push_weights(self, version: int) -> None:
        raise NotImplementedError("a finished policy gets no new weights")

    async def rest(self) -> None:
        """Nobody learns beside them."""

    def figures(self) -> Mapping[str, float]:
        return {}


@dataclass(frozen=True, slots=True)
class LocalTrainingPlayers(LocalPlayers):
    engine: TrainedPolicy
    learner: LocalLearner

    async def push_weights(self, version: int) -> None:
        await asyncio.to_thread(self.engine.swap_weights, self.learner.refresh_sampler, version)

    async def rest(self) -> None:
        if isinstance(self.engine, Resting):
            await asyncio.to_thread(self.engine.rest)

    def figures(self) -> Mapping[str, float]:
        return self.engine.figures()


class NoPlayers:
    """Of a run that learns from what is stored: nobody plays."""

    async def play(self, episode: str, task: Task, seed: int, opening: Opening = USUAL) -> Trajectory:
        raise NotImplementedError("nothing is played offline")

    async def push_weights(self, version: int) -> None:
        """Nobody samples from them."""

    async def rest(self) -> None:
        """Nobody plays anyway."""

    def figures(self) -> Mapping[str, float]:
        return {}


@asynccontextmanager
async def offline_players() -> AsyncIterator[NoPlayers]:
    yield NoPlayers()


@dataclass(frozen=True, slots=True)
class LocalBackend:
    config: Config
    run: Path
    quiet: bool = False

    @contextmanager
    def learner(self, spec: LearnerSpec) -> Iterator[LocalLearner]:
        from clickgrad.backends.learners import open_learner

        with open_learner(spec) as learner:
            yield learner

    @asynccontextmanager
    async def training_players(self, learner: LocalLearner) -> AsyncIterator[LocalTrainingPlayers]:
        from clickgrad.backends.engines import open_engine

        config = self.config
        with (
            open_engine(config, learner, self.run) as engine,
            LiveFolder(self.run / LIVE, universe=universe_of(config)).opened() as live,
        ):
            async with open_venue(config) as venue:
                builder = prompt_builder(config, learner.tokenizer)
                agent = make_agent(config, engine, builder, config.reinforce.temperature, self.run)
                yield LocalTrainingPlayers(agent, venue, engine, learner, live=live)

    @asynccontextmanager
    async def players(self, policy: PolicySpec) -> AsyncIterator[LocalPlayers]:
        from clickgrad.backends.engines import open_evaluated

        config = self.config
        with (
            open_evaluated(policy, config, self.run) as (opened, builder),
            metered(config, opened, self.run, self.quiet),
            LiveFolder(self.run / LIVE, universe=universe_of(config)).opened() as live,
        ):
            async with open_venue(config, open_judge(config)) as venue:
                agent = make_agent(config, opened, builder, config.evaluate.temperature, self.run)
                yield LocalPlayers(pictured(config, agent, self.run), venue, live=live)

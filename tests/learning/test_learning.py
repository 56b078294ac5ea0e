"""Does it learn what a child could, and only from true rewards? The whole loop, on a site without a browser.

Four links, one of them right. The tiny model starts as cloned from all four, so chance is a quarter.
"""

from __future__ import annotations

import asyncio
import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from tiny import FakeVenue, make_task, shuffled, teach, tiny_model, tiny_tokenizer

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import FakeElement, FakePage
from clickgrad.learn.samples import grpo_samples
from clickgrad.learn.step import grpo_step, make_optimizer
from clickgrad.learn.trainee import Trainee
from clickgrad.policy.models import LoadedModel
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.report.summary import success_rate
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.scheduler import Slot, fill_slots, player
from clickgrad.types import Observation, Trajectory, UrlCheck

NAMES = ("Apples", "Bread", "Cheese", "Dates")
HOME = FakePage("Home", tuple(FakeElement("link", name, to=f"http://toy/{name}") for name in NAMES))
SITE = {"http://toy/": HOME} | {f"http://toy/{name}": FakePage(name, (name,)) for name in NAMES}
TASK = replace(make_task(intent="Open the cheese."), checks=(UrlCheck("toy", "/Cheese"),))
REPLIES = [f'do(action="Click", element="{number}")' for number in range(4)]
GROUPS, GROUP_SIZE, STEPS = 6, 16, 80
LR, KL_BETA = 5e-4, 0.02  # small steps: noise grows with the root of their number, the signal with the number

Rewards = Callable[[Sequence[float | None], random.Random], Sequence[float | None]]


@pytest.fixture(scope="module")
def cloned() -> LoadedModel:
    """The start of every run."""
    page = Observation("http://toy/", "Home", tuple(f"link {name} [{n}]" for n, name in enumerate(NAMES)), ())
    texts = [*REPLIES, *page.lines, "Task: Open the cheese.", "Page: toy/"] * 20
    loaded = tiny_model(tiny_tokenizer(texts))
    teach(loaded, PromptBuilder(loaded.tokenizer, "plain", "short"), TASK, page, REPLIES)
    return loaded


def run_training(cloned: LoadedModel, seed: int, see_rewards: Rewards) -> list[float]:
    """Success of the sampled episodes, step by step."""
    loaded = replace(cloned, model=copy.deepcopy(cloned.model))
    builder = PromptBuilder(loaded.tokenizer, "plain", "short")
    trainee = Trainee(loaded, 0, 1, seed, with_reference=True)
    trainee.refresh_sampler()
    optimizer = make_optimizer(trainee.model, LR)
    engine = TorchEngine(trainee.sampler, max_rows=GROUPS * GROUP_SIZE)
    agent = Agent(engine, builder, Limits(max_turns=1, max_new_tokens=24))
    rng, successes = random.Random(seed), []

    def sample(step: int) -> list[Trajectory]:
        slots = [Slot(f"step-{step}/{n}", TASK, seed) for n in range(GROUPS * GROUP_SIZE)]
        filled = fill_slots(
            slots,
            player(agent, FakeVenue(SITE)),
            concurrency=len(slots),
            retries=0,
            stored={},
            on_end=lambda trajectory: None,
        )
        return asyncio.run(filled)

    for step in range(STEPS):
        trajectories = sample(step)
        successes.append(success_rate(trajectories).value)
        groups = []
        for at in range(0, len(trajectories), GROUP_SIZE):
            group = trajectories[at : at + GROUP_SIZE]
            seen = see_rewards([trajectory.reward for trajectory in group], rng)
            groups.append([replace(t, reward=reward) for t, reward in zip(group, seen, strict=True)])
        samples = grpo_samples(groups)
        if samples:
            grpo_step(trainee.model, trainee.reference, optimizer, samples, LR, 0.2, KL_BETA, 1.0, 8192)
            trainee.refresh_sampler()
        engine.swap_weights(lambda: None, step + 1)
    engine.close()
    return successes


def last(successes: list[float]) -> float:
    return sum(successes[-10:]) / 10


@pytest.mark.timeout(300)
def test_true_rewards_teach_the_task(cloned: LoadedModel) -> None:
    successes = run_training(cloned, seed=1, see_rewards=lambda rewards, rng: rewards)
    assert successes[0] < 0.6, "the start must leave something to learn"
    assert last(successes) > 0.9, successes


@pytest.mark.timeout(300)
def test_shuffled_rewards_leave_it_at_chance(cloned: LoadedModel) -> None:
    """Chance is 1/4. Averaged over seeds: one run may drift anywhere, all of them together must not."""
    ends = [last(run_training(cloned, seed, shuffled)) for seed in range(3)]
    assert 0.1 < sum(ends) / len(ends) < 0.4, ends

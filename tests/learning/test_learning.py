"""Does it learn what a child could, and only from true rewards? The whole loop, on a site without a browser.

Four links, one of them right. The tiny model starts as cloned from all four, so chance is a quarter.
"""

from __future__ import annotations

import asyncio
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
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.report.summary import success_rate
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.scheduler import Slot, fill_slots
from clickgrad.types import Observation, Trajectory, UrlCheck

NAMES = ("Apples", "Bread", "Cheese", "Dates")
HOME = FakePage("Home", tuple(FakeElement("link", name, to=f"http://toy/{name}") for name in NAMES))
SITE = {"http://toy/": HOME} | {f"http://toy/{name}": FakePage(name, (name,)) for name in NAMES}
TASK = replace(make_task(intent="Open the cheese."), checks=(UrlCheck("toy", "/Cheese"),))
REPLIES = [f'do(action="Click", element="{number}")' for number in range(4)]
GROUPS, GROUP_SIZE, STEPS = 2, 8, 14

Rewards = Callable[[Sequence[float | None], random.Random], Sequence[float | None]]


def run_training(lora_rank: int, seed: int, see_rewards: Rewards) -> list[float]:
    """Success of the sampled episodes, step by step."""
    page = Observation("http://toy/", "Home", tuple(f"[{n}] link {name}" for n, name in enumerate(NAMES)), ())
    texts = [*REPLIES, *page.lines, "Task: Open the cheese.", "Page: toy/"] * 20
    loaded = tiny_model(tiny_tokenizer(texts))
    builder = PromptBuilder(loaded.tokenizer, "plain", "short")
    teach(loaded, builder, TASK, page, REPLIES)
    trainee = Trainee(loaded, lora_rank, 2 * lora_rank or 1, seed, with_reference=False)
    trainee.refresh_sampler()
    optimizer = make_optimizer(trainee.model, 1e-3)
    engine = TorchEngine(trainee.sampler)
    agent = Agent(engine, builder, Limits(max_turns=1, max_new_tokens=24))
    rng, successes = random.Random(seed), []
    lr = 1e-2 if lora_rank else 1e-3

    def sample(step: int) -> list[Trajectory]:
        slots = [Slot(f"step-{step}/{n}", TASK, seed) for n in range(GROUPS * GROUP_SIZE)]
        filled = fill_slots(
            slots, agent, FakeVenue(SITE), concurrency=16, retries=0, stored={}, on_end=lambda trajectory: None
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
            grpo_step(trainee.model, None, optimizer, samples, lr, 0.2, 0.0, 1.0, 8192)
            trainee.refresh_sampler()
        engine.weights_changed(step + 1)
    engine.close()
    return successes


@pytest.mark.parametrize("lora_rank", [0, 8])
def test_true_rewards_teach_the_task(lora_rank: int) -> None:
    successes = run_training(lora_rank, seed=1, see_rewards=lambda rewards, rng: rewards)
    assert successes[0] < 0.6, "the start must leave something to learn"
    assert sum(successes[-3:]) / 3 > 0.9, successes


def test_shuffled_rewards_teach_nothing() -> None:
    """Averaged over seeds: one run may drift anywhere, all of them together must not drift to the goal."""
    ends = [sum(run_training(0, seed, shuffled)[-3:]) / 3 for seed in range(4)]
    assert sum(ends) / len(ends) < 0.5, ends

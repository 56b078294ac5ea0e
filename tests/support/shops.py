"""The recipe's own loop on a site without a browser: what learns, samples, gathers and refills is what a run uses.

Two shops, and a task in each. Two clicks, each on one of two links, lead to one of four things. The tiny model starts
as cloned from both clicks alike, so chance is a quarter.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tiny import FakeVenue, make_task, make_trajectory, make_turn, save, tiny_model, tiny_tokenizer

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.backends.agents import make_agent
from clickgrad.backends.engines import open_engine
from clickgrad.backends.learners import build_learner, reinforce_spec
from clickgrad.backends.local import LocalTrainingPlayers
from clickgrad.backends.policies import prompt_builder
from clickgrad.browser import FakeElement, FakePage
from clickgrad.browser.fake import FakeSession
from clickgrad.config import AgentSection, load_config
from clickgrad.learn.ranks import ALONE
from clickgrad.learn.samples import clone_samples
from clickgrad.learn.step import clone_step, make_optimizer
from clickgrad.policy.models import load_model
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.recipes.algorithm import make_algorithm
from clickgrad.recipes.following import Earlier, Recalled
from clickgrad.recipes.probing import Probe
from clickgrad.recipes.progress import resume
from clickgrad.recipes.reinforce import reinforce_learner
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.rollout.retell import retell
from clickgrad.rollout.scheduler import Bounds
from clickgrad.run_layout import METRICS
from clickgrad.types import PageCheck, Task, Trajectory, UrlCheck

SHOPS = {
    "market": {"Dairy": ("Butter", "Cheese"), "Fruit": ("Apples", "Figs")},
    "hardware": {"Nails": ("Brass", "Iron"), "Paint": ("Blue", "Red")},
}


def links(names: Iterable[str], folder: str) -> FakePage:
    return FakePage("Shop", tuple(FakeElement("link", name, to=f"{folder}/{name}") for name in names))


def shop(name: str) -> dict[str, FakePage]:
    """A page of shelves, a page of things for each of them, and a page for every thing."""
    home, shelves = f"http://toy/{name}", SHOPS[name]
    pages = {home: links(shelves, home)}
    pages |= {f"{home}/{shelf}": links(things, f"{home}/{shelf}") for shelf, things in shelves.items()}
    return pages | {
        f"{home}/{shelf}/{one}": FakePage(one, (one, shelf)) for shelf, things in shelves.items() for one in things
    }


def wanting(shop: str, shelf: str, thing: str) -> Task:
    task = make_task(f"open-{thing}", f"Open the {thing}.", url=f"http://toy/{shop}")
    return replace(task, checks=(UrlCheck("toy", f"/{shop}/{shelf}/{thing}"),))


def pages_of(task: Task) -> list[str]:
    """Where an episode can be when it acts."""
    home = task.start_urls[0]
    return [home, *(f"{home}/{shelf}" for shelf in SHOPS[home.rpartition("/")[2]])]


SITE = shop("market") | shop("hardware")
TASKS = [wanting("market", "Fruit", "Figs"), wanting("hardware", "Paint", "Red")]
ANY_OF_THE_SHELF = [
    replace(task, checks=(PageCheck((shelf,)),)) for task, shelf in zip(TASKS, ("Fruit", "Paint"), strict=True)
]
CLICKS = [f'do(action="Click", element="{number}")' for number in range(2)]
TEACHING_STEPS = 400  # leaves the choice of a link to chance, and hardly anything else


def cloned(folder: Path) -> Path:
    """A model that clicks on either link, at either turn of either task, and does nothing else."""
    loaded = tiny_model(tiny_tokenizer([*CLICKS, "Task: Open the Figs.", "Page: toy/market/Dairy", "link [0]"] * 20))
    builder = PromptBuilder(loaded.tokenizer, "plain", "short")
    turns = []
    for task in TASKS:
        home, *shelves = [asyncio.run(FakeSession(SITE, [url]).observe()) for url in pages_of(task)]
        prompts = [builder.prompt("teach", task, (), home)]
        for click, shelf in zip(CLICKS, shelves, strict=True):
            prompts.append(builder.prompt("teach", task, (builder.reply(click),), shelf))
        turns += [make_turn(prompt.ids, builder.reply(click).ids) for prompt in prompts for click in CLICKS]
    for word, click in zip(("first", "second"), CLICKS, strict=True):
        # Said for a reason here, so that the two numbers differ for the model: adapters leave its embeddings alone.
        told = replace(TASKS[0], intent=f"Open the {word} link.")
        prompt = builder.prompt("teach", told, (), asyncio.run(FakeSession(SITE, [pages_of(told)[0]]).observe()))
        turns.append(make_turn(prompt.ids, builder.reply(click).ids))
    samples = clone_samples(make_trajectory(turns, 1.0))
    optimizer = make_optimizer(loaded.model, lr=3e-3)
    for step in range(TEACHING_STEPS):
        clone_step(loaded.model, optimizer, samples, lr=3e-3 * (1 - step / TEACHING_STEPS), micro_tokens=4096)
    return save(loaded, folder)


def demonstrations(start: Path) -> list[Trajectory]:
    """Of both tasks, told in the tokens of the model at `start`."""
    builder = PromptBuilder(load_model(str(start)).tokenizer, "plain", "short", AgentSection().page_tokens)
    clicks = {"Figs": (1, 1), "Red": (1, 1)}
    shown = []
    for task in TASKS:
        policy = FixedPolicy("expert", [CLICKS[number] for number in clicks[task.id.removeprefix("open-")]])
        agent = Agent(policy, PromptBuilder(None, "plain"), Limits(max_turns=2, max_new_tokens=32))
        shown.append(asyncio.run(run_episode(f"demo-{task.id}", task, 0, agent, FakeVenue(SITE))))
    assert [one.reward for one in shown] == [1.0, 1.0]
    return [retell(one, builder) for one in shown]


def train(
    start: Path,
    run: Path,
    *options: str,
    tasks: Sequence[Task] = TASKS,
    followed: Sequence[Trajectory] = (),
    probed: Sequence[Task] = (),
) -> list[dict[str, Any]]:
    """`clickgrad reinforce` from where its parts are opened; returns the metrics, a row a step."""
    common = ["agent.max_turns=2", "agent.max_new_tokens=16", "rollout.concurrency=64", "reinforce.groups=4"]
    common += ["reinforce.group_size=16", "reinforce.max_refills=2", "reinforce.kl_beta=0.01", "model.device=cpu"]
    config = load_config(None, [*common, *options], "reinforce")
    learner = build_learner(replace(reinforce_spec(config, str(start)), with_reference=True), ALONE)
    prompt_format = prompt_builder(config, learner.tokenizer).fingerprint
    algorithm = make_algorithm(config, tasks, followed, Recalled(run), Earlier(run, prompt_format))
    run.mkdir(parents=True, exist_ok=True)

    async def learn() -> None:
        with open_engine(config, learner, run) as engine:
            builder = prompt_builder(config, learner.tokenizer)
            agent = make_agent(config, engine, builder, config.reinforce.temperature, run)
            players = LocalTrainingPlayers(agent, FakeVenue(SITE), engine, learner)
            probe = Probe(run, probed, config.reinforce.probe_every, Bounds(64, 0), config.seed) if probed else None
            await reinforce_learner(config, run, algorithm, learner, players, resume(run, learner), probe)

    run.mkdir(parents=True, exist_ok=True)
    threads = torch.get_num_threads()
    try:
        asyncio.run(learn())
    finally:
        torch.set_num_threads(threads)
    return [json.loads(line) for line in (run / METRICS).read_text().splitlines()]

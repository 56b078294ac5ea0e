"""From configuration to parts: the only place that reads options and builds what the recipes use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from clickgrad.agent.prompt import PromptBuilder, Tokenizer
from clickgrad.browser.chromium import require_chromium
from clickgrad.browser.pool import Browser
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.policy.protocol import Policy
from clickgrad.policy.scripted import ExpertPolicy, noop_policy
from clickgrad.recipes.run_folder import MODEL
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.venue import ArenaVenue
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import Split, Task
from clickgrad.worlds.arena import Arena

if TYPE_CHECKING:  # torch is loaded only by those who use a model
    from clickgrad.policy.models import LoadedModel


def chosen_tasks(config: Config, split: Split | Literal["all"]) -> tuple[Task, ...]:
    wanted = config.tasks
    tasks = load_tasks(wanted.suite, split, wanted.seed)
    _refuse_unknown("templates", wanted.templates, {task.template for task in tasks}, wanted.suite)
    _refuse_unknown("sites", wanted.sites, {site for task in tasks for site in task.sites}, wanted.suite)
    if wanted.templates:
        tasks = tuple(task for task in tasks if task.template in wanted.templates)
    if wanted.sites:
        tasks = tuple(task for task in tasks if set(task.sites) <= set(wanted.sites))
    if wanted.max_expert_turns:
        tasks = tuple(task for task in tasks if (task.expert_turns or 0) <= wanted.max_expert_turns)
    if not tasks:
        raise UserError(f"no task of {wanted.suite} ({split}) fits tasks.sites, templates and max_expert_turns")
    return tasks


def _refuse_unknown(option: str, wanted: Sequence[str], known: set[str], suite: str) -> None:
    unknown = sorted(set(wanted) - known)
    if unknown:
        raise UserError(f"tasks.{option}: no {unknown[0]!r} in {suite}; known are {', '.join(sorted(known))}")


def prompt_builder(config: Config, tokenizer: Tokenizer | None) -> PromptBuilder:
    agent = config.agent
    return PromptBuilder(tokenizer, agent.reply_format, agent.system, agent.page_tokens)


def make_agent(config: Config, policy: Policy, builder: PromptBuilder, temperature: float, run: Path) -> Agent:
    limits = Limits(
        max_turns=config.agent.max_turns,
        max_new_tokens=config.agent.max_new_tokens,
        temperature=temperature,
        episode_s=config.rollout.episode_s,
        reply_s=config.rollout.reply_s,
    )
    return Agent(policy, builder, limits, _screenshots(run / "screenshots") if config.rollout.screenshots else None)


def _screenshots(folder: Path) -> Callable[[str, bytes], str]:
    folder.mkdir(parents=True, exist_ok=True)

    def save(name: str, jpeg: bytes) -> str:
        file = name.replace("/", "-") + ".jpg"
        (folder / file).write_bytes(jpeg)
        return file

    return save


@contextmanager
def open_venue(config: Config, runner: asyncio.Runner) -> Iterator[ArenaVenue]:
    """The sites and a browser, for as long as the block lasts; both end with it, whatever happens."""
    executable = require_chromium()
    with Arena(config.tasks.seed) as arena:
        browser = Browser(arena.hosts, executable, rendering=config.agent.rendering)
        try:
            runner.run(browser.__aenter__())
            yield ArenaVenue(arena, browser)
        finally:
            runner.run(browser.__aexit__(None, None, None))


@contextmanager
def open_policy(spec: str, config: Config) -> Iterator[tuple[Policy, PromptBuilder]]:
    """A policy by the name the user gave it: scripted:expert, scripted:noop, torch:<model>, or a run's folder."""
    kind, _, name = spec.partition(":")
    if kind == "scripted" and name in ("expert", "noop"):
        scripted = ExpertPolicy if name == "expert" else noop_policy
        policy: Policy = scripted(config.agent.reply_format)
        builder = prompt_builder(config, None)
    elif kind == "torch" or Path(spec).is_dir():
        from clickgrad.policy.torch_engine import TorchEngine

        loaded = load_torch(config, model_source(name if kind == "torch" else spec))
        policy = TorchEngine(loaded, name=spec, max_rows=config.rollout.concurrency)
        builder = prompt_builder(config, loaded.tokenizer)
    else:
        raise UserError(
            f"unknown policy {spec!r}: use scripted:expert, scripted:noop, torch:smollm2, torch:<folder or hub id>, "
            "or a run folder"
        )
    try:
        yield policy, builder
    finally:
        policy.close()


def model_source(name: str) -> str:
    """A run folder stands for the model it made: the last one, if it made several."""
    made = [Path(name) / MODEL, Path(name) / "reinforce" / MODEL, Path(name) / "clone" / MODEL]
    return next((str(folder) for folder in made if folder.is_dir()), name)


def share_threads() -> int:
    """Halve torch's threads, for sampling and learning at the same time; returns the half that is left."""
    import torch

    half = max(1, torch.get_num_threads() // 2)
    torch.set_num_threads(half)
    return half


def load_torch(config: Config, source: str) -> LoadedModel:
    import torch

    from clickgrad.policy.models import load_model

    if config.model.threads:
        torch.set_num_threads(config.model.threads)
    return load_model(source)

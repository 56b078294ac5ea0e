"""From configuration to parts: the only place that reads options and builds what the recipes use."""

from __future__ import annotations

import asyncio
import importlib.util
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from clickgrad.agent.prompt import PromptBuilder, Tokenizer
from clickgrad.browser.chromium import require_chromium
from clickgrad.browser.pool import Browser
from clickgrad.config import AgentSection, Config, TasksSection
from clickgrad.errors import UserError, warn
from clickgrad.policy.protocol import Policy
from clickgrad.policy.scripted import ExpertPolicy, noop_policy, replies_policy
from clickgrad.recipes.interrupts import run_async
from clickgrad.recipes.run_folder import CONFIG, MADE_BY, MODEL
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.miniwob_venue import open_miniwob
from clickgrad.rollout.venue import Venue, open_arena
from clickgrad.tasks.pocket import TRAINED, Mix, mixed_tasks
from clickgrad.tasks.suites import is_own_site, is_webarena, load_tasks
from clickgrad.types import Split, Task

if TYPE_CHECKING:  # torch is loaded only by those who use a model
    from clickgrad.policy.models import LoadedModel
    from clickgrad.rollout.webarena_services import Judge


def chosen_tasks(config: Config, split: Split | Literal["all"]) -> tuple[Task, ...]:
    wanted = config.tasks
    if any(wanted.each.model_dump().values()):
        return _drawn(wanted, split)
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


def _drawn(wanted: TasksSection, split: Split | Literal["all"]) -> tuple[Task, ...]:
    """With `tasks.each`. What fits is drawn, not picked out: every template gives its full number."""
    each = wanted.each
    if wanted.suite != "pocket":
        raise UserError(f"tasks.each: only pocket has more instances to draw, not {wanted.suite}; set tasks.each={{}}")
    if not (each.train and each.test and each.demo):
        raise UserError("tasks.each: give numbers for train, test and demo, or for none of them")
    _refuse_unknown("templates", wanted.templates, {template.full_name for template in TRAINED}, wanted.suite)
    _refuse_unknown("sites", wanted.sites, {site for template in TRAINED for site in template.on}, wanted.suite)
    names = frozenset(
        template.full_name
        for template in TRAINED
        if (not wanted.templates or template.full_name in wanted.templates)
        and (not wanted.sites or set(template.on) <= set(wanted.sites))
    )
    if not names:
        raise UserError("no template of pocket fits tasks.sites and templates")
    mix = Mix(names, **each.model_dump(), max_turns=wanted.max_expert_turns)
    return tuple(task for task in mixed_tasks(wanted.seed, mix) if split in ("all", task.split))


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
def open_venue(config: Config, runner: asyncio.Runner, judge: Judge | None = None) -> Iterator[Venue]:
    """The suite's sites and a browser, for as long as the block lasts; both end with it, whatever happens."""
    executable = require_chromium()

    @contextmanager
    def open_browser(hosts: Mapping[str, str]) -> Iterator[Browser]:
        rollout = config.rollout
        browser = Browser(hosts, executable, rendering=config.agent.rendering, browsers=rollout.browsers)
        try:
            yield run_async(runner, browser.__aenter__())
        finally:
            run_async(runner, browser.__aexit__(None, None, None))

    opened: AbstractContextManager[Venue]
    match config.tasks.suite:
        case "miniwob":
            opened = open_miniwob(open_browser)
        case suite if is_webarena(suite):
            from clickgrad.rollout.webarena_venue import open_webarena

            opened = open_webarena(open_browser, judge)
        case folder if is_own_site(folder):
            from clickgrad.rollout.own_site_venue import open_own_site

            rendering = config.agent.rendering
            if config.rollout.browsers > 1:
                raise UserError("rollout.browsers: a site of your own has a browser for each of its copies already")
            opened = open_own_site(Path(folder), runner, lambda hosts: Browser(hosts, executable, rendering=rendering))
        case _:
            opened = open_arena(config.tasks.seed, open_browser)
    with opened as venue:
        yield venue


@contextmanager
def open_policy(spec: str, config: Config) -> Iterator[tuple[Policy, PromptBuilder]]:
    """A policy by the name the user gave it: scripted:expert, torch:<model>, chat:<model>, a run's folder, ..."""
    kind, _, name = spec.partition(":")
    policy = open_scripted(spec, config)
    if policy:
        builder = prompt_builder(config, None)
    elif kind == "chat":
        from clickgrad.recipes.hosted import open_chat

        policy = open_chat(config, name)
        builder = prompt_builder(config, None)
    elif kind == "vllm":
        require_httpx()
        from clickgrad.policy.vllm_engine import VllmEngine

        policy = servers = VllmEngine(name.split(","), most_tokens=config.model.context_tokens)
        builder = prompt_builder(config, servers.tokenizer)
    elif kind == "torch" or Path(spec).is_dir():
        from clickgrad.policy.torch_engine import TorchEngine

        loaded = load_torch(config, model_source(name if kind == "torch" else spec))
        policy = TorchEngine(loaded, name=spec, max_rows=config.rollout.concurrency)
        builder = prompt_builder(config, loaded.tokenizer)
    else:
        raise UserError(
            f"unknown policy {spec!r}: use scripted:expert, scripted:noop, torch:smollm2, torch:<folder or hub id>, "
            "vllm:<url>, chat:<model>, or a run folder"
        )
    try:
        yield policy, builder
    finally:
        policy.close()


def open_scripted(spec: str, config: Config) -> Policy | None:
    """None when it is a policy of another kind."""
    kind, _, name = spec.partition(":")
    if kind != "scripted":
        return None
    if name in ("expert", "noop"):
        return (ExpertPolicy if name == "expert" else noop_policy)(config.agent.reply_format)
    return replies_policy(spec, Path(name)) if Path(name).is_file() else None


def as_trained(config: Config, spec: str) -> Config:
    """With the agent's options of the run that made the policy: its prompts looked so, and its episodes were so long.

    An option that the user set stays as he set it, and a line says what the policy is used to.
    """
    kind, _, name = spec.partition(":")
    agent, file = config.agent, _made_by(model_source(name if kind == "torch" else spec))
    if file is None:
        return config
    try:
        trained = AgentSection.model_validate(tomllib.loads(file.read_text()).get("agent", {}))
    except (OSError, ValueError) as error:
        warn(f"how {spec} was prompted is not known, {file} cannot be read: {str(error).splitlines()[0]}")
        return config
    other = {name: value for name, value in trained.model_dump().items() if value != getattr(agent, name)}
    taken = {name: value for name, value in other.items() if name not in agent.model_fields_set}
    for option in other.keys() - taken.keys():
        warn(f"agent.{option} = {getattr(agent, option)!r}, but {spec} was trained with {other[option]!r}")
    if taken:
        warn(f"as {spec} was trained: " + ", ".join(f"agent.{option} = {value!r}" for option, value in taken.items()))
    return config.model_copy(update={"agent": agent.model_copy(update=taken)})


def _made_by(model: str) -> Path | None:
    """The options of the run that made this model: a copy within its folder, or the run's own beside it."""
    folder = Path(model)
    beside = [folder.parent / CONFIG] if folder.name == MODEL and folder.is_dir() else []
    return next((file for file in (folder / MADE_BY, *beside) if file.is_file()), None)


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

    from clickgrad.policy.device import choose_device
    from clickgrad.policy.models import load_model

    options = config.model
    if options.threads:
        torch.set_num_threads(options.threads)
    loaded = load_model(source)
    model = loaded.model.to(choose_device(options.device), getattr(torch, options.dtype))
    return replace(loaded, model=model, most_tokens=options.context_tokens)


def require_httpx() -> None:
    if importlib.util.find_spec("httpx") is None:
        raise UserError("vLLM servers are spoken to with httpx, which is missing: pip install 'clickgrad[vllm]'")

"""Which tasks the options choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from clickgrad.config import Config, TasksSection
from clickgrad.display import say
from clickgrad.errors import UserError, did_you_mean
from clickgrad.tasks.pocket import TRAINED, Mix, mixed_tasks
from clickgrad.tasks.suites import load_tasks
from clickgrad.tasks.webarena.checks import needs_judge
from clickgrad.types import Split, Task


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
        raise UserError(
            f"tasks.{option}: no {unknown[0]!r} in {suite}{did_you_mean(unknown[0], known)}; "
            f"known are {', '.join(sorted(known))}"
        )


def find_task(tasks: Sequence[Task], name: str, suite: str) -> Task:
    found = next((task for task in tasks if task.id == name), None)
    if found is None:
        near = did_you_mean(name, [task.id for task in tasks])
        raise UserError(f"no task {name!r} in {suite}{near}; `clickgrad tasks --suite {suite}` lists them")
    return found


def without_judge(tasks: Sequence[Task], tell: Callable[[str], None] = say) -> tuple[Task, ...]:
    """Those that rules alone can judge: an opinion is no reward."""
    kept = tuple(task for task in tasks if not needs_judge(task))
    if not kept:
        raise UserError("every task chosen takes a judge, and opinions are no rewards: choose others")
    if len(kept) < len(tasks):
        tell(f"{len(tasks) - len(kept)} of {len(tasks)} tasks take a judge, whose opinions are no rewards: left out")
    return kept


def training_tasks(config: Config, tell: Callable[[str], None] = say) -> tuple[Task, ...]:
    """Those a policy can earn a reward in: rules alone judge them, and an expert gets there within the turns it has."""
    tasks = without_judge(chosen_tasks(config, "train"), tell)
    most = config.agent.max_turns
    kept = tuple(task for task in tasks if (task.expert_turns or 0) <= most)
    if not kept:
        raise UserError(f"every training task takes an expert more than agent.max_turns={most} turns: raise it")
    if len(kept) < len(tasks):
        tell(f"{len(tasks) - len(kept)} of {len(tasks)} training tasks take more than agent.max_turns={most}: left out")
    return kept

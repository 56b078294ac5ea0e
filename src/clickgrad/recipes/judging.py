"""The judge as an option: who is asked in an evaluation, and which tasks are no part of training."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.recipes.display import say
from clickgrad.recipes.wiring import chosen_tasks
from clickgrad.tasks.suites import is_webarena
from clickgrad.tasks.webarena.checks import needs_judge
from clickgrad.types import Task

if TYPE_CHECKING:
    from clickgrad.rollout.webarena_services import Judge


def open_judge(config: Config) -> Judge | None:
    options = config.judge
    if not options.url and not options.model:
        return None
    if not options.url or not options.model:
        raise UserError("a judge takes both judge.url and judge.model")
    if not is_webarena(config.tasks.suite):
        raise UserError(f"no check of the suite {config.tasks.suite} asks a judge: leave judge.url and judge.model out")
    from clickgrad.rollout.webarena_services import Judge

    return Judge(options.url, options.model, os.environ.get(options.key_variable, ""), options.timeout_s)


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

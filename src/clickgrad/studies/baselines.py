"""The paper's table on one stack: its baselines and M-GRPO after the same clone, on the same tasks, seed by seed.

Two budgets, each with a table of its own: the same minutes, in which cloning on is an arm, too; and the same episodes,
among them the arms that learn offline from what the clone played.
"""

from __future__ import annotations

from functools import partial
from math import ceil
from pathlib import Path

from clickgrad.backends.policies import TorchModel
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.recipes.algorithm import refuse_silent
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.train import made
from clickgrad.report.baselines import OFFLINE
from clickgrad.report.forks import CLONING
from clickgrad.report.study_report import StudyReport
from clickgrad.run_folder import open_run
from clickgrad.studies.arms import (
    ENDLESS,
    Options,
    Train,
    clone_on,
    refuse_own_settings,
    reinforce_on,
    train_arms,
    with_options,
)
from clickgrad.studies.folders import close_study

BATCH = 64  # turns of an optimizer step, but for M-GRPO
ALGORITHMS: dict[str, tuple[str, dict[str, Options]]] = {  # of each arm, with the options of its own section
    "filtered-bc-offline": ("filtered-bc", {}),
    "awr-offline": ("awr", {}),
    "filtered-bc": ("filtered-bc", {}),
    "awr": ("awr", {}),
    "digirl": ("digirl", {}),
    "webrl-paper": ("webrl", {"webrl": {"form": "paper", "beta": 0.3}}),
    "webrl-code": ("webrl", {"webrl": {"form": "code"}}),
    "m-grpo": ("m-grpo", {}),
}


async def study_baselines(config: Config, run: Path) -> StudyReport:
    _refuse(config)
    with open_run(run, config, "study baselines"):
        await train_arms(config, run, config.baselines.seeds, _arms(config))
        return close_study(run)


def _arms(config: Config) -> dict[str, Train]:
    own, arms = config.baselines, dict[str, Train]()
    for arm in own.arms if own.minutes else ():
        if arm == CLONING:
            arms[f"minutes/{arm}"] = partial(clone_on, minutes=own.minutes)
        elif arm not in OFFLINE:
            arms[f"minutes/{arm}"] = partial(_online, arm=arm, budget={"minutes": own.minutes})
    for arm in own.arms if own.episodes else ():
        if arm in OFFLINE:
            arms[f"episodes/{arm}"] = partial(_offline, arm=arm)
        elif arm != CLONING:
            arms[f"episodes/{arm}"] = partial(_online, arm=arm, budget={"episodes": own.episodes, "clock": "wall"})
    return arms


async def _online(config: Config, cloned: Path, folder: Path, arm: str, budget: Options) -> Path:
    return await reinforce_on(_learning(config, arm, {"steps": ENDLESS} | budget), cloned, folder)


async def _offline(config: Config, cloned: Path, folder: Path, arm: str) -> Path:
    played = folder.parent.parent / "rollouts"
    await _play(config, made(cloned), played)
    return await reinforce_on(_learning(config, arm, {"rollouts": str(played), "clock": "wall"}), cloned, folder)


async def _play(config: Config, policy: TorchModel, folder: Path) -> None:
    """What the clone does in the training tasks, once for all offline arms of a seed."""
    wanted, tasks = config.baselines.rollouts, len(chosen_tasks(config, "train"))
    options = {
        "split": "train",
        "limit": min(wanted, tasks),
        "attempts": ceil(wanted / tasks),
        "temperature": config.reinforce.temperature,
    }
    await evaluate(with_options(config, evaluate=options), policy, folder, "rollouts of the clone")


def _learning(config: Config, arm: str, options: Options) -> Config:
    """Every arm plays as many episodes in a step; only M-GRPO needs groups, so the others have more tasks."""
    name, sections = ALGORITHMS[arm]
    if name != "m-grpo":
        size = 1 if name == "webrl" else 2
        episodes = config.reinforce.groups * config.reinforce.group_size
        options = {"batch": BATCH, "group_size": size, "groups": max(1, episodes // size)} | options
    return with_options(config, reinforce={"algorithm": name} | options, **sections)


def _refuse(config: Config) -> None:
    own = config.baselines
    if not own.minutes and not own.episodes:
        raise UserError("baselines.minutes and baselines.episodes are both 0: there is nothing to do")
    refuse_own_settings(config, ("algorithm", "rollouts", "batch", "minutes", "episodes"), "baselines.minutes")
    for arm in own.arms:  # what an arm cannot do is said now, not hours later
        if arm != CLONING:
            refuse_silent(_learning(config, arm, {"minutes": own.minutes or 1.0}))

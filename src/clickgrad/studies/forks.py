"""What resettable worlds add to learning: arms that get the same minutes after the same clone, seed by seed.

Every arm but the first is reinforcement. `paper` is M-GRPO as it stands; `evidence` sizes steps by what they have to go
by and samples where there is something to learn; the next three add one thing each to it, and `all` has everything.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from clickgrad.config import Config
from clickgrad.recipes.algorithm import refuse_silent
from clickgrad.recipes.following import refuse_unforkable
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

EVIDENCE: Options = {
    "average_over": "asked",
    "normalizer": "constant",  # turns that a whole group took then cancel, however long its episodes are
    "warmup": 3,
    "divisor": "none",
    "require_exit": True,
    "turn_discount": 0.95,
    "curriculum": "posterior",
    "first_part": 3,
}
STARTS: Options = {"starts": "demos"}
BRANCHES: Options = {"branches": 2, "forks": 2, "credit": "tree"}
REPLAY: Options = {"replay": 1, "ratio_bound": 2.0}
ARMS: dict[str, Options] = {
    "paper": {},
    "evidence": EVIDENCE,
    "starts": EVIDENCE | STARTS,
    "branches": EVIDENCE | BRANCHES,
    "replay": EVIDENCE | REPLAY,
    "all": EVIDENCE | STARTS | BRANCHES | REPLAY,
}


async def study_forks(config: Config, run: Path) -> StudyReport:
    _refuse(config)
    with open_run(run, config, "study forks"):
        arms: dict[str, Train] = {arm: _training(config, arm) for arm in config.forks.arms}
        await train_arms(config, run, config.forks.seeds, arms)
        return close_study(run)


def _training(config: Config, arm: str) -> Train:
    return partial(clone_on, minutes=config.forks.minutes) if arm == CLONING else partial(_reinforced, arm=arm)


async def _reinforced(config: Config, cloned: Path, folder: Path, arm: str) -> Path:
    return await reinforce_on(_learning(config, arm), cloned, folder)


def _learning(config: Config, arm: str) -> Config:
    return with_options(config, reinforce={"minutes": config.forks.minutes, "steps": ENDLESS} | ARMS[arm])


def _refuse(config: Config) -> None:
    refuse_own_settings(config, ("minutes", *ARMS["all"]), "forks.minutes")
    for arm in config.forks.arms:  # what an arm cannot do is said now, not hours later
        if arm != CLONING:
            refuse_silent(_learning(config, arm))
            refuse_unforkable(_learning(config, arm))

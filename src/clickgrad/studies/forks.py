"""What resettable worlds add to learning: arms that get the same minutes after the same clone, seed by seed.

Every arm but the first is reinforcement. `paper` is M-GRPO as it stands; `evidence` sizes steps by what they have to go
by and samples where there is something to learn; the next three add one thing each to it, and `all` has everything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.policy.spec import TorchModel
from clickgrad.recipes.algorithm import refuse_silent
from clickgrad.recipes.clone import clone
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.following import refuse_unforkable
from clickgrad.recipes.reinforce import reinforce
from clickgrad.recipes.train import made
from clickgrad.report.forks import CLONING, ENDS
from clickgrad.report.page import read_report
from clickgrad.report.studies import StudyReport
from clickgrad.run_folder import open_run
from clickgrad.run_layout import DEMOS, TRAJECTORIES
from clickgrad.studies.folders import close_study

Options = dict[str, Any]
EVIDENCE: Options = {
    "average_over": "asked",
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
RATE = 0.3  # of the clone's, at which cloning goes on: its own schedule had come down to nothing
ENDLESS = 1000  # epochs, or steps: the minutes end it


async def study_forks(config: Config, run: Path) -> StudyReport:
    """Goes on where it stopped: what is finished is passed over, and an arm's minutes count over all sittings."""
    _refuse_own_settings(config)
    with open_run(run, config, "study forks"):
        for seed in config.forks.seeds:
            own = config.model_copy(update={"seed": seed})
            folder = run / f"seed-{seed}"
            cloned = await clone(own, folder / "clone")
            await evaluate(own, made(cloned), folder / "evaluate-clone", f"seed {seed}, the clone")
            for arm in config.forks.arms:
                model = await _trained(own, cloned, arm, folder / arm)
                await evaluate(own, model, folder / arm / ENDS, f"seed {seed}, {arm}")
                read_report(folder / arm).save(folder / arm)
        return close_study(run)


async def _trained(config: Config, cloned: Path, arm: str, folder: Path) -> TorchModel:
    minutes = config.forks.minutes
    if arm == CLONING:
        options: Options = {
            "minutes": minutes,
            "clock": config.reinforce.clock,
            "epochs": ENDLESS,
            "patience": 0,
            "lr": RATE * config.clone.lr,
        }
        start = {"path": str(cloned)}
        further = config.model_copy(
            update={
                "clone": config.clone.model_copy(update=options),
                "model": config.model.model_copy(update=start),
            }
        )
        return made(await clone(further, folder / "clone", cloned.parent / TRAJECTORIES / DEMOS))
    return made(await reinforce(_learning(config, arm), str(cloned), folder / "reinforce"))


def _learning(config: Config, arm: str) -> Config:
    options = {"minutes": config.forks.minutes, "steps": ENDLESS} | ARMS[arm]
    return config.model_copy(update={"reinforce": config.reinforce.model_copy(update=options)})


def _refuse_own_settings(config: Config) -> None:
    """What the arms are about is theirs to set."""
    usual = type(config.reinforce)()
    for name in ("minutes", *ARMS["all"]):
        if getattr(config.reinforce, name) != getattr(usual, name):
            raise UserError(f"reinforce.{name}: this study sets it itself, arm by arm; leave it out")
    if config.clone.minutes:
        raise UserError("clone.minutes: this study sets it itself; set forks.minutes")
    for arm in config.forks.arms:  # what an arm cannot do is said now, not hours later
        if arm != CLONING:
            refuse_silent(_learning(config, arm))
            refuse_unforkable(_learning(config, arm))

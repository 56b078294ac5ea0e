"""Arms of a study: each goes on from the same clone, seed by seed, and is evaluated on the same tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.recipes.clone import clone
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.reinforce import reinforce
from clickgrad.recipes.train import made
from clickgrad.report.forks import ENDS
from clickgrad.report.page import read_report
from clickgrad.run_layout import DEMOS, TRAJECTORIES

Options = dict[str, Any]
Train = Callable[[Config, Path, Path], Awaitable[Path]]  # of a seed, from the clone's model, in a folder: to a model
RATE = 0.3  # of the clone's, at which cloning goes on: its own schedule had come down to nothing
ENDLESS = 1000  # epochs, or steps: the budget ends it


async def train_arms(config: Config, run: Path, seeds: Sequence[int], arms: Mapping[str, Train]) -> None:
    """Goes on where it stopped: what is finished is passed over, and an arm's budget counts over all sittings."""
    for seed in seeds:
        own = config.model_copy(update={"seed": seed})
        folder = run / f"seed-{seed}"
        cloned = await clone(own, folder / "clone")
        await evaluate(own, made(cloned), folder / "evaluate-clone", f"seed {seed}, the clone")
        for arm, train in arms.items():
            model = made(await train(own, cloned, folder / arm))
            await evaluate(own, model, folder / arm / ENDS, f"seed {seed}, {arm}")
            read_report(folder / arm).save(folder / arm)


async def clone_on(config: Config, cloned: Path, folder: Path, minutes: float) -> Path:
    """The arm that only goes on cloning."""
    options = {
        "minutes": minutes,
        "clock": config.reinforce.clock,
        "epochs": ENDLESS,
        "patience": 0,
        "lr": RATE * config.clone.lr,
    }
    further = with_options(config, clone=options, model={"path": str(cloned)})
    return await clone(further, folder / "clone", cloned.parent / TRAJECTORIES / DEMOS)


async def reinforce_on(config: Config, cloned: Path, folder: Path) -> Path:
    return await reinforce(config, str(cloned), folder / "reinforce")


def with_options(config: Config, **sections: Options) -> Config:
    return config.model_copy(
        update={name: getattr(config, name).model_copy(update=options) for name, options in sections.items()}
    )


def refuse_own_settings(config: Config, names: Sequence[str], budget: str) -> None:
    """What the arms are about is theirs to set."""
    usual = type(config.reinforce)()
    for name in names:
        if getattr(config.reinforce, name) != getattr(usual, name):
            raise UserError(f"reinforce.{name}: this study sets it itself, arm by arm; leave it out")
    if config.clone.minutes:
        raise UserError(f"clone.minutes: this study sets it itself; set {budget}")

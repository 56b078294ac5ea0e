"""Train: demonstrations, cloning, reinforcement, and an evaluation before, between and after. The default run."""

from __future__ import annotations

from pathlib import Path

from clickgrad.backends.engines import refuse_unready, refuse_useless
from clickgrad.backends.policies import TorchModel
from clickgrad.backends.tasks import chosen_tasks, training_tasks
from clickgrad.config import Config
from clickgrad.display import say
from clickgrad.recipes.clone import clone
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.reinforce import reinforce
from clickgrad.report.page import RunReport, read_report
from clickgrad.run_folder import open_run
from clickgrad.run_layout import CLONE, REINFORCE


async def train(config: Config, run: Path) -> RunReport:
    """Each part keeps its own folder and is passed over when its result is there: run it again after any kill."""
    refuse_useless(config)
    refuse_unready(config, config.model.path)
    chosen_tasks(config, "demo")  # what cannot be trained on is said now, not by a later part
    training_tasks(config, tell=lambda _: None)
    with open_run(run, config, "train"):
        base = TorchModel.of(config.model.path)
        before = await evaluate(for_the_start(config), base, run / "evaluate-start", "evaluate before cloning")
        say(f"before cloning: {before.success}")
        cloned = await clone(config, run / CLONE)
        after_clone = await evaluate(config, made(cloned), run / "evaluate-clone", "evaluate after cloning")
        say(f"after cloning: {after_clone.success}")
        reinforced = await reinforce(config, str(cloned), run / REINFORCE)
        await evaluate(config, made(reinforced), run / "evaluate-reinforce", "evaluate after reinforcement")
        report = read_report(run)
        report.save(run)
        return report


def made(folder: Path) -> TorchModel:
    """The policy that a training left in its folder."""
    return TorchModel(str(folder), str(folder))


def for_the_start(config: Config) -> Config:
    """A model that was taught nothing rambles up to every limit: it takes longest, and few tasks show that it fails."""
    limits = [limit for limit in (config.train.start_limit, config.evaluate.limit) if limit]
    return config.model_copy(update={"evaluate": config.evaluate.model_copy(update={"limit": min(limits, default=0)})})

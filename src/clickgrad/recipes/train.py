"""Train: demonstrations, cloning, reinforcement, and an evaluation before, between and after. The default run."""

from __future__ import annotations

from pathlib import Path

from clickgrad.config import Config
from clickgrad.recipes.clone import clone
from clickgrad.recipes.display import say
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.judging import training_tasks
from clickgrad.recipes.reinforce import reinforce
from clickgrad.recipes.run_folder import open_run
from clickgrad.recipes.wiring import chosen_tasks
from clickgrad.report.page import RunReport, read_report


def train(config: Config, run: Path) -> RunReport:
    """Each stage keeps its own folder and is passed over when its result is there: run it again after any kill."""
    chosen_tasks(config, "demo")  # what cannot be trained on is said now, not by a later stage
    training_tasks(config, tell=lambda _: None)
    with open_run(run, config, "train"):
        bare = f"torch:{config.model.path}"
        start = evaluate(for_the_start(config), bare, run / "evaluate-start", "evaluate before cloning")
        say(f"before cloning: {start.success}")
        cloned = clone(config, run / "clone")
        after_clone = evaluate(config, str(cloned), run / "evaluate-clone", "evaluate after cloning")
        say(f"after cloning: {after_clone.success}")
        reinforced = reinforce(config, str(cloned), run / "reinforce")
        evaluate(config, str(reinforced), run / "evaluate-reinforce", "evaluate after reinforcement")
        report = read_report(run)
        report.save(run)
        return report


def for_the_start(config: Config) -> Config:
    """A model that was taught nothing rambles up to every limit: it takes longest, and few tasks show that it fails."""
    limits = [limit for limit in (config.train.start_limit, config.evaluate.limit) if limit]
    return config.model_copy(update={"evaluate": config.evaluate.model_copy(update={"limit": min(limits, default=0)})})

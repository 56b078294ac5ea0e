"""Train: demonstrations, cloning, reinforcement, and an evaluation before, between and after. The default run."""

from __future__ import annotations

from pathlib import Path

from clickgrad.config import Config
from clickgrad.recipes.clone import clone
from clickgrad.recipes.display import say
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.reinforce import reinforce
from clickgrad.recipes.run_folder import open_run
from clickgrad.report.page import RunReport, read_report


def train(config: Config, run: Path) -> RunReport:
    """Each stage keeps its own folder and is passed over when its result is there: run it again after any kill."""
    with open_run(run, config, "train"):
        start = evaluate(config, f"torch:{config.model.path}", run / "evaluate-start", "evaluate before cloning")
        say(f"before cloning: {start.success}")
        cloned = clone(config, run / "clone")
        after_clone = evaluate(config, str(cloned), run / "evaluate-clone", "evaluate after cloning")
        say(f"after cloning: {after_clone.success}")
        reinforced = reinforce(config, str(cloned), run / "reinforce")
        evaluate(config, str(reinforced), run / "evaluate-reinforce", "evaluate after reinforcement")
        report = read_report(run)
        report.save(run)
        return report

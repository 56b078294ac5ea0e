"""Train: demonstrations, cloning, reinforcement, and an evaluation before, between and after. The default run."""

from __future__ import annotations

import time
from pathlib import Path

from clickgrad.config import Config
from clickgrad.recipes.clone import clone
from clickgrad.recipes.display import say
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.reinforce import reinforce
from clickgrad.recipes.run_folder import METRICS, open_run
from clickgrad.report.metrics import Metrics
from clickgrad.report.page import TrainReport


def train(config: Config, run: Path) -> TrainReport:
    """Each stage keeps its own folder and is passed over when its result is there: run it again after any kill."""
    began = time.monotonic()
    with open_run(run, config, "train"):
        start = evaluate(config, f"torch:{config.model.path}", run / "evaluate-start", "evaluate before cloning")
        say(f"before cloning: {start.success}")
        cloned = clone(config, run / "clone")
        after_clone = evaluate(config, str(cloned), run / "evaluate-clone", "evaluate after cloning")
        say(f"after cloning: {after_clone.success}")
        reinforced = reinforce(config, str(cloned), run / "reinforce")
        after_rl = evaluate(config, str(reinforced), run / "evaluate-reinforce", "evaluate after reinforcement")
        report = TrainReport(
            evaluations=(("before cloning", start), ("after cloning", after_clone), ("after reinforcement", after_rl)),
            clone_metrics=tuple(Metrics(run / "clone" / METRICS).read()),
            reinforce_metrics=tuple(Metrics(run / "reinforce" / METRICS).read()),
            options=config.model_dump(),
            seconds=time.monotonic() - began,
        )
        report.save(run)
        return report

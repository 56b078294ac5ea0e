"""What RL starts from: the base model (R1-Zero), plain cloning (R1), cloning on long reasoning (R1-CoT).

The paper finds that cloning is needed, and that RL gains more after short replies than after long reasoning. The bare
model and the CoT arm reply in the thinking format, as in the paper; everything else is the same in all three.
"""

from __future__ import annotations

from pathlib import Path

from clickgrad.backends.policies import TorchModel
from clickgrad.config import Config
from clickgrad.recipes.clone import clone
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.reinforce import reinforce
from clickgrad.recipes.train import made
from clickgrad.report.page import read_report
from clickgrad.report.study_report import StudyReport
from clickgrad.run_folder import open_run
from clickgrad.studies.folders import close_study, refuse_own_format, with_thinking


async def study_start(config: Config, run: Path) -> StudyReport:
    """`clone.remarks` says who reasons in the CoT arm: the experts at length, or a hosted model as chat:<model>."""
    refuse_own_format(config)
    reasoned = config.clone.remarks if config.clone.remarks != "short" else "long"
    with open_run(run, config, "study start"):
        thinking = with_thinking(config)
        await _from_bare_model(thinking, run / "zero")
        await _from_clone(_with_remarks(config, "short"), run / "r1", "R1")
        await _from_clone(_with_remarks(thinking, reasoned), run / "cot", "R1-CoT")
        return close_study(run)


async def _from_bare_model(config: Config, folder: Path) -> None:
    await evaluate(config, TorchModel.of(config.model.path), folder / "evaluate-start", "R1-Zero before RL")
    trained = await reinforce(config, config.model.path, folder / "reinforce")
    await evaluate(config, made(trained), folder / "evaluate-reinforce", "R1-Zero after RL")
    read_report(folder).save(folder)


async def _from_clone(config: Config, folder: Path, name: str) -> None:
    cloned = await clone(config, folder / "clone")
    await evaluate(config, made(cloned), folder / "evaluate-clone", f"{name} before RL")
    trained = await reinforce(config, str(cloned), folder / "reinforce")
    await evaluate(config, made(trained), folder / "evaluate-reinforce", f"{name} after RL")
    read_report(folder).save(folder)


def _with_remarks(config: Config, remarks: str) -> Config:
    return config.model_copy(update={"clone": config.clone.model_copy(update={"remarks": remarks})})

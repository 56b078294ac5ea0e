"""Prompting baselines: policies as they are, nothing trained, on one suite."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clickgrad.backends.agents import as_trained
from clickgrad.backends.policies import PolicySpec
from clickgrad.config import Config
from clickgrad.recipes.evaluate import evaluate
from clickgrad.report.study_report import StudyReport
from clickgrad.run_folder import open_run
from clickgrad.studies.folders import close_study, policy_folders


async def study_prompting(config: Config, policies: Sequence[PolicySpec], run: Path) -> StudyReport:
    with open_run(run, config, "study prompting", ", ".join(map(str, policies))):
        for policy, folder in policy_folders(run, policies):
            await evaluate(as_trained(config, policy), policy, folder, str(policy))
        return close_study(run)

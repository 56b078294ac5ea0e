"""Prompting baselines: policies as they are, nothing trained, on one suite."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clickgrad.config import Config
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.run_folder import open_run
from clickgrad.recipes.studies.folders import close_study, policy_folders
from clickgrad.recipes.wiring import as_trained
from clickgrad.report.studies import StudyReport


def study_prompting(config: Config, policies: Sequence[str], run: Path) -> StudyReport:
    with open_run(run, config, "study prompting", ", ".join(policies)):
        for policy, folder in policy_folders(run, policies):
            evaluate(as_trained(config, policy), policy, folder, policy)
        return close_study(run)

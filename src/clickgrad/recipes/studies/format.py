"""Thinking against non-thinking replies, prompting only: the same policies on the same tasks and seeds, twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clickgrad.config import Config
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.run_folder import open_run
from clickgrad.recipes.studies.folders import close_study, policy_folders, refuse_own_format, settled, with_thinking
from clickgrad.recipes.wiring import as_trained
from clickgrad.report.studies import StudyReport


def study_format(config: Config, policies: Sequence[str], run: Path) -> StudyReport:
    refuse_own_format(config)
    plain = settled(config, "reply_format", "max_new_tokens")
    with open_run(run, config, "study format", ", ".join(policies)):
        for policy, folder in policy_folders(run, policies):
            for arm, own in (("plain", plain), ("thinking", with_thinking(config))):
                evaluate(as_trained(own, policy), policy, folder / arm, f"{policy}, {arm}")
        return close_study(run)

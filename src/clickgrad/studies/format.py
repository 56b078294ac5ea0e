"""Thinking against non-thinking replies, prompting only: the same policies on the same tasks and seeds, twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clickgrad.backends.agents import as_trained
from clickgrad.backends.policies import PolicySpec
from clickgrad.config import Config
from clickgrad.recipes.evaluate import evaluate
from clickgrad.report.study_report import StudyReport
from clickgrad.run_folder import open_run
from clickgrad.studies.folders import close_study, policy_folders, refuse_own_format, settled, with_thinking


async def study_format(config: Config, policies: Sequence[PolicySpec], run: Path) -> StudyReport:
    refuse_own_format(config)
    plain = settled(config, "reply_format", "max_new_tokens")
    with open_run(run, config, "study format", ", ".join(map(str, policies))):
        for policy, folder in policy_folders(run, policies):
            for arm, own in (("plain", plain), ("thinking", with_thinking(config))):
                await evaluate(as_trained(own, policy), policy, folder / arm, f"{policy}, {arm}")
        return close_study(run)

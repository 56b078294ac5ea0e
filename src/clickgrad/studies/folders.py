"""What the studies share: a folder for each policy, the thinking variant of a configuration, and the closing report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from clickgrad.backends.policies import PolicySpec
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.report.studies import read_study
from clickgrad.report.study_report import StudyReport

MOST_POLICIES = 99


def policy_folders(run: Path, policies: Sequence[PolicySpec]) -> list[tuple[PolicySpec, Path]]:
    """`torch:smollm2` goes into `01-torch-smollm2`; the number keeps the order, and names apart that look alike."""
    if len(policies) > MOST_POLICIES:
        raise UserError(f"--policy: at most {MOST_POLICIES} in one study")
    if len(set(policies)) < len(policies):
        raise UserError("--policy: the same one is given twice")
    slugs = [re.sub(r"[^A-Za-z0-9.]+", "-", str(policy)).strip("-.")[-40:] for policy in policies]
    return [
        (policy, run / f"{number:02d}-{slug}")
        for number, (policy, slug) in enumerate(zip(policies, slugs, strict=True), 1)
    ]


def with_thinking(config: Config) -> Config:
    options = {"reply_format": "thinking", "max_new_tokens": config.thinking.max_new_tokens}
    return config.model_copy(update={"agent": config.agent.model_copy(update=options)})


def settled(config: Config, *options: str) -> Config:
    """These options of the agent are the study's own, whatever the policy is used to."""
    own = {option: getattr(config.agent, option) for option in options}
    return config.model_copy(update={"agent": config.agent.model_copy(update=own)})


def refuse_own_format(config: Config) -> None:
    if config.agent.reply_format != "plain":
        raise UserError("agent.reply_format: this study sets it itself; leave it at plain")


def close_study(run: Path) -> StudyReport:
    report = read_study(run)
    assert report, "the run folder says which study it is"
    report.save(run)
    return report

"""`clickgrad study STUDY`: the paper's studies in small."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from clickgrad.cli.declaring import option, policies_of, recipe
from clickgrad.errors import ClickgradError

if TYPE_CHECKING:  # pydantic is too slow for --help
    from clickgrad.config import Config
    from clickgrad.report.study_report import StudyReport

PRESET = "study"
POLICIES = option(
    "--policy", action="append", metavar="P", help="as for evaluate; may be repeated (default: torch:<model.path>)"
)


@recipe(
    "study start",
    "RL from the base model, from plain cloning, from cloned long reasoning",
    preset=PRESET,
    trains=True,
)
async def study_start(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.start import study_start

    return _text(await study_start(config, options.run), options)


@recipe(
    "study forks",
    "what resettable worlds add to learning, in the same minutes after the same clone",
    preset="study-forks",
    trains=True,
)
async def study_forks(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.forks import study_forks

    return _text(await study_forks(config, options.run), options)


@recipe(
    "study baselines",
    "Filtered BC, AWR, DigiRL, WebRL and M-GRPO after the same clone, in the same minutes and the same episodes",
    preset="study-baselines",
    trains=True,
)
async def study_baselines(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.baselines import study_baselines

    return _text(await study_baselines(config, options.run), options)


@recipe("study format", "thinking against non-thinking replies, prompting only", POLICIES, preset=PRESET)
async def study_format(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.format import study_format

    return _text(await study_format(config, policies_of(config, options), options.run), options)


@recipe("study turns", "success over the turn limit, from one rollout", POLICIES, preset=PRESET)
async def study_turns(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.turns import study_turns

    return _text(await study_turns(config, policies_of(config, options), options.run), options)


@recipe("study prompting", "policies as they are, by site", POLICIES, preset=PRESET)
async def study_prompting(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.prompting import study_prompting

    return _text(await study_prompting(config, policies_of(config, options), options.run), options)


def _text(report: StudyReport, options: argparse.Namespace) -> str:
    text = f"\n{report.text()}\n\nreport: {options.run / 'report.html'}"
    if report.unmeasured:
        print(text)
        raise ClickgradError(f"nothing was measured in {report.unmeasured} of the evaluations")
    return text

"""The loops: train, demos, clone, reinforce, evaluate."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clickgrad.cli.declaring import JSON, option, policy_of, recipe
from clickgrad.errors import ClickgradError

if TYPE_CHECKING:  # pydantic is too slow for --help
    from clickgrad.config import Config
    from clickgrad.report.stats import Rate

POLICY = option(
    "--policy",
    metavar="P",
    help="scripted:expert, scripted:noop, torch:<folder, hub id or smollm2>, vllm:<url>, chat:<model>, "
    "shipped:<name>, or a run folder (default: torch:<model.path>)",
)


@recipe("train", "demonstrations, cloning, reinforcement, with an evaluation around each", preset="quick", trains=True)
async def train(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.display import journey, say
    from clickgrad.planning.journey import closing_lines, opening_lines, reckon_stages
    from clickgrad.recipes.train import train

    stages = reckon_stages(config)
    say("\n".join(opening_lines(stages, options.run)))
    with journey(stages):
        report = await train(config, options.run)
    text = f"\nSuccess on held-out tasks\n{report.table()}\n\nreport: {options.run / 'report.html'}\n"
    text += "\n".join(closing_lines(options.run))
    return _measured(text, [evaluation.success for _, evaluation in report.evaluations])


@recipe(
    "demos",
    "record demonstrations by the scripted experts",
    option("--out", type=Path, required=True, metavar="FILE", help="trajectory file to write, *.jsonl.zst"),
    run_folder=False,
)
async def demos(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.recipes.demos import record_demos

    passed = await record_demos(config, options.out)
    turns = sum(len(demonstration.turns) for demonstration in passed)
    return f"{len(passed)} demonstrations with {turns} turns in {options.out}"


@recipe(
    "clone",
    "behaviour cloning on demonstrations",
    option("--demos", type=Path, metavar="FILE", help="demonstrations; recorded first when not given"),
    trains=True,
)
async def clone(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.recipes.clone import clone

    return f"cloned model: {await clone(config, options.run, options.demos)}"


@recipe(
    "reinforce",
    "M-GRPO on live episodes",
    option("--start", metavar="MODEL", help="model or run folder to start from (default: model.path)"),
    trains=True,
    one_policy=True,
)
async def reinforce(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.recipes.reinforce import reinforce

    return f"trained model: {await reinforce(config, options.start or config.model.path, options.run)}"


@recipe("evaluate", "success rate of a policy on a suite", POLICY, JSON, one_policy=True)
async def evaluate(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.recipes.evaluate import evaluate

    report = await evaluate(config, policy_of(config, options), options.run, quiet=options.json)
    text = json.dumps(report.plain()) if options.json else f"{report.text()}\n\nreport: {options.run / 'report.html'}"
    return _measured(text, [report.success])


def _measured(text: str, rates: Sequence[Rate]) -> str:
    """What is printed is an answer only if something was measured."""
    empty = next((rate for rate in rates if not rate.n), None)
    if empty:
        print(text)
        raise ClickgradError(f"nothing was measured: {empty.lost or 'no episode'}")
    return text

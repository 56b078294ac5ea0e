"""How a command is declared: one decorated function with its options beside it, in a module that `parser.py` lists.

    @command("compare", "two evaluations against each other, task by task", RUNS, JSON)
    def compare(options: argparse.Namespace) -> int:

    @recipe("evaluate", "success rate of a policy on a suite", POLICY, JSON, one_policy=True)
    async def evaluate(config: Config, options: argparse.Namespace) -> str:

A recipe has `--config`, `--set` and `--dry-run`; the sections it reads stand in `config.READ_BY`. Nothing heavy is
imported before a command runs: all of this is loaded for `--help`, too.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from clickgrad.errors import UserError
from clickgrad.interrupts import run

if TYPE_CHECKING:  # pydantic is too slow for --help
    from clickgrad.backends.policies import PolicySpec
    from clickgrad.config import Config

    Recipe = Callable[[Config, argparse.Namespace], Coroutine[Any, Any, str]]  # does the work; says what came of it

DONE, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130
PRESETS = sorted(file.stem for file in (Path(__file__).parent.parent / "presets").glob("*.toml"))
AddOption = Callable[[argparse.ArgumentParser], object]


@dataclass(frozen=True, slots=True)
class Command:
    name: str  # a word, or two for one of a group: "study turns"
    text: str  # for --help
    options: tuple[AddOption, ...]
    run: Callable[[argparse.Namespace], int]


def option(*names: str, **how: Any) -> AddOption:
    return lambda parser: parser.add_argument(*names, **how)


JSON = option("--json", action="store_true", help="print the figures as one JSON object")


def command(name: str, text: str, *options: AddOption) -> Callable[[Callable[[argparse.Namespace], int]], Command]:
    return lambda function: Command(name, text, options, function)


def recipe(
    name: str,
    text: str,
    *options: AddOption,
    preset: str | None = None,  # for users who name no configuration
    run_folder: bool = True,
    trains: bool = False,  # so that torchrun may start it
    one_policy: bool = False,  # which brings its own prompt format, if a run made it
) -> Callable[[Recipe], Command]:
    def declare(function: Recipe) -> Command:
        run_it = partial(_run_recipe, name, function, preset, trains, one_policy)
        return Command(name, text, (*_recipe_options(name, run_folder), *options), run_it)

    return declare


def _recipe_options(name: str, run_folder: bool) -> list[AddOption]:
    folder = "runs/quick" if name == "train" else f"runs/{name.replace(' ', '-')}"  # as `make train` has it
    run_option = option("--run", type=Path, default=Path(folder), metavar="DIR", help=f"run folder (default: {folder})")
    return [
        *([run_option] if run_folder else []),
        option("--config", metavar="F", help=f"a TOML file or a preset: {', '.join(PRESETS)}"),
        option("--set", action="append", default=[], metavar="a.b=v", help="set one option; may be repeated"),
        option("--dry-run", action="store_true", help="print the resolved plan and stop"),
    ]


def _run_recipe(
    name: str, function: Recipe, preset: str | None, trains: bool, one_policy: bool, options: argparse.Namespace
) -> int:
    from clickgrad.config import load_config

    config = load_config(options.config, options.set, name, default=preset)
    _refuse_silent_settings(config, options)
    if one_policy:
        from clickgrad.backends.agents import as_trained
        from clickgrad.backends.policies import TorchModel

        start = getattr(options, "start", None)
        config = as_trained(config, TorchModel.of(start) if start else policy_of(config, options))
    if options.dry_run:
        from clickgrad.planning.dry_run import resolved

        print(resolved(config, name, getattr(options, "policy", None)), end="")
    elif int(os.environ.get("WORLD_SIZE", "1")) > 1:
        if not trains:
            raise UserError(f"`clickgrad {name}` trains nothing: start it without torchrun")
        _run_on_ranks(lambda: print(run(function(config, options))))
    else:
        print(run(function(config, options)))
    return DONE


def _refuse_silent_settings(config: Config, options: argparse.Namespace) -> None:
    """What else was said may leave a setting without effect."""
    given = [setting.partition("=")[0].strip() for setting in options.set]
    policy, start = getattr(options, "policy", None), getattr(options, "start", None)
    if "model.path" in given and (policy or start):
        word = "--policy" if policy else "--start"
        raise UserError(f"--set model.path: {word} says already which model it is; leave one of the two out")
    asked = [*([policy] if isinstance(policy, str) else policy or ()), config.clone.remarks]
    setting = next((name for name in given if name.startswith("chat.")), None)
    if setting and not any(one.startswith("chat:") for one in asked):
        raise UserError(f"--set {setting}: no hosted model is asked here; name one, as --policy chat:<model>")


def _run_on_ranks(run_all: Callable[[], None]) -> NoReturn:
    """Under `torchrun`: rank 0 runs the recipe, the others learn with it."""
    from clickgrad.backends.learners import dismiss_ranks, follow_rank_0
    from clickgrad.learn.ranks import leave_ranks

    if os.environ.get("RANK") == "0":
        run_all()
        dismiss_ranks()
    else:
        follow_rank_0()
    leave_ranks()


def policy_of(config: Config, options: argparse.Namespace) -> PolicySpec:
    """The one the user named, or the model of the options."""
    from clickgrad.backends.policies import TorchModel, parse_policy

    given = getattr(options, "policy", None)
    return parse_policy(given) if given else TorchModel.of(config.model.path)


def policies_of(config: Config, options: argparse.Namespace) -> list[PolicySpec]:
    """As `policy_of`, where several may be named."""
    from clickgrad.backends.policies import TorchModel, parse_policy

    return [parse_policy(one) for one in options.policy or ()] or [TorchModel.of(config.model.path)]

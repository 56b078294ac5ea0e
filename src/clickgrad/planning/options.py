"""What a user says to `clickgrad plan`, and what of it makes no sense. Light: the parser is built for every command."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, fields
from typing import Any

from clickgrad.errors import UserError

MOST = 1e6  # of any number
MOST_TURNS = 50_000  # of a step: more would take the simulation longer than anybody waits
BESIDE_LIKE = {"model", "device", "gpus", "learners", "cores", "browsers", "site_wait_s", "like", "measured"}


def _option(default: Any, text: str, metavar: str = "N", least: int = 1) -> Any:
    """A default of 0 below the least, or an empty one, means that nothing was said."""
    return field(default=default, metadata={"help": text.format(default), "metavar": metavar, "least": least})


@dataclass(frozen=True, slots=True)
class Options:
    model: str = _option("", "smollm2, qwen2.5-3b, llama-3.1-8b, ..., or a folder with a config.json", "M")
    device: str = _option("cpu-2core", "{} (default), a100-80gb, h100-80gb, l40s-48gb", "D")
    gpus: int = _option(0, "how many of the device, where it is a GPU")
    learners: int = _option(0, "GPUs that learn; the others sample (default: half)")
    cores: int = _option(0, "processor cores for the browsers, on all hosts together")
    browsers: int = _option(0, "browser sessions at once (default: as many as episodes a step)")
    groups: int = _option(16, "tasks of a step (default: {})")
    group_size: int = _option(4, "episodes of a task, G (default: {})")
    refills: int = _option(
        0, "groups of a step that are sampled anew because all members have the same reward (default: {})", least=0
    )
    turns: float = _option(8.0, "of an episode, in the mean (default: {})")
    page_tokens: int = _option(3000, "of a page as the model reads it (default: {})")
    reply_tokens: int = _option(48, "that a turn draws, in the mean (default: {})")
    lora_rank: int = _option(0, "0 trains all parameters (default: {})", least=0)
    micro_tokens: int = _option(16384, "of one pass of an update (default: {})")
    recompute: bool = _option(False, "layers are computed twice, not kept (learner.recompute)")
    reference: bool = _option(False, "score against the start policy too (kl_beta above 0)")
    ahead: bool = _option(False, "sample during updates (max_staleness above 0)")
    site_wait_s: float = _option(0.0, "seconds that a site takes for a page, beyond ours", "S", least=0)
    like: str = _option("", "take the workload from a run, and compare with what it took", "RUN")
    measured: str = _option("", "lines of `clickgrad bench engine|browser|learn|worlds --json`", "FILE")


def add_plan_options(command: argparse.ArgumentParser) -> None:
    """What is not said is not in the namespace, so that it can be told from what is."""
    for option in fields(Options):
        how: dict[str, Any] = {"type": type(option.default), "metavar": option.metadata["metavar"]}
        how = {"action": "store_true"} if option.default is False else how
        command.add_argument(_flag(option.name), default=argparse.SUPPRESS, help=option.metadata["help"], **how)
    command.add_argument("--json", action="store_true", help="print the figures as one JSON object")


def read_plan_options(arguments: argparse.Namespace) -> Options:
    said = {option.name: getattr(arguments, option.name) for option in fields(Options) if option.name in arguments}
    for option in fields(Options):
        value, least = said.get(option.name), option.metadata["least"]
        if isinstance(value, int | float) and not least <= value <= MOST:
            raise UserError(f"{_flag(option.name)} {value}: give a number from {least} to {MOST:.0f}")
    options = Options(**said)
    if options.like and (doubled := [name for name in said if name not in BESIDE_LIKE]):
        raise UserError(f"{_flag(doubled[0])}: --like takes it from the run; leave one of the two out")
    if not options.like and not options.model:
        raise UserError("say --model NAME, or take a run as the pattern: --like RUN")
    if options.groups < options.refills:
        raise UserError(f"--refills {options.refills}: there are only {options.groups} groups")
    if (turns := (options.groups + options.refills) * options.group_size * options.turns) > MOST_TURNS:
        raise UserError(f"{turns:.0f} turns in all episodes of a step: plan at most {MOST_TURNS}")
    return options


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")

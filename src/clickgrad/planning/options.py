"""What a user says to `clickgrad plan`, and what of it makes no sense. Light: the parser is built for every command."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError

MOST = 1e6
MOST_TURNS = 50_000  # of a step: more would take the simulation longer than anybody waits
WORKLOAD = {  # option: (default, what it is)
    "groups": (16, "tasks of a step"),
    "group_size": (4, "episodes of a task, G"),
    "refills": (0, "groups of a step that are sampled anew because all members fared alike"),
    "turns": (8.0, "of an episode, in the mean"),
    "page_tokens": (3000, "of a page as the model reads it"),
    "reply_tokens": (48, "that a turn draws, in the mean"),
}
LEARNING = {
    "lora_rank": (0, "0 trains all parameters"),
    "micro_tokens": (16384, "of one pass of an update"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """None where the user said nothing."""

    model: str | None = None
    device: str = "cpu-2core"
    gpus: int | None = None
    learners: int | None = None
    cores: int | None = None
    browsers: int | None = None
    groups: int | None = None
    group_size: int | None = None
    refills: int | None = None
    turns: float | None = None
    page_tokens: int | None = None
    reply_tokens: int | None = None
    lora_rank: int | None = None
    micro_tokens: int | None = None
    recompute: bool | None = None
    reference: bool | None = None
    ahead: bool | None = None
    site_wait_s: float = 0.0
    like: Path | None = None
    measured: Path | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name in ("refills", "lora_rank", "site_wait_s") else 1
            if isinstance(value, int | float) and not (isfinite(value) and least <= value <= MOST):
                raise UserError(f"{flag(field.name)} {value}: give a number from {least} to {MOST:.0f}")
        if self.like is not None:
            self._refuse_with_like()
        elif self.model is None:
            raise UserError("say --model NAME, or take a run as the pattern: --like RUN")
        self._refuse_odd_groups()

    def _refuse_with_like(self) -> None:
        given = [
            name
            for name in (*WORKLOAD, *LEARNING, "recompute", "reference", "ahead")
            if getattr(self, name) is not None
        ]
        if given:
            raise UserError(f"{flag(given[0])}: --like takes it from the run; leave one of the two out")

    def _refuse_odd_groups(self) -> None:
        groups, refills = self.number("groups"), self.number("refills")
        if groups < refills:
            raise UserError(f"--refills {refills}: there are only {groups} groups")
        if (turns := (groups + refills) * self.number("group_size") * self.number("turns")) > MOST_TURNS:
            raise UserError(f"{turns:.0f} turns in all episodes of a step: plan at most {MOST_TURNS}")

    def number(self, name: str) -> Any:
        """As given, else the default."""
        value = getattr(self, name)
        return (WORKLOAD | LEARNING)[name][0] if value is None else value


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_plan_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--model", metavar="M", help="smollm2, qwen2.5-3b, llama-3.1-8b, ..., or a folder with a config.json")
    add("--device", default="cpu-2core", metavar="D", help="cpu-2core (default), a100-80gb, h100-80gb, l40s-48gb")
    add("--gpus", type=int, metavar="N", help="how many of the device, where it is a GPU")
    add("--learners", type=int, metavar="N", help="GPUs that learn; the others sample (default: half)")
    add("--cores", type=int, metavar="N", help="processor cores for the browsers, on all hosts together")
    add("--browsers", type=int, metavar="N", help="browser sessions at once (default: as many as episodes a step)")
    for name, (default, text) in (WORKLOAD | LEARNING).items():
        add(flag(name), type=type(default), metavar="N", help=f"{text} (default: {default})")
    add(
        "--recompute", action="store_true", default=None, help="layers are computed twice, not kept (learner.recompute)"
    )
    add("--reference", action="store_true", default=None, help="score against the start policy too (kl_beta above 0)")
    add("--ahead", action="store_true", default=None, help="sample during updates (max_staleness above 0)")
    add("--site-wait-s", type=float, default=0.0, metavar="S", help="seconds that a site takes for a page, beyond ours")
    add("--like", type=Path, metavar="RUN", help="take the workload from a run, and compare with what it took")
    add("--measured", type=Path, metavar="FILE", help="lines of `clickgrad bench engine|browser|learn|worlds --json`")
    add("--json", action="store_true", help="print the figures as one JSON object")


def read_plan_options(arguments: argparse.Namespace) -> Options:
    return Options(**{field.name: getattr(arguments, field.name) for field in fields(Options)})

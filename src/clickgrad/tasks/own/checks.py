"""Checks in the user's own Python: what they may look at, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError, WorldError
from clickgrad.tasks.own.tasks import CHECKS
from clickgrad.tasks.own.user_code import functions, user_code
from clickgrad.types import Finding, Scalar, Task
from clickgrad.worlds.site_http import ask


@dataclass(frozen=True, slots=True)
class Ended:
    """An episode that is over, and the copy of the site it happened on. Passed to every check.

    A check returns True, False, or why it is False.
    """

    task: Task
    answer: str | None  # what the agent said with exit(...); None if it never did
    url: str  # of the page it ended on
    page_text: str
    site: str  # where this copy answers: http://127.0.0.1:40123
    data: Path | None  # this copy's {data}; None if the site was not started by a command

    def param(self, name: str) -> Scalar:
        return self.task.param(name)

    def fetch(self, path: str) -> str:
        """What the site answers to GET, past the browser."""
        reply = ask(self.site.rstrip("/") + path)
        if reply.status >= 400:
            raise WorldError(f"GET {path}: status {reply.status}")
        return reply.text


Checker = Callable[[Ended], Any]


def named_checks(folder: Path) -> Mapping[str, Checker]:
    return functions(folder / CHECKS)


def run_check(name: str, checker: Checker, ended: Ended, path: Path) -> Finding:
    """A check that breaks or says neither yes nor no leaves the episode unjudged."""
    try:
        with user_code(path):
            return _finding(name, checker(ended), path)
    except UserError as broken:
        return Finding(name, None, str(broken))


def _finding(name: str, said: Any, path: Path) -> Finding:
    match said:
        case bool():
            return Finding(name, said, f"{name} says {'yes' if said else 'no'}")
        case str() if said:
            return Finding(name, False, said)
    return Finding(name, None, f"{path}: {name} returned {said!r}: return True, False, or why it is False")

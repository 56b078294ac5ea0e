"""Experts in the user's own Python: experts.py, with a generator function for each template."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clickgrad.errors import UserError
from clickgrad.tasks.moves import ExpertLost, MakeScript, Move, Script
from clickgrad.tasks.own.user_code import functions, line_in, user_code
from clickgrad.types import Observation, Task

EXPERTS = "experts.py"


def has_own_expert(task: Task) -> bool:
    return _named(task) in functions(Path(task.suite) / EXPERTS)


def _named(task: Task) -> str:
    return re.sub(r"\W", "_", task.template)


def own_script(task: Task) -> MakeScript:
    path = Path(task.suite) / EXPERTS
    name = _named(task)
    scripts = functions(path)
    if name not in scripts:
        known = ", ".join(scripts) or "none"
        raise UserError(f"task {task.id}: there is no expert `{name}` in {path}; there are: {known}")
    return lambda task, page: _guarded(path, scripts[name], task, page)


def _guarded(path: Path, make: MakeScript, task: Task, page: Observation) -> Script:
    with _told_of(path, task):
        script = make(task, page)
        move = next(script, None)
    while move is not None:
        if not isinstance(move, Move):
            what = f"the expert of {task.template} yielded {move!r}"
            raise UserError(f"task {task.id}: {path}: {what}: yield click(...), fill(...), ...")
        page = yield move
        with _told_of(path, task):
            try:
                move = script.send(page)
            except StopIteration:
                return


@contextmanager
def _told_of(path: Path, task: Task) -> Iterator[None]:
    """What goes wrong inside names the task, the file and the line."""
    try:
        with user_code(path):
            yield
    except ExpertLost as lost:
        line = line_in(lost, path)
        raise ExpertLost(f"{path}, line {line}: {lost}" if line else str(lost)) from lost
    except UserError as error:
        raise UserError(f"task {task.id}: {error}") from error

"""Experts in the user's own Python: experts.py, with a generator function for each template."""

from __future__ import annotations

import re
from pathlib import Path

from clickgrad.errors import UserError
from clickgrad.tasks.moves import MakeScript, Move, Script
from clickgrad.tasks.own.user_code import functions, user_code
from clickgrad.types import Observation, Task

EXPERTS = "experts.py"


def own_script(task: Task) -> MakeScript:
    path = Path(task.suite) / EXPERTS
    name = re.sub(r"\W", "_", task.template)
    scripts = functions(path)
    if name not in scripts:
        known = ", ".join(scripts) or "none"
        raise UserError(f"task {task.id}: there is no expert `{name}` in {path}; there are: {known}")
    return lambda task, page: _guarded(path, scripts[name], task, page)


def _guarded(path: Path, make: MakeScript, task: Task, page: Observation) -> Script:
    with user_code(path):
        script = make(task, page)
        move = next(script, None)
    while move is not None:
        if not isinstance(move, Move):
            raise UserError(f"{path}: the expert of {task.template} yielded {move!r}: yield click(...), fill(...), ...")
        page = yield move
        with user_code(path):
            try:
                move = script.send(page)
            except StopIteration:
                return

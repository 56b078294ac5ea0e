"""The scripted expert of a task, to prove it solvable and to demonstrate it. It sees only what an agent sees.

expert = Expert(task)
move = expert.move(observation)      # and so on, until the action is Exit
"""

from __future__ import annotations

from clickgrad.errors import UserError
from clickgrad.tasks.moves import ExpertLost, Move, Script
from clickgrad.tasks.pocket import TEMPLATES
from clickgrad.types import Observation, Task

_PLAYS = {template.full_name: template.play for template in TEMPLATES}


class Expert:
    """Plays one task once."""

    def __init__(self, task: Task) -> None:
        if task.template not in _PLAYS:
            raise UserError(f"task {task.id}: there is no scripted expert for the template {task.template!r}")
        self._task = task
        self._script: Script | None = None

    def move(self, observation: Observation) -> Move:
        try:
            if self._script is None:
                self._script = _PLAYS[self._task.template](self._task, observation)
                return next(self._script)
            return self._script.send(observation)
        except StopIteration:
            raise ExpertLost(f"task {self._task.id}: the expert has already finished") from None

"""The scripted expert of a task, to prove it solvable and to demonstrate it. It sees only what an agent sees.

expert = Expert(task)
move = expert.move(observation)      # and so on, until the action is Exit
"""

from __future__ import annotations

from clickgrad.errors import UserError
from clickgrad.tasks.miniwob import SCRIPTS
from clickgrad.tasks.moves import ExpertLost, MakeScript, Move, Script
from clickgrad.tasks.pocket import TEMPLATES
from clickgrad.tasks.suites import is_own_site
from clickgrad.types import Observation, Task

_SCRIPTS = {template.full_name: template.script for template in TEMPLATES} | SCRIPTS


class Expert:
    """Does one task once."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._make_script = _script_of(task)
        self._script: Script | None = None

    def move(self, observation: Observation) -> Move:
        try:
            if self._script is None:
                self._script = self._make_script(self._task, observation)
                return next(self._script)
            return self._script.send(observation)
        except StopIteration:
            raise ExpertLost(f"task {self._task.id}: the expert has already finished") from None


def has_expert(task: Task) -> bool:
    if is_own_site(task.suite):
        from clickgrad.tasks.own import has_own_expert

        return has_own_expert(task)
    return task.template in _SCRIPTS


def _script_of(task: Task) -> MakeScript:
    if is_own_site(task.suite):
        from clickgrad.tasks.own import own_script

        return own_script(task)
    if task.template not in _SCRIPTS:
        raise UserError(f"task {task.id}: there is no scripted expert for the template {task.template!r}")
    return _SCRIPTS[task.template]

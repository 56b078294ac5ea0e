"""The scripted expert of a task, to prove it solvable and to demonstrate it. It sees only what an agent sees.

expert = Expert(task)
move = expert.move(observation)      # and so on, until the action is Exit
"""

from __future__ import annotations

from clickgrad.errors import UserError
from clickgrad.tasks.miniwob import PLAYS
from clickgrad.tasks.moves import ExpertLost, Move, Play, Script
from clickgrad.tasks.pocket import TEMPLATES
from clickgrad.tasks.suites import is_own_site
from clickgrad.types import Observation, Task

_PLAYS = {template.full_name: template.play for template in TEMPLATES} | PLAYS


class Expert:
    """Plays one task once."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._play = _play_of(task)
        self._script: Script | None = None

    def move(self, observation: Observation) -> Move:
        try:
            if self._script is None:
                self._script = self._play(self._task, observation)
                return next(self._script)
            return self._script.send(observation)
        except StopIteration:
            raise ExpertLost(f"task {self._task.id}: the expert has already finished") from None


def _play_of(task: Task) -> Play:
    if is_own_site(task.suite):
        from clickgrad.tasks.own import own_play

        return own_play(task)
    if task.template not in _PLAYS:
        raise UserError(f"task {task.id}: there is no scripted expert for the template {task.template!r}")
    return _PLAYS[task.template]

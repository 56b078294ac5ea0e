"""The scripts by page. A page whose problem cannot be read from its observation, such as a drawing, has none."""

from __future__ import annotations

from clickgrad.tasks.miniwob.plays_clicking import CLICKING
from clickgrad.tasks.miniwob.plays_people import PEOPLE
from clickgrad.tasks.miniwob.plays_typing import TYPING
from clickgrad.tasks.moves import ExpertLost, Play, Script
from clickgrad.types import Observation, Task


def _or_lost(play: Play) -> Play:
    """Scripts take lines and numbers from where they should stand; on a strange page they stand elsewhere."""

    def script(task: Task, page: Observation) -> Script:
        try:
            yield from play(task, page)
        except (LookupError, ValueError) as error:
            raise ExpertLost(f"task {task.id}: the page cannot be read: {error}") from error

    return script


PLAYS: dict[str, Play] = {page: _or_lost(play) for page, play in {**CLICKING, **TYPING, **PEOPLE}.items()}

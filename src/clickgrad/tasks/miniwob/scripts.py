"""The scripts by page. A page whose problem cannot be read from its observation, such as a drawing, has none."""

from __future__ import annotations

from clickgrad.tasks.miniwob.scripts_clicking import CLICKING
from clickgrad.tasks.miniwob.scripts_people import PEOPLE
from clickgrad.tasks.miniwob.scripts_typing import TYPING
from clickgrad.tasks.moves import ExpertLost, MakeScript, Script
from clickgrad.types import Observation, Task


def _or_lost(make: MakeScript) -> MakeScript:
    """Scripts take lines and numbers from where they should stand; on a strange page they stand elsewhere."""

    def script(task: Task, page: Observation) -> Script:
        try:
            yield from make(task, page)
        except (LookupError, ValueError) as error:
            raise ExpertLost(f"task {task.id}: the page cannot be read: {error}") from error

    return script


SCRIPTS: dict[str, MakeScript] = {page: _or_lost(make) for page, make in {**CLICKING, **TYPING, **PEOPLE}.items()}

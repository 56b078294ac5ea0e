"""The order of training tasks: epoch after epoch, each in an order of its own, none repeated within."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

from clickgrad.algorithms.beliefs import belief
from clickgrad.types import Task

LEAST_CHANCE = 0.25  # of a task whose template always or never succeeds, when there is a curriculum


Curriculum = bool | Literal["posterior"]  # by all tries so far, or by those lately


@dataclass(frozen=True, slots=True)
class TaskSequence:
    tasks: Sequence[Task]
    seed: int
    curriculum: Curriculum = False  # pass over some of the tasks that are too easy or too hard

    def at(self, index: int) -> Task:
        epoch, place = divmod(index, len(self.tasks))
        order = list(self.tasks)
        random.Random(f"{self.seed}/{epoch}").shuffle(order)
        return order[place]

    def after(
        self,
        taken: int,
        records: Mapping[str, tuple[int, int]],
        beliefs: Mapping[str, tuple[float, float]] | None = None,
        takes_any: Callable[[int], bool] = lambda place: False,
    ) -> Iterator[tuple[int, Task]]:
        """(index, task) from `taken` on. `records` says how many episodes of a template passed, and were tried.

        `takes_any`: at these places among those yielded no task is passed over.
        """
        place = 0
        for index in count(taken):
            task = self.at(index)
            if not self.curriculum or takes_any(place) or self._is_due(task, index, records, beliefs or {}):
                yield index, task
                place += 1

    def _is_due(
        self,
        task: Task,
        index: int,
        records: Mapping[str, tuple[int, int]],
        beliefs: Mapping[str, tuple[float, float]],
    ) -> bool:
        """Tasks solved about half of the time teach most: the chance is 4 p (1 - p), and never below LEAST_CHANCE.

        p is of all tasks of the template so far: the same task hardly comes twice in a run.
        """
        draw = int.from_bytes(hashlib.sha256(f"{self.seed}/{index}/{task.id}".encode()).digest()[:4]) / 2**32
        if self.curriculum == "posterior":
            return draw < belief(beliefs, task.template).chance
        passed, tried = records.get(task.template, (0, 0))
        if not tried:
            return True
        share = passed / tried
        return draw < max(LEAST_CHANCE, 4 * share * (1 - share))

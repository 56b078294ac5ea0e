"""Offline: the episodes of a phase are those that were stored before, and nothing is played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clickgrad.algorithms.collecting import Collected
from clickgrad.algorithms.protocol import Algorithm, Group, GroupPlan
from clickgrad.learn.progress import Progress
from clickgrad.types import Trajectory


@dataclass(frozen=True, slots=True)
class Stored:
    """All of it is one phase: one pass."""

    algorithm: Algorithm
    episodes: Sequence[Trajectory]

    async def collect(self, progress: Progress) -> Collected:
        tasks = {one.task.id: one.task for one in sorted(self.episodes, key=lambda one: one.episode)}
        groups = []
        for index, task in enumerate(tasks.values()):
            members = tuple(one for one in self.episodes if one.task.id == task.id)
            groups.append(Group(GroupPlan(index, task, len(members)), members))
        mixed = tuple(group for group in groups if self.algorithm.has_contrast(group))
        return Collected(tuple(groups), mixed, tuple(self.episodes), (), 0.0)

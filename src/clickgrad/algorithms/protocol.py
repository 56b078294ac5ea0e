"""What the loop of reinforcement asks of an algorithm. All of it follows from seed, progress and trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from clickgrad.learn.checkpoint import Progress
from clickgrad.report.stats import Rate
from clickgrad.report.summary import success_rate
from clickgrad.rollout.scheduler import Slot
from clickgrad.types import Sample, Task, Trajectory


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """Episodes of one task that are compared with each other."""

    index: int  # place in the sequence of tasks; part of the episodes' names, so it is given once in a run
    task: Task
    size: int

    def slots(self, step: int, seed: int) -> list[Slot]:
        name = f"step-{step:04d}/task-{self.index:05d}"
        return [Slot(f"{name}/member-{member}", self.task, seed) for member in range(self.size)]


@dataclass(frozen=True, slots=True)
class Group:
    plan: GroupPlan
    members: tuple[Trajectory, ...]

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.members)

    @property
    def success(self) -> Rate:
        return success_rate(self.members)


class Algorithm(Protocol):
    def plan(self, progress: Progress, ended: Sequence[Group]) -> Sequence[GroupPlan]:
        """All groups that the step after `progress` wants, given those of them that have ended so far.

        A group that was wanted once stays wanted, and in the end it does not matter in which order groups ended.
        """

    def has_contrast(self, group: Group) -> bool:
        """Whether there is something to learn from a group."""

    def samples(self, step: int, groups: Sequence[Group]) -> tuple[Sample, ...]:
        """What the groups of a step teach: every turn with its advantage and its share of the loss."""

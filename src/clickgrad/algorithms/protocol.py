"""What the loop of reinforcement asks of an algorithm. All of it follows from seed, progress and trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clickgrad.learn.progress import Answers, Progress, Question
from clickgrad.report.stats import Rate
from clickgrad.report.summary import success_rate
from clickgrad.types import USUAL, Opening, Sample, Task, Trajectory


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """Episodes of one task that are compared with each other."""

    index: int  # place in the sequence of tasks; part of the episodes' names, so it is given once in a run
    task: Task
    size: int
    opening: Opening = USUAL  # of each of them
    left: int = 0  # turns that whoever they follow still took, if they begin later than the task
    branches: tuple[Opening, ...] = ()  # further members, each leaving one of the others


@dataclass(frozen=True, slots=True)
class Group:
    plan: GroupPlan
    members: tuple[Trajectory, ...]

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.members)

    @property
    def success(self) -> Rate:
        return success_rate(self.members)

    @property
    def trunks(self) -> tuple[Trajectory, ...]:
        """Without branches."""
        return self.members[: self.plan.size]

    @property
    def from_the_start(self) -> tuple[Trajectory, ...]:
        """Those that say how often the task is solved: nothing was given to them."""
        return () if self.plan.opening.given else self.trunks


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a step teaches: every turn with its advantage and its share of the loss, in the order of learning."""

    samples: tuple[Sample, ...]
    said: str = ""  # to the user
    figures: Mapping[str, float | None] = field(default_factory=dict)  # fields of the step's row in the metrics


class Algorithm(Protocol):
    def plan(self, progress: Progress, ended: Sequence[Group]) -> Sequence[GroupPlan]:
        """All groups that the step after `progress` wants, given those of them that have ended so far.

        A group that was wanted once stays wanted, at least as large as it was; one that is wanted larger because of how
        its first members ended is among those ended before. In the end it does not matter in which order groups ended.
        """

    def has_contrast(self, group: Group) -> bool:
        """Whether there is something to learn from a group."""

    def question(self, before: Progress, groups: Sequence[Group]) -> Question | None:
        """What is to be known of the groups of the step after `before`, to say what they teach; None: nothing."""

    def lesson(self, before: Progress, groups: Sequence[Group], answers: Answers) -> Lesson:
        """What the groups of the step after `before` teach, given the answers to that question."""

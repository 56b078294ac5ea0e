"""Filtered BC: clone the episodes that passed, and nothing else.

Where this departs from what is published:
1. What passes is reward 1, not a quantile of returns: with few successes a quantile of 0 keeps every failure.
2. A task gives at most so many successes, the newest ones, so that easy tasks do not crowd out the rest.
3. Online the pool is a window of steps; offline it is all that was stored, as in the table of WebRL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from clickgrad.algorithms.phases import NO_SUCCESS, AlgorithmOptions, Phases, Setting, any_success
from clickgrad.algorithms.pool import cloned, newest_of_each
from clickgrad.algorithms.protocol import Group, GroupPlan, Lesson
from clickgrad.learn.progress import Answers, Progress


@dataclass(frozen=True, slots=True)
class FilteredBc:
    phases: Phases
    per_task: int  # successes

    def plan(self, progress: Progress, ended: Sequence[Group]) -> list[GroupPlan]:
        return self.phases.plan(progress, ended)

    def has_contrast(self, group: Group) -> bool:
        return any_success(group)

    def question(self, before: Progress, groups: Sequence[Group]) -> None:
        """A success needs no value."""

    def lesson(self, before: Progress, groups: Sequence[Group], answers: Answers) -> Lesson:
        step = before.step + 1
        passed = [one for one in self.phases.pool.at(step, groups) if one.passed]
        kept = newest_of_each(passed, self.per_task)
        samples = self.phases.ordered(cloned(kept), step)
        return Lesson(samples, "" if samples else NO_SUCCESS, {"pool_turns": len(samples)})


class FilteredBcOptions(AlgorithmOptions):
    window: int = Field(8, ge=1)  # steps whose episodes are learned from, the one under way included
    per_task: int = Field(4, ge=1)  # successes of a task, the newest ones

    def algorithm(self, setting: Setting) -> FilteredBc:
        return FilteredBc(setting.with_window(self.window), self.per_task)

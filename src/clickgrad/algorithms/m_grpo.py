"""M-GRPO, the paper's algorithm: groups of episodes of a task, each against the mean of its group.

Departures from the paper, each an option where that makes sense:
1. Every reply is trained in the context it was sampled in; the public code trains on contexts the model never saw.
2. Thinking tokens carry loss: the policy sampled them.
3. A group whose members all have the same reward has no gradient; it is left out and, within a cap, replaced by another
   task.
4. Crashed and unjudged episodes are in neither loss nor baseline.
5. The small preset trains LoRA adapters at a higher rate; the paper trains all parameters at 1e-6.
6. Additions that resettable worlds allow, all off as it stands: groups that grow (`beliefs`), episodes that begin later
   (`starts`) or branch (`branching`), earlier successes that join a group which failed (`replay`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from clickgrad.algorithms.beliefs import FLAT, Belief, belief
from clickgrad.algorithms.branching import Branching
from clickgrad.algorithms.protocol import Group, GroupPlan, Lesson
from clickgrad.algorithms.replay import Replay
from clickgrad.algorithms.sequence import TaskSequence
from clickgrad.algorithms.starts import Starts
from clickgrad.learn.progress import NO_ANSWERS, Answers, Progress
from clickgrad.learn.samples import Teaching, grpo_samples, has_contrast
from clickgrad.types import Sample, Task, Trajectory


@dataclass(frozen=True, slots=True)
class Additions:
    """What the paper does not have."""

    first_part: int = 0  # members that a group begins with; 0: all
    starts: Starts | None = None
    branching: Branching | None = None
    replay: Replay | None = None


@dataclass(frozen=True, slots=True)
class MGrpo:
    tasks: TaskSequence
    groups: int  # with contrast, that a step wants
    group_size: int
    max_refills: int
    max_staleness: int = 0
    teaching: Teaching = field(default_factory=Teaching)
    shuffle_rewards: bool = False
    additions: Additions = field(default_factory=Additions)

    def plan(self, progress: Progress, ended: Sequence[Group]) -> list[GroupPlan]:
        """As many groups as wanted, and one more for each that turned out flat, within the cap."""
        grown = {group.plan.index: self._grown(progress, group) for group in ended}
        flat = sum(grown[group.plan.index] == group.plan and not self.has_contrast(group) for group in ended)
        coming = self.tasks.after(
            progress.tasks_taken, progress.records, progress.beliefs, lambda place: self._is_later(progress, place)
        )
        wanted = enumerate(islice(coming, self.groups + min(flat, self.max_refills)))
        return [grown.get(index) or self._begun(progress, place, index, task) for place, (index, task) in wanted]

    def _is_later(self, progress: Progress, place: int) -> bool:
        return self.additions.starts is not None and self.additions.starts.is_later(progress.step, place)

    def _begun(self, progress: Progress, place: int, index: int, task: Task) -> GroupPlan:
        size = min(self.additions.first_part, self.group_size) or self.group_size
        if self.additions.starts and self._is_later(progress, place):
            start = self.additions.starts.choose(index, task, progress.starts, progress.kept)
            if start:
                return GroupPlan(index, start.task, size, start.opening, start.left)
        return GroupPlan(index, task, size)

    def _grown(self, progress: Progress, group: Group) -> GroupPlan:
        """The plan of a group, given how its members ended: the same, if nothing is to be added."""
        plan = group.plan
        if plan.size < self.group_size:
            outcomes = [self.teaching.rewards.outcome(member) for member in group.trunks]
            passed, failed = sum(one == 1.0 for one in outcomes), sum(one == 0.0 for one in outcomes)
            before = Belief() if plan.left else belief(progress.beliefs, plan.task.template)
            if before.flat_chance(passed, failed, self.group_size - outcomes.count(None)) > FLAT:
                return plan
            return replace(plan, size=self.group_size)
        if self.additions.branching and len(group.members) >= plan.size:
            return replace(plan, branches=self.additions.branching.openings(group.trunks))
        return plan

    def has_contrast(self, group: Group) -> bool:
        return has_contrast(group.members, self.teaching.rewards)

    def question(self, before: Progress, groups: Sequence[Group]) -> None:
        """A group says by itself what its members are worth."""

    def lesson(self, before: Progress, groups: Sequence[Group], answers: Answers = NO_ANSWERS) -> Lesson:
        mixed = sum(map(self.has_contrast, groups))
        flat = f"only {mixed} of {self.groups} groups have both successes and failures" if mixed < self.groups else ""
        return Lesson(self._samples(before, groups), flat)

    def _samples(self, before: Progress, groups: Sequence[Group]) -> tuple[Sample, ...]:
        step = before.step + 1
        kept = [group for group in groups if self.has_contrast(group)]
        fresh = [self.fresh(group, before.step) for group in kept]
        if self.shuffle_rewards:
            fresh = [shuffled_rewards(group, f"{self.tasks.seed}/{step}/{place}") for place, group in enumerate(fresh)]
        elif self.additions.replay:
            for group in groups:
                if not self.has_contrast(group):
                    fresh += self.additions.replay.joined(self.fresh(group, before.step), step, before.kept)
        return grpo_samples(fresh, teaching=self.teaching)

    def fresh(self, group: Group, version: int) -> list[Trajectory]:
        """Without members one of whose tokens came from too old a policy.

        Sampling never runs further ahead than that; episodes found in the folder of a run that was allowed more may be.
        """
        return [member for member in group if not member.usable or member.staleness(version) <= self.max_staleness]


def shuffled_rewards(group: Sequence[Trajectory], seed: str) -> list[Trajectory]:
    """The same rewards, but whose they are is chance. Who crashed has none to give or to get."""
    rewards = [member.reward for member in group if member.usable]
    random.Random(seed).shuffle(rewards)
    given = iter(rewards)
    return [replace(member, reward=next(given)) if member.usable else member for member in group]

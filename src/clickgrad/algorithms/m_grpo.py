"""M-GRPO, the paper's algorithm: groups of episodes of a task, each against the mean of its group.

Departures from the paper, each an option where that makes sense:
1. Every reply is trained in the context it was sampled in; the public code trains on contexts the model never saw.
2. Thinking tokens carry loss: the policy sampled them.
3. A group whose members all have the same reward has no gradient; it is left out and, within a cap, replaced by another
   task.
4. Crashed and unjudged episodes are in neither loss nor baseline.
5. The small preset trains LoRA adapters at a higher rate; the paper trains all parameters at 1e-6.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from clickgrad.advantages import group_advantages
from clickgrad.algorithms.protocol import Group, GroupPlan
from clickgrad.algorithms.sequence import TaskSequence
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.samples import Normalizer, grpo_samples
from clickgrad.types import Sample, Trajectory


@dataclass(frozen=True, slots=True)
class MGrpo:
    tasks: TaskSequence
    groups: int  # with contrast, that a step wants
    group_size: int
    max_refills: int
    max_staleness: int
    normalizer: Normalizer
    max_turns: int  # of an episode, for the constant normaliser
    shuffle_rewards: bool = False

    def plan(self, progress: Progress, ended: Sequence[Group]) -> list[GroupPlan]:
        """As many groups as wanted, and one more for each that turned out flat, within the cap."""
        flat = sum(not self.has_contrast(group) for group in ended)
        coming = self.tasks.after(progress.tasks_taken, progress.records)
        return [
            GroupPlan(index, task, self.group_size)
            for index, task in islice(coming, self.groups + min(flat, self.max_refills))
        ]

    def has_contrast(self, group: Group) -> bool:
        return any(advantage is not None for advantage in group_advantages([member.reward for member in group]))

    def samples(self, step: int, groups: Sequence[Group]) -> tuple[Sample, ...]:
        kept = [group for group in groups if self.has_contrast(group)]
        fresh = [self.fresh(group, step - 1) for group in kept]
        if self.shuffle_rewards:
            fresh = [shuffled_rewards(group, f"{self.tasks.seed}/{step}/{place}") for place, group in enumerate(fresh)]
        return grpo_samples(fresh, self.normalizer, self.max_turns)

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

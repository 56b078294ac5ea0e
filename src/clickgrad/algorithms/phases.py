"""What the four baselines share: which episodes a phase plays, its pool, and what is asked of the learner."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from clickgrad.algorithms.critic import Critic, Values, mean
from clickgrad.algorithms.pool import Labelled, Pool
from clickgrad.algorithms.protocol import Algorithm, Group, GroupPlan, Lesson
from clickgrad.algorithms.sequence import TaskSequence
from clickgrad.learn.progress import Answers, Progress, Question
from clickgrad.learn.spec import Form
from clickgrad.section import Section
from clickgrad.types import Sample, Task, Trajectory

NO_SUCCESS = "no success yet, so there is nothing to learn from: no update"
NO_GAIN = "no turn was better than expected: no update"
NOT_TRUSTED = "the values are not good enough to learn by (values.least_auc): no update"


@dataclass(frozen=True, slots=True)
class Phase:
    """What an algorithm knows of a phase when it weighs the turns."""

    step: int
    pool: Sequence[Labelled]
    values: Sequence[Values]  # of each episode of the pool
    scored: Sequence[Sample]  # those that were asked for, with the logprobs of now

    @property
    def new(self) -> list[Labelled]:
        return [one for one in self.pool if one.step == self.step]


@dataclass(frozen=True, slots=True)
class Phases:
    tasks: TaskSequence
    groups: int
    group_size: int
    pool: Pool
    critic: Critic = field(default_factory=Critic)
    by_tokens: bool = False  # a turn counts as much as it has tokens; else all turns alike
    temperature: float = 1.0
    micro_tokens: int = 2048

    @property
    def seed(self) -> int:
        return self.tasks.seed

    def plan(
        self, progress: Progress, ended: Sequence[Group], coming: Iterator[tuple[int, Task]] | None = None
    ) -> list[GroupPlan]:
        """A group of tries for each of the tasks that come next; where values are exact, ways to go on from them."""
        known = {group.plan.index: self._grown(group) for group in ended}
        coming = coming or self.tasks.after(progress.tasks_taken, progress.records, progress.beliefs)
        return [
            known.get(index) or GroupPlan(index, task, self.group_size) for index, task in islice(coming, self.groups)
        ]

    def _grown(self, group: Group) -> GroupPlan:
        if self.critic.kind != "exact" or len(group.members) < group.plan.size:
            return group.plan
        return replace(group.plan, branches=self.critic.openings(group.trunks))

    def weighed(self, samples: Sequence[Sample]) -> list[Sample]:
        """Turns of 1 and 3 tokens have weights 1/2 and 3/2 where tokens count."""
        if not self.by_tokens or not samples:
            return list(samples)
        usual = mean([one.reply_len for one in samples])
        return [replace(one, weight=one.weight * one.reply_len / usual) for one in samples]

    def ordered(self, samples: Sequence[Sample], step: int) -> tuple[Sample, ...]:
        """In an order of chance: every optimizer step is to see turns of all kinds."""
        order = self.weighed(samples)
        random.Random(f"{self.seed}/{step}").shuffle(order)
        return tuple(order)

    def ask(self, pool: Sequence[Labelled], scored: Sequence[Sample] = ()) -> Question | None:
        lots = self.critic.lots(pool)
        if not lots and not scored:
            return None
        return Question(lots, self.critic.fit, tuple(scored), self.temperature, self.micro_tokens)

    def lesson(
        self, before: Progress, groups: Sequence[Group], answers: Answers, teach: Callable[[Phase], Lesson]
    ) -> Lesson:
        """What `teach` makes of a phase, with the figures of its values; nothing where those are not trusted."""
        step = before.step + 1
        pool = self.pool.at(step, groups)
        found = self.critic.appraise(pool, self._others(pool, groups), answers)
        if not self.critic.is_trusted(found):
            return Lesson((), NOT_TRUSTED, found.figures)
        lesson = teach(Phase(step, pool, found.values, answers.scored))
        return replace(lesson, figures={**found.figures, **lesson.figures})

    def _others(self, pool: Sequence[Labelled], groups: Sequence[Group]) -> Iterable[Trajectory]:
        """Episodes that leave others: of earlier steps and of this one."""
        if self.critic.kind != "exact":
            return ()
        steps = sorted({one.step for one in pool})[:-1]
        return [
            *(one for step in steps for one in self.pool.past(step) if one.given),
            *(one for group in groups for one in group.members if one.given),
        ]


def any_usable(group: Group) -> bool:
    return any(member.usable for member in group)


def any_success(group: Group) -> bool:
    return any(member.reward == 1.0 for member in group)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run brings to an algorithm that learns in phases; the algorithm's own options say the rest."""

    phases: Phases  # but for the pool's window
    max_turns: int  # of an episode
    followed: Sequence[Trajectory] = ()  # demonstrations that may be replayed

    def with_window(self, steps: int, accuracy: float = 1.0) -> Phases:
        pool = self.phases.pool
        labels = replace(pool.labels, accuracy=accuracy)
        return replace(self.phases, pool=replace(pool, window=steps, labels=labels))


class AlgorithmOptions(Section):
    """The section of the configuration that is named as the algorithm."""

    @property
    def loss(self) -> tuple[Form, float]:
        """Its form and, where that has one, its beta."""
        return "likelihood", 1.0

    @abstractmethod
    def algorithm(self, setting: Setting) -> Algorithm:
        """The algorithm that they describe."""

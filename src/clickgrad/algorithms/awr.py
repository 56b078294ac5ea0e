"""AWR: all turns of the pool are cloned, each with a weight that grows exponentially with its advantage.

A_t = discount^(T-t) R - V(h_t), standardised over the pool; w_t = min(exp(A_t / beta), most), divided by its mean.
Where this departs from what is published:
1. V is fitted by cross-entropy on the outcome, not by squared error on TD(lambda) returns.
2. The weights are divided by their mean, so that the learning rate keeps its meaning whatever beta is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt

from pydantic import Field

from clickgrad.algorithms.critic import Values, mean
from clickgrad.algorithms.phases import AlgorithmOptions, Phase, Phases, Setting, any_usable
from clickgrad.algorithms.pool import Labelled
from clickgrad.algorithms.protocol import Group, GroupPlan, Lesson
from clickgrad.learn.progress import Answers, Progress, Question
from clickgrad.learn.samples import turn_sample

LEAST_SPREAD = 1e-6  # of advantages: all alike are all 0


@dataclass(frozen=True, slots=True)
class Awr:
    phases: Phases
    beta: float
    discount: float
    most: float  # that a weight can be, before the division by the mean

    def plan(self, progress: Progress, ended: Sequence[Group]) -> list[GroupPlan]:
        return self.phases.plan(progress, ended)

    def has_contrast(self, group: Group) -> bool:
        return any_usable(group)

    def question(self, before: Progress, groups: Sequence[Group]) -> Question | None:
        return self.phases.ask(self.phases.pool.at(before.step + 1, groups))

    def lesson(self, before: Progress, groups: Sequence[Group], answers: Answers) -> Lesson:
        return self.phases.lesson(before, groups, answers, self._taught)

    def _taught(self, phase: Phase) -> Lesson:
        turns = [turn for one in phase.pool for turn in one.turns]
        advantages = [
            advantage
            for one, values in zip(phase.pool, phase.values, strict=True)
            for advantage in discounted_advantages(one, values, self.discount)
        ]
        weights = exponential_weights(advantages, self.beta, self.most)
        samples = [turn_sample(turn, 1.0, weight) for turn, weight in zip(turns, weights, strict=True)]
        return Lesson(self.phases.ordered(samples, phase.step), "", {"pool_turns": len(samples)})


def discounted_advantages(one: Labelled, values: Values, discount: float) -> list[float]:
    """A success of two turns with values 0.5 and 0.8, discount 0.9:  0.9 - 0.5  and  1 - 0.8."""
    last = len(values) - 1
    return [one.outcome * discount ** (last - turn) - value for turn, value in enumerate(values)]


def exponential_weights(advantages: Sequence[float], beta: float, most: float) -> list[float]:
    """Advantages 1 and -1 are 1 and -1 when standardised; with beta 1 the weights are e and 1/e over cosh 1."""
    if not advantages:
        return []
    middle = mean(advantages)
    spread = sqrt(mean([(one - middle) ** 2 for one in advantages]))
    scaled = [(one - middle) / spread if spread > LEAST_SPREAD else 0.0 for one in advantages]
    # The exponent is bounded first: exp of a large one is no number.
    weights = [min(exp(min(one / beta, 50.0)), most) for one in scaled]
    whole = mean(weights)
    return [one / whole for one in weights]


class AwrOptions(AlgorithmOptions):
    window: int = Field(8, ge=1)  # steps whose episodes are learned from, the one under way included
    beta: float = Field(0.5, gt=0)  # weights are exp(A / beta), A standardised
    discount: float = Field(0.9, gt=0, le=1)  # of what a turn leads to, for every turn after it
    max_weight: float = Field(20.0, gt=0)  # of a turn at most

    def algorithm(self, setting: Setting) -> Awr:
        return Awr(setting.with_window(self.window), self.beta, self.discount, self.max_weight)

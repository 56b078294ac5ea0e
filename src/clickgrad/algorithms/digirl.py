"""DigiRL: the surprising successes first, and of those the turns after which more was to be expected.

Trajectories: the top share by R - V_I(task). Turns: those whose advantage is above a bound.
    paper   A_t = l^(T-t) R + (1 - l^(T-t) R) (V(h_t+1) + r_t - V(h_t)),  kept above 1 / (turn limit)
    code    A_t = V(h_t+1) - V(h_t) + r_t + g^(T-t) R - 0.05,             kept above 0
r_t is R at the last turn and 0 before; after the last turn nothing is expected.
Where this departs from what is published:
1. Rewards come from the task's checks at the end; the original asks a judge after every turn and stops at a success.
2. V_I is a Beta posterior of the template over the pool instead of a fine-tuned encoder; V is `values.kind`.
3. Only successes are kept, by rank, ties to the newer: a share of the pool is never filled up with failures.
4. The pool is a window of steps, not everything ever played.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from pydantic import Field

from clickgrad.algorithms.critic import Table, Values
from clickgrad.algorithms.phases import NO_GAIN, NO_SUCCESS, AlgorithmOptions, Phase, Phases, Setting, any_success
from clickgrad.algorithms.pool import Labelled
from clickgrad.algorithms.protocol import Group, GroupPlan, Lesson
from clickgrad.learn.progress import Answers, Progress, Question
from clickgrad.learn.samples import turn_sample

CODE_BOUND = 0.05  # one over the original's turn limit of 20


@dataclass(frozen=True, slots=True)
class DigiRl:
    phases: Phases
    form: Literal["paper", "code"]
    discount: float  # l and g
    top_share: float  # of the pool's trajectories
    turns: int  # drawn a phase, with replacement
    max_turns: int  # of an episode

    def plan(self, progress: Progress, ended: Sequence[Group]) -> list[GroupPlan]:
        return self.phases.plan(progress, ended)

    def has_contrast(self, group: Group) -> bool:
        return any_success(group)

    def question(self, before: Progress, groups: Sequence[Group]) -> Question | None:
        return self.phases.ask(self.phases.pool.at(before.step + 1, groups))

    def lesson(self, before: Progress, groups: Sequence[Group], answers: Answers) -> Lesson:
        return self.phases.lesson(before, groups, answers, self._taught)

    def _taught(self, phase: Phase) -> Lesson:
        pool = phase.pool
        kept = [
            turn_sample(turn, 1.0, 1.0)
            for place in surprising(pool, self.top_share)
            for turn, is_kept in zip(pool[place].turns, self._keeps(pool[place], phase.values[place]), strict=True)
            if is_kept
        ]
        figures = {"pool_turns": len(kept)}
        if not kept:
            return Lesson((), NO_GAIN if any(one.passed for one in pool) else NO_SUCCESS, figures)
        drawn = random.Random(f"{self.phases.seed}/{phase.step}").choices(self.phases.weighed(kept), k=self.turns)
        return Lesson(tuple(drawn), "", figures)

    def _keeps(self, one: Labelled, values: Values) -> list[bool]:
        if self.form == "paper":
            return [advantage > 1 / self.max_turns for advantage in paper_advantages(one, values, self.discount)]
        return [advantage > 0 for advantage in code_advantages(one, values, self.discount)]


def surprising(pool: Sequence[Labelled], share: float) -> list[int]:
    """Places in the pool of the top share by R - V_I; successes alone.

    Of ten tries of two templates, one that passed 1 of 5 and one that passed 4 of 5, V_I is 2/7 and 5/7: a share of
    0.2 keeps the one success of the first, and the newest of the second.
    """
    table = Table.of(pool)
    worth = [(one.outcome - table.expected(one.episode.task.template), place) for place, one in enumerate(pool)]
    best = sorted((one for one in worth if pool[one[1]].passed), reverse=True)
    return [place for _, place in best[: ceil(share * len(pool))]]


def paper_advantages(one: Labelled, values: Values, discount: float) -> list[float]:
    """A success of two turns, values 0.4 and 0.6, discount 0.5:  0.5 + 0.5 * (0.6 - 0.4)  and  1 + 0 * ..."""
    found = []
    for turn, change in enumerate(changes(one, values)):
        share = discount ** (len(values) - 1 - turn) * one.outcome
        found.append(share + (1 - share) * change)
    return found


def code_advantages(one: Labelled, values: Values, discount: float) -> list[float]:
    """The same: 0.2 + 0.5 - 0.05  and  (0 - 0.6 + 1) + 1 - 0.05."""
    last = len(values) - 1
    return [
        change + one.outcome * discount ** (last - turn) - CODE_BOUND
        for turn, change in enumerate(changes(one, values))
    ]


def changes(one: Labelled, values: Values) -> list[float]:
    """V(h_t+1) + r_t - V(h_t)."""
    after = [*values[1:], one.outcome]  # at the end the reward stands for what is expected
    return [later - value for later, value in zip(after, values, strict=True)]


class DigiRlOptions(AlgorithmOptions):
    window: int = Field(20, ge=1)  # steps whose episodes are learned from, the one under way included
    form: Literal["paper", "code"] = "paper"  # of the advantage, where the two differ
    discount: float = Field(0.5, gt=0, le=1)  # of what a turn leads to, for every turn after it
    top_share: float = Field(0.1, gt=0, le=1)  # of the pool's trajectories: the most surprising successes
    turns: int = Field(256, ge=1)  # drawn a phase

    def algorithm(self, setting: Setting) -> DigiRl:
        phases = setting.with_window(self.window)
        return DigiRl(phases, self.form, self.discount, self.top_share, self.turns, setting.max_turns)

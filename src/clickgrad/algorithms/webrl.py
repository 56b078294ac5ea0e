"""WebRL: tasks near what failed, successes replayed, and an update that stays near the policy of the phase before.

    paper   (beta x - A_t)^2 with x the mean log ratio to the policy at the phase's start, both signs,
            A_t = l (r_t + V(h_t+1) - V(h_t)) + (1 - l) (R - V(h_t))
    code    likelihood with weight clip(1 - b x, 0, 1) on turns with A_t >= 0,
            A_t = V(h_t+1) - V(h_t) - 0.05 + R + sum over the turns left of g^k R:
            all turns of successes, and those of failures after which more was to be expected
Where this departs from what is published:
1. Rewards come from the tasks' checks; `accuracy` makes some of them wrong, to imitate the original's outcome model.
2. New tasks are instances of the templates that failed lately, and of others on their sites, instead of GPT-4o's; that
   they can be done is proven by experts. Predicted success is the Beta posterior of the template, not a critic's.
3. A phase is a step of the run, some dozens of episodes instead of 500 tasks.
4. Demonstrations may be replayed in all phases, not in the first alone, within the same band of likelihood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Literal

from pydantic import Field

from clickgrad.algorithms.beliefs import belief
from clickgrad.algorithms.critic import Table, Values
from clickgrad.algorithms.digirl import CODE_BOUND, changes
from clickgrad.algorithms.phases import NO_GAIN, AlgorithmOptions, Phase, Phases, Setting, any_usable
from clickgrad.algorithms.pool import Labelled, cloned, newest_of_each
from clickgrad.algorithms.protocol import Group, GroupPlan, Lesson
from clickgrad.learn.progress import Answers, Progress, Question
from clickgrad.learn.spec import Form
from clickgrad.types import Sample, Task, Trajectory

FAILED_LATELY = 0.5  # failures of a template, those of each step counting 0.9 of those of the next
CANDIDATES = 2  # turns that are looked at for each that may be replayed


@dataclass(frozen=True, slots=True)
class Replaying:
    most: float  # replayed turns for each new one
    band: tuple[float, float]  # of the geometric mean of a turn's token probabilities: above, and at most
    per_task: int  # successes
    demos: Sequence[Trajectory] = ()


@dataclass(frozen=True, slots=True)
class WebRl:
    phases: Phases
    form: Literal["paper", "code"]
    mix: float  # l
    discount: float  # g
    chances: tuple[float, float]  # predicted success of tasks that are played
    replaying: Replaying

    def plan(self, progress: Progress, ended: Sequence[Group]) -> list[GroupPlan]:
        return self.phases.plan(progress, ended, self._coming(progress))

    def _coming(self, progress: Progress) -> Iterator[tuple[int, Task]]:
        """Tasks that are due; after a whole epoch without one, whatever comes next."""
        tasks, idle = self.phases.tasks, 0
        sites = failed_sites(tasks.tasks, progress.beliefs)
        for index, task in tasks.after(progress.tasks_taken, progress.records, progress.beliefs):
            if not sites or idle >= len(tasks.tasks) or self._is_due(task, sites, progress.beliefs):
                idle = 0
                yield index, task
            else:
                idle += 1

    def _is_due(self, task: Task, sites: set[str], beliefs: Mapping[str, tuple[float, float]]) -> bool:
        low, high = self.chances
        return low <= belief(beliefs, task.template).mean <= high and not sites.isdisjoint(task.sites)

    def has_contrast(self, group: Group) -> bool:
        return any_usable(group)

    def question(self, before: Progress, groups: Sequence[Group]) -> Question | None:
        step = before.step + 1
        pool = self.phases.pool.at(step, groups)
        new = [one for one in pool if one.step == step]
        return self.phases.ask(pool, [*cloned(new), *cloned(self._candidates(step, pool))])

    def lesson(self, before: Progress, groups: Sequence[Group], answers: Answers) -> Lesson:
        return self.phases.lesson(before, groups, answers, self._taught)

    def _taught(self, phase: Phase) -> Lesson:
        values = {one.episode.episode: value for one, value in zip(phase.pool, phase.values, strict=True)}
        scored, table = iter(phase.scored), Table.of(phase.pool)
        fresh = [sample for one in phase.new for sample in self._weighed(one, values[one.episode.episode], scored)]
        again = list[Sample]()
        for one in self._candidates(phase.step, phase.pool):
            expected = (table.expected(one.episode.task.template),) * len(one.turns)  # of demonstrations
            told = self._weighed(one, values.get(one.episode.episode, expected), scored)
            again += [sample for sample in told if self._is_in_band(sample)]
        turns = sum(len(one.turns) for one in phase.new)
        again = again[: int(self.replaying.most * turns)]
        samples = self.phases.ordered([*fresh, *again], phase.step)
        return Lesson(samples, "" if samples else NO_GAIN, {"pool_turns": len(fresh), "replayed_turns": len(again)})

    def _candidates(self, step: int, pool: Sequence[Labelled]) -> list[Labelled]:
        """Successes of earlier steps, the newest first, then demonstrations; not many more than may be replayed."""
        room = int(CANDIDATES * self.replaying.most * sum(len(one.turns) for one in pool if one.step == step))
        passed = newest_of_each([one for one in pool if one.passed and one.step < step], self.replaying.per_task)
        found = list[Labelled]()
        for one in [*reversed(passed), *(Labelled(0, demo, 1.0) for demo in self.replaying.demos)]:
            if len(one.turns) <= room:
                room -= len(one.turns)
                found.append(one)
        return found

    def _is_in_band(self, sample: Sample) -> bool:
        low, high = self.replaying.band
        return low < exp(sum(sample.logprobs) / sample.reply_len) <= high

    def _weighed(self, one: Labelled, values: Values, scored: Iterator[Sample]) -> list[Sample]:
        """The turns of an episode that count, with the logprobs of the policy at the phase's start."""
        samples = [next(scored) for _ in one.turns]
        if self.form == "paper":
            advantages = paper_advantages(one, values, self.mix)
            return [replace(sample, advantage=a) for sample, a in zip(samples, advantages, strict=True)]
        advantages = code_advantages(one, values, self.discount)
        return [sample for sample, a in zip(samples, advantages, strict=True) if a >= 0]


def failed_sites(tasks: Sequence[Task], beliefs: Mapping[str, tuple[float, float]]) -> set[str]:
    """Of templates that failed lately: their tasks, and their neighbours', are what comes next."""
    return {site for task in tasks if beliefs.get(task.template, (0.0, 0.0))[1] >= FAILED_LATELY for site in task.sites}


def paper_advantages(one: Labelled, values: Values, mix: float) -> list[float]:
    """A success of two turns, values 0.4 and 0.6, mix 0.5:  0.5 * 0.2 + 0.5 * 0.6  and  0.5 * 0.4 + 0.5 * 0.4."""
    whole = [one.outcome - value for value in values]
    return [mix * change + (1 - mix) * rest for change, rest in zip(changes(one, values), whole, strict=True)]


def code_advantages(one: Labelled, values: Values, discount: float) -> list[float]:
    """A failure of two turns, values 0.4 and 0.6:  0.2 - 0.05, which is kept,  and  -0.6 - 0.05, which is not."""
    steps = zip(values, [*values[1:], 0.0], strict=True)
    return [
        later - value - CODE_BOUND + one.outcome * (1 + sum(discount**more for more in range(len(values) - turn)))
        for turn, (value, later) in enumerate(steps)
    ]


class WebRlOptions(AlgorithmOptions):
    window: int = Field(8, ge=1)  # steps whose episodes are learned from, the one under way included
    form: Literal["paper", "code"] = "code"  # squared error; or likelihood that fades
    beta: float = Field(1.0, gt=0)  # how soon an update ends: the larger, the nearer to the phase before
    mix: float = Field(0.5, ge=0, le=1)  # paper: of the change of the value against what is left to the outcome
    discount: float = Field(0.9, gt=0, le=1)  # code: of what a turn leads to, for every turn after it
    min_chance: float = Field(0.05, ge=0, le=1)  # predicted success of tasks that are played
    max_chance: float = Field(0.75, ge=0, le=1)  # the same, at most
    replay: float = Field(2.0, ge=0)  # turns of earlier successes for each new one, at most
    min_likelihood: float = Field(0.5, ge=0, le=1)  # of a replayed turn: its mean token probability is above this
    max_likelihood: float = Field(0.95, gt=0, le=1)  # ... and at most this
    per_task: int = Field(4, ge=1)  # successes of a task among the replayed
    reward_accuracy: float = Field(1.0, ge=0.5, le=1)  # below 1 outcomes are wrong at random: only for studies

    @property
    def loss(self) -> tuple[Form, float]:
        return ("square" if self.form == "paper" else "fade"), self.beta

    def algorithm(self, setting: Setting) -> WebRl:
        likely = self.min_likelihood, self.max_likelihood
        return WebRl(
            setting.with_window(self.window, self.reward_accuracy),
            self.form,
            self.mix,
            self.discount,
            (self.min_chance, self.max_chance),
            Replaying(self.replay, likely, self.per_task, setting.followed),
        )

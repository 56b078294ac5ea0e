"""What is expected of the states of a pool: by the learner's value head, by tables, or by playing on from them.

`foreseen` is what was expected of new episodes before anything was known of how they ended; how far that was right is
in the metrics of every phase, as Brier score and AUC.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal
from urllib.parse import urlsplit

from clickgrad.algorithms.pool import Labelled
from clickgrad.learn.progress import Answers, Lot
from clickgrad.learn.spec import FitOptions
from clickgrad.types import Given, Opening, Trajectory, Turn

Values = Sequence[float]  # of the states of an episode, turn by turn
ValueKind = Literal["head", "table", "exact"]


@dataclass(frozen=True, slots=True)
class Appraisal:
    values: tuple[Values, ...]  # of each episode of the pool
    foreseen: tuple[tuple[float, float], ...] = ()  # (what was expected, outcome) of every new turn

    @property
    def figures(self) -> dict[str, float | None]:
        return {"value_brier": brier(self.foreseen), "value_auc": auc(self.foreseen)}


@dataclass(frozen=True, slots=True)
class Critic:
    kind: ValueKind = "head"
    fit: FitOptions = field(default_factory=FitOptions)
    continuations: int = 0  # from every turn, where values are exact
    least_auc: float = 0.0  # below it nothing is learned from values

    def lots(self, pool: Sequence[Labelled]) -> tuple[Lot, ...]:
        """What the head is asked; the pool's steps in order."""
        if self.kind != "head":
            return ()
        return tuple(
            Lot(
                step,
                tuple(turn.prompt_ids for one in some for turn in one.turns),
                tuple(one.outcome for one in some for _ in one.turns),
            )
            for step, some in ((step, list(some)) for step, some in groupby(pool, lambda one: one.step))
        )

    def openings(self, trunks: Sequence[Trajectory]) -> tuple[Opening, ...]:
        """Of the episodes that leave others at every turn but the first: that one all of a group have in common."""
        return tuple(
            opening
            for trunk in trunks
            if trunk.usable
            for turn in range(1, len(trunk.turns))
            for opening in [Opening(trunk.turns[:turn], Given(turn, trunk.episode, "branch"))] * self.continuations
        )

    def appraise(self, pool: Sequence[Labelled], others: Iterable[Trajectory], answers: Answers) -> Appraisal:
        """`others` are episodes that leave those of the pool."""
        if not pool:
            return Appraisal(())
        new = [one for one in pool if one.step == pool[-1].step]
        ends = [one.outcome for one in new for _ in one.turns]
        if self.kind == "head":
            told = iter([value for lot in answers.values for value in lot])
            values = tuple(tuple(next(told) for _ in one.turns) for one in pool)
            return Appraisal(values, tuple(zip(answers.foreseen, ends, strict=True)))
        if self.kind == "table":
            known, before = Table.of(pool), Table.of(pool[: len(pool) - len(new)])
            expected = [before.value(one, turn) for one in new for turn in one.turns]
            values = tuple(tuple(known.value(one, turn) for turn in one.turns) for one in pool)
            return Appraisal(values, tuple(zip(expected, ends, strict=True)))
        return _played_on(pool, new, others)

    def is_trusted(self, appraisal: Appraisal) -> bool:
        found = appraisal.figures["value_auc"]
        return not self.least_auc or (found is not None and found >= self.least_auc)


@dataclass(frozen=True, slots=True)
class Table:
    """Beta posteriors: of a template from (1, 1), of one of its pages from one try that came to what the template does.

    A template with 2 of 4 passed has (2 + 1) / (4 + 2) = 1/2; a page that only the passed tries saw, 2.5 / 3.
    """

    templates: dict[str, list[float]]
    pages: dict[tuple[str, str], list[float]]

    @classmethod
    def of(cls, pool: Sequence[Labelled]) -> Table:
        templates, pages = defaultdict[str, list[float]](list), defaultdict[tuple[str, str], list[float]](list)
        for one in pool:
            templates[one.episode.task.template].append(one.outcome)
            for turn in one.turns:
                pages[one.episode.task.template, page_kind(turn)].append(one.outcome)
        return cls(templates, pages)

    def expected(self, template: str) -> float:
        seen = self.templates.get(template, [])
        return (sum(seen) + 1) / (len(seen) + 2)

    def value(self, one: Labelled, turn: Turn) -> float:
        template = one.episode.task.template
        seen = self.pages.get((template, page_kind(turn)), [])
        return (sum(seen) + self.expected(template)) / (len(seen) + 1)


def page_kind(turn: Turn) -> str:
    """`/orders/#` for both `/orders/17` and `/orders/18?sort=date`."""
    return re.sub(r"\d+", "#", urlsplit(turn.observation.url).path)


def _played_on(pool: Sequence[Labelled], new: Sequence[Labelled], others: Iterable[Trajectory]) -> Appraisal:
    """The mean of what came of a state: of the episode itself and of those that left it there.

    At the first turn that is all tries of the task in the step. What is foreseen leaves the episode itself out.
    """
    left = defaultdict[tuple[str, int], list[float]](list)
    for other in others:
        if other.reward is not None and other.given:
            left[other.given.episode, other.given.turns].append(other.reward)
    tries = defaultdict[tuple[int, str], list[float]](list)
    for one in pool:
        tries[one.step, one.episode.task.id].append(one.outcome)

    def elsewhere(one: Labelled, turn: int) -> list[float]:
        if turn:
            return left[one.episode.episode, turn]
        same = list(tries[one.step, one.episode.task.id])
        same.remove(one.outcome)
        return same

    values = [[mean([one.outcome, *elsewhere(one, turn)]) for turn in range(len(one.turns))] for one in pool]
    known = [(elsewhere(one, turn), one.outcome) for one in new for turn in range(len(one.turns))]
    return Appraisal(tuple(values), tuple((mean(some), outcome) for some, outcome in known if some))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def brier(foreseen: Sequence[tuple[float, float]]) -> float | None:
    """Mean squared error of chances: (0.8, passed) and (0.4, failed) make (0.04 + 0.16) / 2."""
    return mean([(chance - outcome) ** 2 for chance, outcome in foreseen]) if foreseen else None


def auc(foreseen: Sequence[tuple[float, float]]) -> float | None:
    """How often a state of a success was given a larger chance than one of a failure; ties count half."""
    ranked, at = sorted(foreseen), 0
    passed = sum(outcome == 1.0 for _, outcome in ranked)
    failed = len(ranked) - passed
    if not passed or not failed:
        return None
    above = 0.0
    below = 0  # failures with a smaller chance
    while at < len(ranked):
        same = [outcome for chance, outcome in ranked[at:] if chance == ranked[at][0]]
        good = sum(outcome == 1.0 for outcome in same)
        above += good * (below + (len(same) - good) / 2)
        below += len(same) - good
        at += len(same)
    return above / (passed * failed)

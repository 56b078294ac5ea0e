"""The episodes that a phase learns from: those just played and those of some steps before, each with its outcome."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clickgrad.algorithms.protocol import Group
from clickgrad.learn.samples import turn_sample
from clickgrad.learn.turn_advantages import Rewards
from clickgrad.types import Sample, Trajectory, Turn

Past = Callable[[int], Sequence[Trajectory]]  # all episodes of an earlier step of this run


@dataclass(frozen=True, slots=True)
class Labelled:
    """An episode of the pool."""

    step: int
    episode: Trajectory
    outcome: float  # 0 or 1, in learning

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.episode.turns

    @property
    def passed(self) -> bool:
        return self.outcome == 1.0


@dataclass(frozen=True, slots=True)
class Labels:
    """What an episode counts as. Everything follows from its name, so that a phase sees it as the one before did."""

    rewards: Rewards = field(default_factory=Rewards)
    seed: int = 0
    shuffled: bool = False  # a control: whose outcome it is, among the tries of a task in a step, is chance
    accuracy: float = 1.0  # so often the outcome is the true one, else it is the other

    def of(self, step: int, episodes: Sequence[Trajectory]) -> list[Labelled]:
        """Crashed and unjudged episodes are in no pool; nor are those that follow another one."""
        usable = sorted(
            (one for one in episodes if one.usable and one.turns and one.given is None), key=lambda one: one.episode
        )
        outcomes = [self._outcome(one) for one in usable]
        if self.shuffled:
            places = defaultdict[str, list[int]](list)
            for place, one in enumerate(usable):
                places[one.task.id].append(place)
            for name, some in places.items():
                given = [outcomes[place] for place in some]
                random.Random(f"{self.seed}/{step}/{name}").shuffle(given)
                for place, outcome in zip(some, given, strict=True):
                    outcomes[place] = outcome
        return [Labelled(step, one, outcome) for one, outcome in zip(usable, outcomes, strict=True)]

    def _outcome(self, episode: Trajectory) -> float:
        outcome = 1.0 if self.rewards.outcome(episode) == 1.0 else 0.0
        draw = int.from_bytes(hashlib.sha256(f"{self.seed}/{episode.episode}".encode()).digest()[:4]) / 2**32
        return outcome if draw < self.accuracy else 1.0 - outcome


@dataclass(frozen=True, slots=True)
class Pool:
    past: Past
    window: int  # steps, the one under way included
    labels: Labels = field(default_factory=Labels)

    def fresh(self, step: int, groups: Sequence[Group]) -> list[Labelled]:
        return self.labels.of(step, [member for group in groups for member in group])

    def earlier(self, step: int) -> list[Labelled]:
        """The oldest first."""
        steps = range(max(1, step - self.window + 1), step)
        return [one for before in steps for one in self.labels.of(before, self.past(before))]

    def at(self, step: int, groups: Sequence[Group]) -> list[Labelled]:
        """Of the steps in the window, this one last."""
        return self.earlier(step) + self.fresh(step, groups)


def newest_of_each(pool: Sequence[Labelled], most: int) -> list[Labelled]:
    """Not more than `most` of a task, so that easy ones do not crowd out the rest."""
    room: dict[str, int] = defaultdict(lambda: most)
    kept = []
    for one in reversed(pool):
        if room[one.episode.task.id]:
            room[one.episode.task.id] -= 1
            kept.append(one)
    return kept[::-1]


def cloned(episodes: Sequence[Labelled]) -> list[Sample]:
    """All turns alike."""
    return [turn_sample(turn, 1.0, 1.0) for one in episodes for turn in one.turns]

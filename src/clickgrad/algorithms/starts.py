"""Starts along what went well: an episode begins some turns into a demonstration, or into an earlier success.

How much is left to do moves with success, template by template: more when the policy finishes from there, less when it
never does. Every other group begins where the task does, so that early turns are learned too.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from clickgrad.types import Given, Opening, Task, Trajectory

FIRST_LEFT = 2  # turns to do, before anything is known of a template
HARDER, EASIER = 0.7, 0.2  # success of a group above and below which the next ones begin earlier and later
UNPLAYABLE = 0  # instead of turns left: what was recorded cannot be performed again, so nothing begins there
Recall = Callable[[str], Trajectory | None]  # a stored episode of this run by its name


@dataclass(frozen=True, slots=True)
class Start:
    task: Task
    opening: Opening
    left: int  # turns that whoever is followed still took from there


@dataclass(frozen=True, slots=True)
class Starts:
    seed: int
    max_turns: int
    by_task: bool  # follow the demonstration of the very task that is due; else any of `recorded`
    recorded: Sequence[Trajectory] = ()  # told in the policy's own tokens
    recall: Recall | None = None  # instead of `recorded`: successes of the policy, by the names in the progress

    @staticmethod
    def is_later(step: int, place: int) -> bool:
        """Whether the group at a place of a step may begin later: every other one."""
        return (step + place) % 2 == 1

    def choose(self, index: int, task: Task, levels: Mapping[str, int], kept: Sequence[str]) -> Start | None:
        """None: the group begins where its task does, since there is nothing to follow."""
        followed = self._follow(index, task, levels, kept)
        if followed is None:
            return None
        turns = len(followed.turns)
        level = self._level(followed, levels)
        left = min(turns - 1, max(1, level - 1 + draw(f"{self.seed}/{index}/left", 3)))
        source: Literal["demo", "own"] = "own" if self.recall else "demo"
        given = Given(turns - left, followed.episode, source)
        return Start(followed.task, Opening(followed.turns[: turns - left], given), left)

    def _follow(self, index: int, task: Task, levels: Mapping[str, int], kept: Sequence[str]) -> Trajectory | None:
        recorded = self.recorded
        if self.recall:
            recorded = [one for name in kept if (one := self.recall(name))]
        fitting = defaultdict[str, list[Trajectory]](list)
        for one in recorded:
            level = self._level(one, levels)
            if UNPLAYABLE < level < len(one.turns) <= self.max_turns and (not self.by_task or one.task.id == task.id):
                fitting[one.task.template].append(one)
        if not fitting:
            return None
        # First a template, then one of its episodes: those with many have no more of a say.
        names = sorted(fitting)
        chosen = fitting[names[draw(f"{self.seed}/{index}/template", len(names))]]
        return chosen[draw(f"{self.seed}/{index}/episode", len(chosen))]

    @staticmethod
    def _level(followed: Trajectory, levels: Mapping[str, int]) -> int:
        return levels.get(followed.task.template, min(FIRST_LEFT, len(followed.turns) - 1))


def moved(level: int, left: int, share: float) -> int:
    """The turns left to do after a group that began with `left` of them, around a level."""
    if share > HARDER and left >= level:
        return left + 1
    if share < EASIER and left <= level:
        return max(1, left - 1)
    return level


def draw(seed: str, count: int) -> int:
    """A number below `count`, the same for the same seed in every process."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:6]) % count

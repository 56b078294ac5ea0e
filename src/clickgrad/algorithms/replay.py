"""Successes kept: what the policy once did joins a group of the same kind that failed as a whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clickgrad.algorithms.starts import Recall
from clickgrad.types import Trajectory

_STEP = re.compile(r"step-(\d+)/")


@dataclass(frozen=True, slots=True)
class Replay:
    most: int  # that join a group
    age: int  # steps, after which a success is no longer replayed
    recall: Recall

    def joined(self, group: Sequence[Trajectory], step: int, kept: Sequence[str]) -> list[list[Trajectory]]:
        """The group with successes beside it; nothing when it did not fail as a whole, or when there are none.

        Those of the very task come first, then those of its template, the newest before older ones. They bring the
        logprobs of then, so the clip and `ratio_bound` know how far the policy has gone since.
        """
        rewards = {member.reward for member in group if member.usable}
        if rewards != {0.0} or any(member.given for member in group):
            return []
        task = group[0].task
        recent = [name for name in reversed(kept) if 0 < step - step_of(name) <= self.age]
        known = [one for name in recent if (one := self.recall(name)) and one.task.template == task.template]
        known.sort(key=lambda one: one.task.id != task.id)  # stable: the newest first within each
        return [[*group, *known[: self.most]]] if known else []


def step_of(episode: str) -> int:
    """Of `step-0003/task-00012/member-5/try-0`."""
    match = _STEP.match(episode)
    return int(match[1]) if match else 0

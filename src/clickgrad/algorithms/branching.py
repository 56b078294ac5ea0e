"""Where episodes of a group branch: at turns that could have gone otherwise, of episodes that could have ended so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clickgrad.learn.turn_advantages import first
from clickgrad.types import Given, Opening, Trajectory, Turn

LOOKED_AT = 8  # tokens of a reply: what follows them is mostly copied


@dataclass(frozen=True, slots=True)
class Branching:
    branches: int  # that leave a turn, beside the way that the episode itself went
    forks: int  # episodes that branch, each at one turn

    def openings(self, trunks: Sequence[Trajectory]) -> tuple[Opening, ...]:
        """Of the branches, in the order in which they become members. Ties go to the earlier member and turn."""
        rewards = [trunk.reward for trunk in trunks if trunk.reward is not None]
        expected = (sum(rewards) + 0.5) / (len(rewards) + 1)
        best = [
            max((score(turn, trunk.reward, expected), -number) for number, turn in inner)
            for trunk in trunks
            if trunk.reward is not None and (inner := list(enumerate(trunk.turns))[first(trunk) + 1 :])
        ]
        able = [trunk for trunk in trunks if trunk.reward is not None and len(trunk.turns) > first(trunk) + 1]
        order = sorted(range(len(able)), key=lambda place: (-best[place][0], place))
        return tuple(
            opening
            for place in order[: self.forks]
            for opening in [_opening(able[place], -best[place][1])] * self.branches
        )


def score(turn: Turn, reward: float, expected: float) -> float:
    """4 v (1 - v) times the surprise of the reply: its entropy, as far as the tokens that were drawn can tell.

    v is halfway between what the episode came to and what its group did. A failure in a group of one half, with a reply
    of two tokens at logprobs -0.5 and -1: v = 1/4, and 4 * 1/4 * 3/4 * 1.5 = 1.125.
    """
    value = (reward + expected) / 2
    return 4 * value * (1 - value) * -sum(turn.completion.logprobs[:LOOKED_AT])


def _opening(trunk: Trajectory, turn: int) -> Opening:
    return Opening(trunk.turns[:turn], Given(turn, trunk.episode, "branch"))

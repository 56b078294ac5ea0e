"""How much better a turn was than what it is compared with.

The paper compares an episode with its group, all turns of it alike (`clickgrad.advantages`). `turn_advantages` compares
turns: episodes that branch off another one, or that meet in the same context, make a tree, and a turn is compared with
the others that were taken at the same node of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from clickgrad.types import End, Trajectory, Turn

Credit = Literal["episode", "tree", "world"]
SHRINK = 1.0  # a node's siblings are joined by so many of what was expected one node above
LOOSE = 0.5  # weight of a comparison in the same world and page after another history, against one in the same context


@dataclass(frozen=True, slots=True)
class Rewards:
    """What an episode is worth in learning. The verdict stays what it is, and so do reported figures."""

    require_exit: bool = False  # one that a limit of the agent's ended is not solved, whatever it left behind
    turn_discount: float = 1.0  # for each turn that the policy chose after its first

    def outcome(self, episode: Trajectory) -> float | None:
        if self.require_exit and episode.reward and episode.end in (End.TURN_LIMIT, End.TOKEN_LIMIT):
            return 0.0
        return episode.reward

    def reward(self, episode: Trajectory) -> float | None:
        """A success in 3 turns with a discount of 0.9 is worth 0.81."""
        outcome = self.outcome(episode)
        if outcome is None or self.turn_discount == 1.0:
            return outcome
        return outcome * self.turn_discount ** max(0, len(episode.chosen) - 1)


Place = tuple[int, int]  # a turn: number of the episode within its group, number of the turn within the episode


@dataclass(frozen=True, slots=True)
class Tree:
    """The episodes of a group, each with its reward. Only turns that a policy chose are in it.

    An example: A and B start at the task's beginning and take two turns each, A passes and B fails. Two branches leave
    A before its second turn, and both fail. Then the value of A's first turn is 1/3, the mean of what it led to.

        A0 1/3 --+-- A1 1        A0 against B0        1/3 - 0
        B0 0 --- | - B1 0        B0 against A0        0 - 1/3, and so B1, which had no other beside it
                 +-- a1 0        A1 against a1, b1    1 - (0 + 0 + 0) / 3   the last one is what A0 was expected to be
                 +-- b1 0        a1 against A1, b1    0 - (1 + 0 + 0) / 3
    """

    episodes: Sequence[Trajectory]
    rewards: Sequence[float]
    shared: bool = False  # turns in the same context stand at the same node, whoever took them
    _children: dict[Place | None, list[Place | int]] = field(default_factory=lambda: defaultdict(list))
    _parents: dict[Place, Place | None] = field(default_factory=dict)
    _beside: dict[tuple[int, ...], list[Place]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        numbers = {episode.episode: number for number, episode in enumerate(self.episodes)}
        for number, episode in enumerate(self.episodes):
            above: Place | None = None
            if episode.given and episode.given.source == "branch":
                trunk = numbers[episode.given.episode]
                if episode.given.turns > first(self.episodes[trunk]):
                    above = trunk, episode.given.turns - 1
            for turn in range(first(episode), len(episode.turns)):
                self._children[above].append((number, turn))
                self._parents[number, turn] = above
                self._beside[episode.turns[turn].prompt_ids].append((number, turn))
                above = number, turn
            if not episode.chosen:
                self._children[above].append(number)  # ended before its first reply

    def places(self) -> Iterator[Place]:
        return iter(self._parents)

    def turn(self, place: Place) -> Turn:
        return self.episodes[place[0]].turns[place[1]]

    def value(self, place: Place) -> float:
        """Mean of what came of it: each branch below counts alike."""
        below = self._children.get(place)
        if not below:
            return self.rewards[place[0]]
        return sum(self._worth(child) for child in below) / len(below)

    def _worth(self, child: Place | int) -> float:
        return self.rewards[child] if isinstance(child, int) else self.value(child)

    def split(self, place: Place) -> int:
        """By how much a turn counts less than the whole group: 1 over all that was taken beside it, and above it."""
        above, count = self._parents[place], len(self._children[self._parents[place]])
        return count if above is None else count * self.split(above)

    def advantage(self, place: Place) -> float:
        baseline = self._baseline(place)
        return 0.0 if baseline is None else self._quality(place) - baseline

    def _quality(self, place: Place) -> float:
        """The value of the same reply in the same context, over all who gave it."""
        if not self.shared:
            return self.value(place)
        turn = self.turn(place)
        same = [one for one in self._beside[turn.prompt_ids] if self.turn(one).completion.ids == turn.completion.ids]
        return sum(map(self.value, same)) / len(same)

    def _baseline(self, place: Place) -> float | None:
        """What was to be expected there, from others alone: so it turns no gradient. None when there are none."""
        above = self._parents[place]
        siblings: Sequence[Place | int] = (
            self._beside[self.turn(place).prompt_ids] if self.shared and above is not None else self._children[above]
        )
        others = [self._worth(one) for one in siblings if one != place]
        expected = None if above is None else self._baseline(above)
        if expected is None:
            return sum(others) / len(others) if others else None
        return (sum(others) + SHRINK * expected) / (len(others) + SHRINK) if others else expected

    def loose_advantage(self, place: Place) -> float:
        """Against turns on the same page of the same world after another history; 0 when there are none."""
        own = self.turn(place)
        others = [
            self.value(one)
            for one in self.places()
            if (turn := self.turn(one)).world == own.world != ""
            and turn.prompt_ids != own.prompt_ids
            and turn.observation == own.observation
        ]
        return self.value(place) - sum(others) / len(others) if others else 0.0


def first(episode: Trajectory) -> int:
    """The turn that the policy chose first."""
    return episode.given.turns if episode.given else 0


def turn_advantages(tree: Tree, credit: Credit) -> dict[Place, float]:
    found = {place: tree.advantage(place) for place in tree.places()}
    if credit != "world":
        return found
    return {place: value + LOOSE * tree.loose_advantage(place) for place, value in found.items()}

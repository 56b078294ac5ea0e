"""Trajectories to samples: every reply in exactly the context it was sampled in, with its share of the loss.

The paper's loss averages over the trajectories of a group, then over the actions of a trajectory, then over the tokens
of an action (METHOD: -1/G sum_i 1/|tau_i| sum_j 1/|a_ij| sum_t ...). A batch averages over its groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from clickgrad.advantages import Divisor, group_advantages, spread
from clickgrad.errors import UserError
from clickgrad.learn.turn_advantages import Credit, Rewards, Tree, first, turn_advantages
from clickgrad.types import Sample, Trajectory, Turn

Normalizer = Literal["paper", "constant", "token"]


@dataclass(frozen=True, slots=True)
class Teaching:
    """How the rewards of a group become advantages and shares of the loss. As it stands, the paper's way."""

    normalizer: Normalizer = "paper"
    max_turns: int = 1  # of an episode, for the constant normaliser
    divisor: Divisor = "std"
    groups_asked: int = 0  # that the loss is averaged over, with contrast or not; 0: those with contrast
    credit: Credit = "episode"
    rewards: Rewards = field(default_factory=Rewards)


@dataclass(frozen=True, slots=True)
class _Told:
    """A turn with its advantage; `split` is how many parts of its group's loss it is one of."""

    turn: Turn
    advantage: float
    split: int
    turns: int  # of its trajectory


def has_contrast(group: Sequence[Trajectory], rewards: Rewards) -> bool:
    return len({outcome for one in group if (outcome := rewards.outcome(one)) is not None}) > 1


def grpo_samples(
    groups: Sequence[Sequence[Trajectory]],
    normalizer: Normalizer = "paper",
    max_turns: int = 1,
    teaching: Teaching | None = None,
) -> tuple[Sample, ...]:
    """Samples of all groups that have contrast; weights sum the batch loss as the paper defines it.

    normalizer: `paper` divides a turn by its trajectory's turns; `constant` divides every turn by `max_turns`;
    `token` weighs every token of the batch alike. `teaching` says these two and more.
    """
    teaching = teaching or Teaching(normalizer, max_turns)
    told = [_tell(group, teaching) for group in groups if has_contrast(group, teaching.rewards)]
    count = max(len(told), teaching.groups_asked)
    tokens = sum(len(one.turn.completion.ids) for group in told for one in group)
    samples = []
    for group in told:
        for one in group:
            if teaching.normalizer == "paper":
                weight = 1 / (count * one.split * one.turns)
            elif teaching.normalizer == "constant":
                weight = 1 / (count * one.split * teaching.max_turns)
            else:
                weight = len(one.turn.completion.ids) / tokens
                weight = weight if count == len(told) else weight * len(told) / count
            samples.append(turn_sample(one.turn, one.advantage, weight))
    return tuple(samples)


def _tell(group: Sequence[Trajectory], teaching: Teaching) -> list[_Told]:
    worth = [(one, reward) for one in group if (reward := teaching.rewards.reward(one)) is not None]
    names = {one.episode for one, _ in worth}
    # A branch stands where its trunk stood: without the trunk there is nothing to compare it with.
    worth = [(one, reward) for one, reward in worth if not is_branch(one) or one.given.episode in names]  # type: ignore[union-attr]
    episodes, rewards = [one for one, _ in worth], [reward for _, reward in worth]
    if len(set(rewards)) < 2:
        return []
    if teaching.credit == "episode" and not any(map(is_branch, episodes)):
        return [
            _Told(turn, advantage, len(worth), len(one.chosen))
            for one, advantage in zip(episodes, group_advantages(rewards, teaching.divisor), strict=True)
            if advantage is not None
            for turn in one.chosen
        ]
    tree = Tree(episodes, rewards, shared=teaching.credit != "episode")
    by = spread(rewards, teaching.divisor)
    begin = min(first(one) for one in episodes if not is_branch(one))
    return [
        _Told(tree.turn(place), advantage / by, tree.split(place), len(episodes[place[0]].turns) - begin)
        for place, advantage in turn_advantages(tree, teaching.credit).items()
    ]


def is_branch(episode: Trajectory) -> bool:
    return episode.given is not None and episode.given.source == "branch"


def effective_samples(samples: Sequence[Sample]) -> float:
    """How many turns of equal say would teach as surely: (sum |w A|)^2 / sum (w A)^2. Says 3, 1: (3 + 1)^2 / 10."""
    says = [abs(sample.weight * sample.advantage) for sample in samples]
    squares = sum(say * say for say in says)
    return sum(says) ** 2 / squares if squares else 0.0


def clone_samples(demonstration: Trajectory) -> tuple[Sample, ...]:
    """Every reply of a demonstration, all replies alike."""
    return tuple(turn_sample(turn, advantage=1.0, weight=1.0) for turn in demonstration.turns)


def refuse_foreign(trajectories: Sequence[Trajectory], prompt_format: str) -> None:
    """Trajectories told in another tokenizer, template or format would train on tokens the policy never saw."""
    for trajectory in trajectories:
        if trajectory.prompt_format != prompt_format:
            raise UserError(
                f"episode {trajectory.episode} was recorded with prompt format {trajectory.prompt_format}, this run's "
                f"is {prompt_format}: record it again with the same model, template and agent settings"
            )


def turn_sample(turn: Turn, advantage: float, weight: float) -> Sample:
    completion = turn.completion
    if not completion.ids:
        raise UserError(
            "a reply without token ids cannot be trained on: it comes from a policy that answers in text; clone from "
            "its trajectories with `clickgrad clone --demos`, which tells them in the model's own tokens"
        )
    return Sample(turn.prompt_ids + completion.ids, len(completion.ids), completion.logprobs, advantage, weight)

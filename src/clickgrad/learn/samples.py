"""Trajectories to samples: every reply in exactly the context it was sampled in, with its share of the loss.

The paper's loss averages over the trajectories of a group, then over the actions of a trajectory, then over the tokens
of an action (METHOD: -1/G sum_i 1/|tau_i| sum_j 1/|a_ij| sum_t ...). A batch averages over its groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from clickgrad.advantages import group_advantages
from clickgrad.errors import UserError
from clickgrad.types import Sample, Trajectory, Turn

Normalizer = Literal["paper", "constant", "token"]


def grpo_samples(
    groups: Sequence[Sequence[Trajectory]], normalizer: Normalizer = "paper", max_turns: int = 1
) -> tuple[Sample, ...]:
    """Samples of all groups that have contrast; weights sum the batch loss as the paper defines it.

    normalizer: `paper` divides a turn by its trajectory's turns; `constant` divides every turn by `max_turns`;
    `token` weighs every token of the batch alike.
    """
    told = [(group, group_advantages([trajectory.reward for trajectory in group])) for group in groups]
    told = [(group, advantages) for group, advantages in told if any(value is not None for value in advantages)]
    tokens = sum(
        len(turn.completion.ids)
        for group, advantages in told
        for trajectory, advantage in zip(group, advantages, strict=True)
        if advantage is not None
        for turn in trajectory.turns
    )
    samples = []
    for group, advantages in told:
        usable = sum(advantage is not None for advantage in advantages)
        for trajectory, advantage in zip(group, advantages, strict=True):
            if advantage is None:
                continue
            for turn in trajectory.turns:
                if normalizer == "paper":
                    weight = 1 / (len(told) * usable * len(trajectory.turns))
                elif normalizer == "constant":
                    weight = 1 / (len(told) * usable * max_turns)
                else:
                    weight = len(turn.completion.ids) / tokens
                samples.append(_sample(turn, advantage, weight))
    return tuple(samples)


def clone_samples(demonstration: Trajectory) -> tuple[Sample, ...]:
    """Every reply of a demonstration, all replies alike."""
    return tuple(_sample(turn, advantage=1.0, weight=1.0) for turn in demonstration.turns)


def refuse_foreign(trajectories: Sequence[Trajectory], prompt_format: str) -> None:
    """Trajectories told in another tokenizer, template or format would train on tokens the policy never saw."""
    for trajectory in trajectories:
        if trajectory.prompt_format != prompt_format:
            raise UserError(
                f"episode {trajectory.episode} was recorded with prompt format {trajectory.prompt_format}, this run's "
                f"is {prompt_format}: record it again with the same model, template and agent settings"
            )


def _sample(turn: Turn, advantage: float, weight: float) -> Sample:
    completion = turn.completion
    if not completion.ids:
        raise UserError(
            "a reply without token ids cannot be trained on: it comes from a policy that answers in text; clone from "
            "its trajectories with `clickgrad clone --demos`, which tells them in the model's own tokens"
        )
    return Sample(turn.prompt_ids + completion.ids, len(completion.ids), completion.logprobs, advantage, weight)

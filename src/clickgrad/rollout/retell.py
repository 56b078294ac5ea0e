"""A recorded episode told anew in a policy's own tokens, so that text-only demonstrations can be learned from."""

from __future__ import annotations

from dataclasses import replace

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.types import Completion, Trajectory


def retell(trajectory: Trajectory, builder: PromptBuilder) -> Trajectory:
    """Each reply in the context the policy would have had: the same builder as in rollouts makes it."""
    history: list[Completion] = []
    turns = []
    for turn in trajectory.turns:
        prompt = builder.prompt(trajectory.episode, trajectory.task, history, turn.observation)
        completion = builder.reply(turn.completion.text)
        history.append(completion)
        turns.append(replace(turn, prompt_ids=prompt.ids, completion=completion))
    return replace(trajectory, turns=tuple(turns), prompt_format=builder.fingerprint)

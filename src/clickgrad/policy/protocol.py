"""What every policy can do: answer a prompt. Whether it reads ids or text is its own affair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from clickgrad.errors import TokenLimit
from clickgrad.types import Completion, Prompt, Sampling


class Policy(Protocol):
    @property
    def name(self) -> str:
        """What the user calls it, for reports."""

    @property
    def version(self) -> int:
        """How many optimizer steps it has seen."""

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        """One reply. PolicyError when the machinery fails, TokenLimit when the prompt does not fit."""

    def forget(self, episode: str) -> None:
        """The episode is over: free what is kept for it."""

    def close(self) -> None:
        """Idempotent."""


@runtime_checkable
class Streaming(Protocol):
    """A policy that can be heard while it replies."""

    def listen(self, episode: str, hear: Callable[[str], None] | None) -> None:
        """From the episode's next prompt on, `hear` is told the reply so far whenever it has grown, on any thread.

        None ends it.
        """


class TrainedPolicy(Policy, Protocol):
    """One whose weights are replaced while it answers."""

    def figures(self) -> Mapping[str, float]:
        """For the metrics of a step, since the last call: `cache_hit_share`, what the engine spent its time on, ..."""

    def swap_weights(self, change: Callable[[], None], version: int) -> None:
        """`change` puts the new weights in place; every later completion is of `version`."""


@runtime_checkable
class Resting(Protocol):
    """A policy that shares its devices with whoever learns."""

    def rest(self) -> None:
        """Nobody asks until the next `swap_weights`: what it can give back meanwhile it gives back."""


def refuse_too_long(prompt: Prompt, sampling: Sampling, context_tokens: int) -> None:
    if len(prompt.ids) + sampling.max_new_tokens > context_tokens:
        raise TokenLimit(
            f"a prompt of {len(prompt.ids)} tokens and a reply of {sampling.max_new_tokens} exceed the context of "
            f"{context_tokens}"
        )

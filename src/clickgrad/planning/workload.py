"""What a rollout has to do: episodes by turns and tokens, made up from a few numbers or read off real prompts."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from clickgrad.planning.simulation import EpisodeLoad, TurnLoad

HEAD = 250  # tokens of system prompt and task
PLACEHOLDER = 16  # tokens that stand for a past page, with the template around them
GOLDEN = 0.618034  # its multiples fill the unit interval evenly, in any number

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    rounds: tuple[
        tuple[EpisodeLoad, ...], ...
    ]  # of a step: its groups, then those that replace groups without contrast
    trained_tokens: int  # that an update computes

    @property
    def episodes(self) -> int:
        return sum(map(len, self.rounds))

    @property
    def turns(self) -> list[TurnLoad]:
        return [turn for episodes in self.rounds for episode in episodes for turn in episode.turns]

    @property
    def longest(self) -> int:
        """Tokens of the longest prompt with its reply."""
        return max((turn.context + turn.reply for turn in self.turns), default=0)


def made_up(groups: int, group_size: int, refills: int, turns: float, page_tokens: int, reply_tokens: int) -> Workload:
    """Lengths of episodes and replies lie evenly between half and one and a half of the mean."""
    members = [
        [
            _episode(f"group-{group}", group * group_size + member, turns, page_tokens, reply_tokens)
            for member in range(group_size)
        ]
        for group in range(groups + refills)
    ]
    first, later = (sum(part, start=list[EpisodeLoad]()) for part in (members[:groups], members[groups:]))
    trained = first if not refills else first[: (groups - refills) * group_size] + later
    rounds = (tuple(first), tuple(later)) if later else (tuple(first),)
    return Workload(rounds, computed(trained))


def _episode(group: str, number: int, turns: float, page_tokens: int, reply_tokens: int) -> EpisodeLoad:
    replies = [
        max(1, round(reply_tokens * _spread(number * 31 + turn)))
        for turn in range(max(1, round(turns * _spread(number))))
    ]
    past = [0] + [PLACEHOLDER + reply for reply in replies]
    loads = [
        TurnLoad(
            fresh=page_tokens + past[turn] if turn else 0,
            context=HEAD + sum(past[: turn + 1]) + page_tokens,
            reply=reply,
            shared=0 if turn else HEAD + page_tokens,
            acts=turn + 1 < len(replies),
        )
        for turn, reply in enumerate(replies)
    ]
    return EpisodeLoad(group, tuple(loads))


def _spread(number: int) -> float:
    return 0.5 + (0.5 + number * GOLDEN) % 1


def computed(episodes: Iterable[EpisodeLoad]) -> int:
    """Tokens of an update in the comb layout: what members share once, what engines read anew, and the replies."""
    episodes = list(episodes)
    shared = {episode.group: max(turn.shared for turn in episode.turns) for episode in episodes}
    return sum(shared.values()) + sum(turn.fresh + turn.reply for episode in episodes for turn in episode.turns)


# --- off real prompts ---


def unseen_tokens(prompts: Iterable[Ids]) -> list[int]:
    """Of each prompt, the tokens after the longest beginning that it shares with any before it.

    1 2 3, then 1 2 4 5, then 1 2 3 6 have 3, 2 and 1.
    """
    seen: list[Ids] = []
    unseen = []
    for prompt in prompts:
        place = bisect_left(seen, prompt)  # in sorted order a neighbour shares most
        known = max((common(prompt, near) for near in seen[max(place - 1, 0) : place + 1]), default=0)
        unseen.append(len(prompt) - known)
        insort(seen, prompt)
    return unseen


def comb_tokens(samples: Iterable[Ids], micro_tokens: int) -> int:
    """Tokens of an update that computes common beginnings once in every micro-batch, as `learn.logprobs` makes them.

    1 2 3 and 1 2 4 5 have 5 in one micro-batch, and 7 in two.
    """
    total = batch = 0
    before: Ids = ()
    for sample in sorted(set(samples)):
        new = len(sample) - common(before, sample)
        if batch and batch + new > micro_tokens:
            new, batch = len(sample), 0
        batch += new
        total += new
        before = sample
    return total


def common(one: Sequence[int], other: Sequence[int]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def with_fresh(turns: Sequence[TurnLoad], fresh: Sequence[int]) -> tuple[TurnLoad, ...]:
    return tuple(replace(turn, fresh=tokens) for turn, tokens in zip(turns, fresh, strict=True))

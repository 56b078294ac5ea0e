"""What a rollout has to do: episodes by turns and tokens, made up from a few numbers or read off real trajectories.

And what an update has to compute: in the comb layout what prompts have in common is computed once.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from clickgrad.planning.options import Options
from clickgrad.planning.simulation import EpisodeLoad, TurnLoad
from clickgrad.types import Exit, Trajectory, Turn, Unparsable

HEAD = 250  # tokens of system prompt and task
PLACEHOLDER = 16  # tokens that stand for a past page, with the template around them
GOLDEN = 0.618034  # its multiples fill the unit interval evenly, in any number
Round = tuple[EpisodeLoad, ...]
Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    steps: tuple[tuple[Round, ...], ...]  # each its groups, then those that replace some without contrast
    trained_tokens: float  # that all updates compute
    scripted: bool = False  # no engine is asked

    @property
    def rounds(self) -> list[Round]:
        return [episodes for rounds in self.steps for episodes in rounds]

    @property
    def most_episodes(self) -> int:
        """Of a step."""
        return max(sum(map(len, rounds)) for rounds in self.steps)

    @property
    def longest(self) -> int:
        """Tokens of the longest prompt with its reply."""
        return max(turn.context + turn.reply for episodes in self.rounds for turns in episodes for turn in turns)


def made_up(options: Options, head: int = HEAD) -> Workload:
    """A step. Lengths of episodes and replies lie evenly between half and one and a half of the mean."""
    begun, refilled = options.groups * options.group_size, options.refills * options.group_size
    episodes = tuple(_episode(number, options, head) for number in range(begun + refilled))
    trained = episodes[: begun - refilled] + episodes[begun:]
    # What members share once, what engines read anew, and the replies.
    tokens = sum(turn.fresh + turn.reply for turns in trained for turn in turns)
    rounds = (episodes[:begun], episodes[begun:]) if refilled else (episodes,)
    return Workload((rounds,), options.groups * (head + options.page_tokens) + tokens)


def _episode(number: int, options: Options, head: int) -> EpisodeLoad:
    """Of an earlier turn the context keeps its reply and a placeholder."""
    replies = [
        max(1, round(options.reply_tokens * _spread(number * 31 + turn)))
        for turn in range(max(1, round(options.turns * _spread(number))))
    ]
    page, group, context, turns = options.page_tokens, f"group-{number // options.group_size}", head, list[TurnLoad]()
    for turn, reply in enumerate(replies, 1):
        fresh, shared = (page + PLACEHOLDER + replies[turn - 2], 0) if turn > 1 else (0, head + page)
        turns.append(TurnLoad(fresh, context + page, reply, turn < len(replies), shared, group))
        context += PLACEHOLDER + reply
    return tuple(turns)


def _spread(number: int) -> float:
    return 0.5 + (0.5 + number * GOLDEN) % 1


# --- off real trajectories ---


def loads(rounds: Sequence[Sequence[Trajectory]]) -> tuple[Round, ...]:
    """Engines keep what they read for the whole step: what is unseen is counted in the order of rounds and turns."""
    asked = [
        turn
        for episodes in rounds
        for turns in zip_longest(*(episode.turns for episode in episodes))
        for turn in turns
        if turn
    ]
    fresh = dict(zip(map(id, asked), unseen_tokens(turn.prompt_ids for turn in asked), strict=True))

    def load(turn: Turn) -> TurnLoad:
        acts = not (turn.paged or isinstance(turn.action, Exit | Unparsable))
        return TurnLoad(fresh[id(turn)], len(turn.prompt_ids), len(turn.completion.ids), acts)

    return tuple(tuple(tuple(map(load, episode.turns)) for episode in episodes) for episodes in rounds)


def unseen_tokens(prompts: Iterable[Ids]) -> list[int]:
    """Of each prompt, the tokens after the longest beginning that it shares with any before it.

    1 2 3, then 1 2 4 5, then 1 2 3 6 have 3, 2 and 1.
    """
    seen: list[Ids] = []
    unseen = []
    for prompt in prompts:
        place = bisect_left(seen, prompt)  # in sorted order a neighbour shares most
        known = max((_common(prompt, near) for near in seen[max(place - 1, 0) : place + 1]), default=0)
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
        new = len(sample) - _common(before, sample)
        if batch and batch + new > micro_tokens:
            new, batch = len(sample), 0
        batch, total, before = batch + new, total + new, sample
    return total


def _common(one: Ids, other: Ids) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))

"""The comb: many turns in one packed sequence, every token that turns have in common only once.

The context of a turn is its trajectory's trunk (system, task, placeholders and replies so far) and one page; so turns
of a trajectory share the trunk, and those of a group the system and the task. What two turns share is simply the
longest common beginning of their ids, and in sorted order each turn shares most with the one before it:

    turn A   1 2 3 4 5          packed ids        1 2 3 4 5 | 8 9 | 6
    turn B   1 2 8 9            positions         0 1 2 3 4 | 2 3 | 1
    turn C   1 6                block of B: the two tokens 8 9, which see 1 2 and, causally, themselves

Each block attends to its own beginning and to itself, nothing else is computed, and no mask is larger than CHUNK times
a block's context. Positions are those at which the tokens were sampled, so logprobs and gradients are those of the
turns one by one.

Shapes: N packed tokens, H query heads, G key/value heads, L tokens of a block, T tokens it can see, D head size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from clickgrad.policy.attention import attend

Span = tuple[int, int]  # of packed tokens
CHUNK = 256  # queries of a long block are taken so many at a time: half of its square lies above the diagonal


@dataclass(frozen=True, slots=True)
class Block:
    """Tokens that one turn adds to the pack."""

    own: Span
    seen: tuple[Span, ...]  # of the beginning it shares with turns before it, in order


@dataclass(frozen=True, slots=True)
class Comb:
    ids: tuple[int, ...]
    positions: tuple[int, ...]
    blocks: tuple[Block, ...]
    paths: tuple[tuple[int, ...], ...]  # of every turn given: where in the pack its tokens stand


def pack(turns: Sequence[tuple[int, ...]], share: bool = True) -> Comb:
    """`share=False` packs distinct turns one after the other without sharing: the same arithmetic, for comparison."""
    ids: list[int] = []
    positions: list[int] = []
    blocks: list[Block] = []
    paths: dict[tuple[int, ...], tuple[int, ...]] = {}
    before: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()  # where the turn before stands
    for turn in sorted(set(turns)):
        shared = common_length(before, turn) if share else 0
        own = (len(ids), len(ids) + len(turn) - shared)
        seen = _first(spans, shared)
        if own[0] < own[1]:
            blocks.append(Block(own, seen))
        ids.extend(turn[shared:])
        positions.extend(range(shared, len(turn)))
        spans = (*seen, own)
        paths[turn] = tuple(place for start, stop in spans for place in range(start, stop))
        before = turn
    return Comb(tuple(ids), tuple(positions), tuple(blocks), tuple(paths[turn] for turn in turns))


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    size = min(len(one), len(other))
    return next((place for place in range(size) if one[place] != other[place]), size)


def _first(spans: Sequence[Span], count: int) -> tuple[Span, ...]:
    """The spans that hold the first `count` tokens."""
    kept: list[Span] = []
    for start, stop in spans:
        if count <= 0:
            break
        kept.append((start, min(stop, start + count)))
        count -= stop - start
    return tuple(kept)


class CombAttention:
    """Attention over a comb; given to the model's attention function in place of a mask."""

    def __init__(self, comb: Comb) -> None:
        cuts = sorted({0, *(place for block in comb.blocks for span in (*block.seen, block.own) for place in span)})
        # Keys and values are cut once at all the places where some span begins or ends; a span is a run of pieces.
        # Slicing them anew for each block would cost a gradient as long as the pack for every slice.
        self._pieces = [stop - start for start, stop in pairwise(cuts)]
        number = {cut: index for index, cut in enumerate(cuts)}
        self._blocks = [
            (
                block.own[1] - block.own[0],
                [piece for start, stop in (*block.seen, block.own) for piece in range(number[start], number[stop])],
            )
            for block in comb.blocks
        ]
        self._longest = max(sum(self._pieces[piece] for piece in pieces) for _, pieces in self._blocks)
        self._mask: torch.Tensor | None = None  # the widest there is: all others are its lower right corners

    def attend(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float | None, layer: int
    ) -> torch.Tensor:
        """query [1, H, N, D], key and value [1, G, N, D]; returns [1, N, H, D]. All layers see alike."""
        groups = query.shape[1] // key.shape[1]
        keys, values = torch.split(key, self._pieces, 2), torch.split(value, self._pieces, 2)
        queries = torch.split(query, [length for length, _ in self._blocks], 2)
        attended = []
        for block, (length, pieces) in zip(queries, self._blocks, strict=True):
            keys_T = torch.cat([keys[piece] for piece in pieces], 2)
            values_T = torch.cat([values[piece] for piece in pieces], 2)
            visible = keys_T.shape[2] - length
            for queries_L in torch.split(block, CHUNK, 2):
                visible += queries_L.shape[2]
                attended.append(
                    self._causal(queries_L, keys_T[:, :, :visible], values_T[:, :, :visible], groups, scaling)
                )
        return torch.cat(attended, 2).transpose(1, 2)

    def _causal(
        self,
        queries_L: torch.Tensor,
        keys_T: torch.Tensor,
        values_T: torch.Tensor,
        groups: int,
        scaling: float | None,
    ) -> torch.Tensor:
        """The queries are those of the last L of the T tokens."""
        _, heads, length, size = queries_L.shape
        if self._mask is None:  # made by the first layer, used by all
            self._mask = _lower_right(CHUNK, max(CHUNK, self._longest), like=queries_L).repeat(groups, 1, 1)
        mask_LT = self._mask[:, -length:, -keys_T.shape[2] :].reshape(groups * length, -1)
        # The query heads of one key/value head stand side by side as queries, so keys need not be repeated.
        queries = queries_L.reshape(heads // groups, groups * length, size)
        out = attend(queries, keys_T[0], values_T[0], mask_LT, scaling)
        return out.reshape(1, heads, length, size)


def _lower_right(length: int, seen: int, like: torch.Tensor) -> torch.Tensor:
    """[L, T], to be added: the last token of a block sees all, the one before it all but one."""
    return torch.full((length, seen), float("-inf"), dtype=like.dtype, device=like.device).triu(seen - length + 1)

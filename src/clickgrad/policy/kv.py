"""Keys and values of attention: a row for every request under way, and prompts kept for whoever shares their beginning.

Shapes: C layers, 2 for keys and values, R rows, N tokens of a pass, G key/value heads, H query heads, T positions, D
head size.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from clickgrad.policy.attention import attend

Tensor = torch.Tensor
GROW = 64  # positions added at a time
WORTH_ALL = 0.6  # share of a buffer in use from which its end is better masked than cut off, which would copy it
SHORT = 16  # tokens: segments up to this length attend together, padded to the longest of them


class Rows:
    """Buffers [2, R, G, T, D], one a layer; rows 0..n-1 are in use, each with a length of its own.

    Rows are doubled when they are too few, up to `most`: what grows row by row leaves holes in the memory, which
    nothing else fits into.
    """

    def __init__(self, config: Any, dtype: torch.dtype, most: int) -> None:
        heads = config.num_key_value_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.dtype = dtype
        self._most = most
        self.lengths: list[int] = []
        self._shape = heads, size
        self.buffers = [self._zeros(0, 0) for _ in range(config.num_hidden_layers)]

    @property
    def capacity(self) -> int:
        """In tokens."""
        rows, positions = self._room
        return rows * positions

    @property
    def _room(self) -> tuple[int, int]:
        return self.buffers[0].shape[1], self.buffers[0].shape[3]

    def add(self, beginning: Tensor | None, positions: int) -> None:
        """A new last row with room for `positions`, of which the first ones are known: [C, 2, G, T, D]."""
        row = len(self.lengths)
        self._reserve(row + 1, positions)
        known = 0 if beginning is None else beginning.shape[3]
        if beginning is not None:
            for buffer, old in zip(self.buffers, beginning, strict=True):
                buffer[:, row, :, :known] = old
        self.lengths.append(known)

    def remove(self, row: int) -> None:
        """The last row takes its place, so that rows in use stay together."""
        last = len(self.lengths) - 1
        length = self.lengths.pop()
        if row != last:
            for buffer in self.buffers:
                buffer[:, row, :, :length] = buffer[:, last, :, :length]
            self.lengths[row] = length

    def beginning(self, row: int, length: int) -> Tensor:
        """A copy of the first positions of a row, [C, 2, G, T, D]."""
        return torch.stack([buffer[:, row, :, :length] for buffer in self.buffers])

    def clear(self) -> None:
        self.lengths.clear()
        _, positions = self._room  # as many will be needed again
        self.buffers = [self._zeros(0, positions) for _ in self.buffers]

    def _reserve(self, rows: int, positions: int) -> None:
        old_rows, old_positions = self._room
        if rows <= old_rows and positions <= old_positions:
            return
        rows = old_rows if rows <= old_rows else max(rows, min(2 * old_rows, self._most))
        positions = max(-(-positions // GROW) * GROW, old_positions)
        # Layer by layer, so that two whole copies never lie side by side; the first one, whose size is looked at, last.
        for layer in reversed(range(len(self.buffers))):
            grown = self._zeros(rows, positions)
            grown[:, :old_rows, :, :old_positions] = self.buffers[layer]
            self.buffers[layer] = grown

    def _zeros(self, rows: int, positions: int) -> Tensor:
        # Zeros, not garbage: masked positions still enter the product, and 0 * NaN is NaN.
        heads, size = self._shape
        return torch.zeros(2, rows, heads, positions, size, dtype=self.dtype)


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens that a pass adds to a row, after the `start` positions which are known."""

    row: int
    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length


class PassAttention:
    """Attention of one pass: every segment sees its own row up to itself. Writes its keys and values there.

    Segments of rows 0, 1 and 2 with 1, 2 and 40 tokens are packed as one sequence of 43. The first two attend together,
    padded to two tokens; the third one by itself.
    """

    def __init__(self, rows: Rows, segments: Sequence[Segment]) -> None:
        self._rows = rows
        self._at_row = torch.tensor([one.row for one in segments for _ in range(one.length)])
        self._at_position = torch.tensor([at for one in segments for at in range(one.start, one.end)])
        self.positions = self._at_position[None]
        begins = [0]
        for one in segments:
            begins.append(begins[-1] + one.length)
        placed = list(zip(begins, segments, strict=False))
        short = {one.row: (begin, one) for begin, one in placed if one.length <= SHORT}
        self._long = [(begin, one) for begin, one in placed if one.length > SHORT]
        self._short_rows = max(short, default=-1) + 1
        self._width = max((one.length for _, one in short.values()), default=0)
        self._reach = max((one.end for _, one in short.values()), default=0)
        # Rows that are not asked get some token to ask with. Padding repeats a segment's last token. Both are computed
        # and thrown away.
        asked = [short.get(row, (0, Segment(row, 0, 1))) for row in range(self._short_rows)]
        self._padded = torch.tensor(
            [[begin + min(place, one.length - 1) for place in range(self._width)] for begin, one in asked]
        )
        self._last_seen = torch.tensor(
            [[one.start + min(place, one.length - 1) for place in range(self._width)] for _, one in asked]
        )
        self._kept = torch.tensor(
            [row * self._width + place for row, (_, one) in short.items() for place in range(one.length)]
        )
        self._short_tokens = torch.tensor(
            [begin + place for begin, one in short.values() for place in range(one.length)]
        )
        self._mask: Tensor | None = None
        self._causal: dict[tuple[int, int], Tensor] = {}

    def attend(self, query: Tensor, key: Tensor, value: Tensor, scaling: float | None, layer: int) -> Tensor:
        """query [1, H, N, D], key and value [1, G, N, D]; returns [1, N, H, D]."""
        keys, values = self._rows.buffers[layer]
        keys[self._at_row, :, self._at_position] = key[0].transpose(0, 1).to(keys.dtype)
        values[self._at_row, :, self._at_position] = value[0].transpose(0, 1).to(values.dtype)
        _, heads, tokens, size = query.shape
        query_N = query[0].to(keys.dtype)
        out = torch.empty(tokens, heads, size, dtype=keys.dtype)
        if self._short_rows:
            out[self._short_tokens] = self._attend_short(query_N, keys, values, scaling)
        for begin, one in self._long:
            own = slice(begin, begin + one.length)
            seen = keys[one.row, :, : one.end], values[one.row, :, : one.end]
            out[own] = self._attend_long(query_N[:, own], *seen, scaling)
        return out.to(query.dtype)[None]

    def _attend_short(self, query_N: Tensor, keys: Tensor, values: Tensor, scaling: float | None) -> Tensor:
        heads, _, size = query_N.shape
        groups = heads // keys.shape[1]
        rows, width = self._padded.shape
        # Rows in between that are not asked attend for nothing: less work than to copy those that are.
        keys_RT, values_RT = keys[:rows], values[:rows]
        if keys.dtype is not torch.bfloat16 or self._reach < WORTH_ALL * keys.shape[2]:
            keys_RT, values_RT = keys_RT[:, :, : self._reach], values_RT[:, :, : self._reach]
        # The query heads of one key/value head stand side by side as queries, so keys need not be repeated.
        asked = query_N[:, self._padded].reshape(-1, groups, rows, width, size).permute(2, 0, 1, 3, 4)
        if self._mask is None:  # made by the first layer, used by all
            hidden = torch.arange(keys_RT.shape[2]) > self._last_seen[:, :, None]  # [R, width, T]
            self._mask = torch.zeros(hidden.shape, dtype=keys.dtype).masked_fill_(hidden, float("-inf"))
            self._mask = self._mask.repeat(1, groups, 1).repeat_interleave(keys.shape[1], 0)
        asked = asked.reshape(-1, groups * width, size)
        answer = attend(asked, keys_RT.flatten(0, 1), values_RT.flatten(0, 1), self._mask, scaling)
        answer = answer.reshape(rows, -1, groups, width, size).permute(0, 3, 1, 2, 4)
        return answer.reshape(rows * width, heads, size)[self._kept]

    def _attend_long(self, query_L: Tensor, keys_T: Tensor, values_T: Tensor, scaling: float | None) -> Tensor:
        heads, length, size = query_L.shape
        groups, seen = heads // keys_T.shape[0], keys_T.shape[1]
        mask = self._causal_mask(length, seen, groups, query_L.dtype)
        answer = attend(query_L.reshape(-1, groups * length, size), keys_T, values_T, mask, scaling)
        return answer.reshape(heads, length, size).transpose(0, 1)

    def _causal_mask(self, length: int, seen: int, groups: int, dtype: torch.dtype) -> Tensor:
        """[L, T], to be added; the same for all layers."""
        mask = self._causal.get((length, seen))
        if mask is None:
            mask = torch.full((length, seen), float("-inf"), dtype=dtype).triu(seen - length + 1).repeat(groups, 1)
            self._causal[length, seen] = mask
        return mask


class PrefixStore:
    """Keys and values of recent prompts, within a bound of tokens; the least recently used go first."""

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._entries: OrderedDict[bytes, tuple[np.ndarray[Any, Any], Tensor]] = OrderedDict()
        self.tokens = 0
        self.hit_tokens = 0
        self.asked_tokens = 0

    def longest(self, ids: tuple[int, ...]) -> Tensor | None:
        """Of the stored beginning that `ids` shares most of: [C, 2, G, T, D]."""
        self.asked_tokens += len(ids)
        best, key = self._closest(ids)
        if not best:
            return None
        self._entries.move_to_end(key)
        self.hit_tokens += best
        return self._entries[key][1][:, :, :, :best]

    def known_length(self, ids: tuple[int, ...]) -> int:
        return self._closest(ids)[0]

    def _closest(self, ids: tuple[int, ...]) -> tuple[int, bytes]:
        wanted = np.asarray(ids, dtype=np.int64)
        shared = ((shared_length(known, wanted), key) for key, (known, _) in self._entries.items())
        return max(shared, key=lambda found: found[0], default=(0, b""))

    def knows(self, ids: tuple[int, ...]) -> bool:
        return np.asarray(ids, dtype=np.int64).tobytes() in self._entries

    def keep(self, ids: tuple[int, ...], computed: Tensor) -> None:
        known = np.asarray(ids, dtype=np.int64)
        if len(ids) > self._max_tokens:
            return
        self._entries[known.tobytes()] = (known, computed)
        self.tokens += len(ids)
        while self.tokens > self._max_tokens:
            _, (gone, _) = self._entries.popitem(last=False)
            self.tokens -= len(gone)

    def clear(self) -> None:
        self._entries.clear()
        self.tokens = 0


def shared_length(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> int:
    """Of the beginning that two sequences have in common."""
    size = min(len(one), len(other))
    differs = np.flatnonzero(one[:size] != other[:size])
    return int(differs[0]) if len(differs) else size

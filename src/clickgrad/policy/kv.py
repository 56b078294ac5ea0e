"""Keys and values of attention: rows being decoded, and prompts kept for whoever shares their beginning.

Shapes: B rows, H key/value heads, T positions, D head size; one (keys, values) pair a layer.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import torch
from transformers.cache_utils import Cache

Tensor = torch.Tensor
Layers = list[tuple[Tensor, Tensor]]
GROW = 256  # positions added at a time


class PrefillCache(Cache):
    """One row: a known beginning, extended by one forward pass."""

    def __init__(self, beginning: Layers) -> None:
        super().__init__(layers=[])
        self.pairs = beginning

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        if layer_idx == len(self.pairs):
            self.pairs.append((key_states, value_states))
        else:
            keys, values = self.pairs[layer_idx]
            self.pairs[layer_idx] = (torch.cat([keys, key_states], 2), torch.cat([values, value_states], 2))
        return self.pairs[layer_idx]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.pairs[layer_idx][0].shape[2] if layer_idx < len(self.pairs) else 0


class RowCache(Cache):
    """The rows being decoded, aligned at position 0, each with a length of its own. Rows 0..n-1 are live."""

    def __init__(self) -> None:
        super().__init__(layers=[])
        self.lengths: list[int] = []
        self._buffers: Layers = []

    def add(self, pairs: Layers, spare: int) -> None:
        """A new last row, with room for `spare` more positions."""
        row, length = len(self.lengths), pairs[0][0].shape[2]
        self._reserve(pairs, row + 1, length + spare)
        for (keys, values), (new_keys, new_values) in zip(self._buffers, pairs, strict=True):
            keys[row, :, :length] = new_keys[0]
            values[row, :, :length] = new_values[0]
        self.lengths.append(length)

    def remove(self, row: int) -> None:
        """The last row takes its place, so that live rows stay together."""
        last = len(self.lengths) - 1
        if row != last:
            for keys, values in self._buffers:
                keys[row] = keys[last]
                values[row] = values[last]
            self.lengths[row] = self.lengths[last]
        self.lengths.pop()

    def mask(self) -> Tensor:
        """[B, 1, 1, T]: every row sees itself up to and including the position about to be written."""
        reach = torch.tensor(self.lengths)[:, None, None, None]
        return torch.arange(max(self.lengths) + 1) <= reach

    def advance(self) -> None:
        self.lengths = [length + 1 for length in self.lengths]

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        keys, values = self._buffers[layer_idx]
        rows, width = len(self.lengths), max(self.lengths) + 1
        at = torch.tensor(self.lengths)
        keys[torch.arange(rows), :, at] = key_states[:, :, 0]
        values[torch.arange(rows), :, at] = value_states[:, :, 0]
        return keys[:rows, :, :width], values[:rows, :, :width]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return max(self.lengths, default=0)

    def _reserve(self, pairs: Layers, rows: int, positions: int) -> None:
        _, heads, _, size = pairs[0][0].shape
        old_rows, old_positions = self._buffers[0][0].shape[0::2] if self._buffers else (0, 0)
        if rows <= old_rows and positions <= old_positions:
            return
        rows = max(rows, old_rows)
        positions = max(-(-positions // GROW) * GROW, old_positions)
        grown: Layers = []
        for index, (like, _) in enumerate(pairs):
            # Zeros, not garbage: masked positions still enter the product, and 0 * NaN is NaN.
            keys, values = like.new_zeros(rows, heads, positions, size), like.new_zeros(rows, heads, positions, size)
            if self._buffers:
                keys[:old_rows, :, :old_positions], values[:old_rows, :, :old_positions] = self._buffers[index]
            grown.append((keys, values))
        self._buffers = grown


class PrefixStore:
    """Keys and values of recent prompts, within a bound of tokens; the least recently used go first."""

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._entries: OrderedDict[bytes, tuple[np.ndarray[Any, Any], Layers]] = OrderedDict()
        self._tokens = 0
        self.hit_tokens = 0
        self.asked_tokens = 0

    def longest(self, ids: tuple[int, ...]) -> Layers:
        """The stored beginning that `ids` shares most of."""
        wanted = np.asarray(ids, dtype=np.int64)
        self.asked_tokens += len(ids)
        best, best_key = 0, b""
        for key, (known, _) in self._entries.items():
            size = min(len(known), len(wanted))
            differs = np.flatnonzero(known[:size] != wanted[:size])
            shared = int(differs[0]) if len(differs) else size
            if shared > best:
                best, best_key = shared, key
        if not best:
            return []
        self._entries.move_to_end(best_key)
        self.hit_tokens += best
        return [(keys[:, :, :best], values[:, :, :best]) for keys, values in self._entries[best_key][1]]

    def keep(self, ids: tuple[int, ...], pairs: Layers) -> None:
        known = np.asarray(ids, dtype=np.int64)
        key = known.tobytes()
        if key in self._entries or len(ids) > self._max_tokens:
            return
        self._entries[key] = (known, pairs)
        self._tokens += len(ids)
        while self._tokens > self._max_tokens:
            _, (gone, _) = self._entries.popitem(last=False)
            self._tokens -= len(gone)

    def clear(self) -> None:
        self._entries.clear()
        self._tokens = 0

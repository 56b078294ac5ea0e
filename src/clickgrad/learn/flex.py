"""The comb's attention by torch's FlexAttention, for GPUs: no dense mask, and nothing is gathered.

In a comb the tokens that can see a token stand side by side, from itself up to the end of the last turn that goes on
from it. So one number a token, that end, says all of who sees whom:

    packed ids   1 2 3 4 5 | 8 9 | 6      of the docstring of `comb`
    ends         8 7 5 5 5 | 7 7 | 8      token 2, at place 1, is seen by the places 1 to 6

and whether a tile of queries sees a tile of keys follows from the least and the largest end in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from clickgrad.learn.comb import Comb

TILE = 128
Attend = Callable[..., torch.Tensor]  # as torch's flex_attention


def ends(comb: Comb) -> list[int]:
    """Of every packed token, the place after the last that can see it."""
    found = [0] * len(comb.ids)
    for block in comb.blocks:
        for start, stop in (*block.seen, block.own):
            found[start:stop] = [block.own[1]] * (stop - start)  # blocks come in order: the last one stays
    return found


class FlexComb:
    """As `comb.CombAttention`, given to the model's attention function in place of a mask."""

    def __init__(self, comb: Comb, attend: Attend | None = None) -> None:
        """`attend` is torch's flex_attention; None: compiled, as it has to be on a GPU."""
        self._attend = attend
        self._tiles = _tiles(torch.tensor(ends(comb)))

    @property
    def nbytes(self) -> int:
        """What it holds beside queries, keys and values."""
        return sum(one.nbytes for one in self._tiles.as_tuple() if isinstance(one, torch.Tensor))

    def attend(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float | None, layer: int
    ) -> torch.Tensor:
        """query [1, H, N, D], key and value [1, G, N, D]; returns [1, N, H, D]. All layers see alike."""
        attend = self._attend or _compiled()
        out = attend(query, key, value, block_mask=self._tiles, scale=scaling, enable_gqa=True)
        return out.transpose(1, 2)


@cache
def _compiled() -> Attend:
    """For any number of tokens: micro-batches differ."""
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention, dynamic=True)


def _tiles(ends_N: torch.Tensor) -> Any:
    """Which tiles of keys each tile of queries sees in part, and which as a whole. Made from tiles alone, not N x N."""
    from torch.nn.attention.flex_attention import BlockMask

    size = len(ends_N)
    count = -(-size // TILE)
    padded = torch.nn.functional.pad(ends_N, (0, count * TILE - size), value=-1).view(count, TILE)
    most, least = padded.amax(1), padded.amin(1)  # of each tile of keys; padding is seen by nobody
    first = torch.arange(count) * TILE  # place of each tile
    earlier = first[None, :] < first[:, None]  # [query tile, key tile]
    whole = earlier & (least[None, :] >= (first + TILE)[:, None])
    part = torch.eye(count, dtype=torch.bool) | (earlier & ~whole & (most[None, :] > first[:, None]))

    def sees(batch: Any, head: Any, query: Any, key: Any) -> Any:
        return (key <= query) & (query < ends_N[key])

    parts, wholes = _listed(part), _listed(whole)
    return BlockMask.from_kv_blocks(
        *parts, wholes[0], wholes[1], BLOCK_SIZE=TILE, mask_mod=sees, seq_lengths=(size, size)
    )


def _listed(tiles: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """For every row how many are true, and their columns first."""
    counted = tiles.sum(1, dtype=torch.int32)
    columns = tiles.int().sort(dim=1, descending=True, stable=True).indices.int()
    return counted[None, None], columns[None, None].contiguous()

"""FlexAttention sees what our own attention sees: tiles by torch's own way of making them, logprobs and gradients.

A CPU has no compiled way back, so the operator itself is called, which torch computes densely there.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from flex_gaps import flex_gaps
from hypothesis import given, settings
from hypothesis import strategies as st
from live_bytes import LiveBytes
from tiny import tiny_model, tiny_tokenizer
from torch.nn.attention.flex_attention import create_block_mask

from clickgrad.backends.learners import refuse_flex
from clickgrad.config import load_config
from clickgrad.errors import UserError
from clickgrad.learn.comb import CombAttention, pack
from clickgrad.learn.flex import FlexComb, ends
from clickgrad.types import Sample

TOLERANCE = 1e-4


def long_turns(seed: int = 0) -> list[tuple[int, ...]]:
    """Three trajectories of four turns on pages of hundreds of tokens: several tiles, some of them whole."""
    rng = random.Random(seed)
    system, turns = tuple(rng.randrange(60) for _ in range(300)), []
    for _ in range(3):
        trunk = system
        for _ in range(4):
            page = tuple(rng.randrange(60) for _ in range(rng.randrange(50, 400)))
            turns.append(trunk + page)
            trunk += tuple(rng.randrange(60) for _ in range(20))
    return turns


def test_the_example_of_the_docstring() -> None:
    assert ends(pack([(1, 6), (1, 2, 3, 4, 5), (1, 2, 8, 9)])) == [8, 7, 5, 5, 5, 7, 7, 8]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_who_sees_whom_is_what_the_blocks_say(seed: int) -> None:
    rng = random.Random(seed)
    turns = [tuple(rng.randrange(3) for _ in range(rng.randrange(1, 12))) for _ in range(8)]
    comb = pack(turns)
    seen = [[False] * len(comb.ids) for _ in comb.ids]
    for block in comb.blocks:
        for query in range(*block.own):
            for start, stop in (*block.seen, (block.own[0], query + 1)):
                seen[query][start:stop] = [True] * (stop - start)
    last = ends(comb)
    size = range(len(comb.ids))
    assert seen == [[key <= query < last[key] for key in size] for query in size]


@pytest.mark.parametrize("seed", range(3))
def test_tiles_are_those_that_torch_finds_by_looking_at_every_pair(seed: int) -> None:
    comb = pack(long_turns(seed))
    ours: Any = FlexComb(comb)._tiles
    size = len(comb.ids)
    theirs: Any = create_block_mask(ours.mask_mod, None, None, size, size, device="cpu", BLOCK_SIZE=ours.BLOCK_SIZE)
    for mine, other in (
        (ours.kv_num_blocks, theirs.kv_num_blocks),
        (ours.full_kv_num_blocks, theirs.full_kv_num_blocks),
    ):
        assert mine.tolist() == other.tolist()
    assert int(ours.full_kv_num_blocks.sum()) > 0
    assert ours.to_dense().tolist() == theirs.to_dense().tolist()


def test_logprobs_and_gradients_are_those_of_our_own_attention() -> None:
    loaded = tiny_model(tiny_tokenizer(["some text"]), 2048)
    samples = [Sample(turn, 8, (-1.0,) * 8, 1.0, 1.0) for turn in long_turns()]
    gap, off = flex_gaps(loaded.model, samples)
    print(f"logprobs differ by {gap:.1e} at most, gradients by {off:.1e} relatively")
    assert gap < TOLERANCE
    assert off < TOLERANCE


def test_sixteen_thousand_tokens_need_no_dense_mask() -> None:
    turn = tuple(number % 60 for number in range(16_384))
    comb = pack([turn])
    flex = FlexComb(comb)
    heads, groups, size = 16, 2, 8
    query = torch.zeros(1, heads, len(turn), size, dtype=torch.bfloat16)
    key = torch.zeros(1, groups, len(turn), size, dtype=torch.bfloat16)
    with LiveBytes() as live, torch.no_grad():
        ours = CombAttention(comb)
        list(torch.split(query, 256, 2))
        ours._causal(query[:, :, -256:], key, key, heads // groups, None)
    print(
        f"16,384 tokens: tiles {flex.nbytes / 1e6:.2f} MB, our own mask and one chunk {live.peak / 1e6:.1f} MB a layer"
    )
    assert flex.nbytes < 1e6 < live.peak


def test_a_cpu_refuses_flex_before_anything_is_loaded() -> None:
    config = load_config(None, ["reinforce.layout=flex", "model.device=cpu"], "reinforce")
    with pytest.raises(UserError, match=r"layout='flex' needs a GPU: .* to 'comb'"):
        refuse_flex(config, config.reinforce.layout)

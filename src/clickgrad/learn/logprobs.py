"""Samples to logprobs under a model, in either of two layouts with equal results; logits only where there is loss.

rows: one row a turn, padded on the left. comb: one packed sequence in which turns share what they have in common; flex
is the comb with another attention, for GPUs.
Members of a group start on the same page and often say the same thing, so in both equal turns are computed once.
Shapes: U distinct rows, B samples, N positions, K reply positions of the longest reply, M positions with logits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from clickgrad.learn.comb import CombAttention, common_length, pack
from clickgrad.learn.flex import FlexComb
from clickgrad.learn.spec import Layout
from clickgrad.policy.attention import NAME, Pattern
from clickgrad.types import Sample


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows end together, so the replies are the last K columns."""

    ids_UN: torch.Tensor
    attention_UN: torch.Tensor
    row_B: torch.Tensor  # which row a sample's turn stands in


@dataclass(frozen=True, slots=True)
class Packed:
    ids_N: torch.Tensor
    positions_N: torch.Tensor
    pattern: Pattern
    kept_M: torch.Tensor  # positions whose logits are needed
    place_BK: torch.Tensor  # which of them chose a reply token
    target_BK: torch.Tensor  # the token that was chosen


@dataclass(frozen=True, slots=True)
class Batch:
    """Loss mask and attention mask are two things: the layout decides who sees whom."""

    layout: Rows | Packed
    tokens: int  # that the model computes, padding included
    loss_BK: torch.Tensor  # 1 where a sampled token stands
    old_logprobs_BK: torch.Tensor
    advantages_B: torch.Tensor
    weights_B: torch.Tensor


def collate(samples: Sequence[Sample], layout: Layout = "rows") -> Batch:
    """
    Replies are aligned at their ends: a reply of 1 and one of 2 tokens have K = 2, loss mask  0 1  and  1 1.
    """
    reply = max(sample.reply_len for sample in samples)
    placed = _rows(samples) if layout == "rows" else _packed(samples, reply, layout)
    return Batch(
        placed,
        placed.ids_UN.numel() if isinstance(placed, Rows) else len(placed.ids_N),
        torch.tensor([[0.0] * (reply - sample.reply_len) + [1.0] * sample.reply_len for sample in samples]),
        torch.tensor([[0.0] * (reply - sample.reply_len) + list(sample.logprobs) for sample in samples]),
        torch.tensor([sample.advantage for sample in samples]),
        torch.tensor([sample.weight for sample in samples]),
    )


def _rows(samples: Sequence[Sample]) -> Rows:
    """
    ids 7 8 9, then 5 6, then 7 8 9 again, become the rows  7 8 9  and  _ 5 6;  row_B is  0 1 0.
    """
    places = {ids: place for place, ids in enumerate(dict.fromkeys(sample.ids for sample in samples))}
    width = max(len(ids) for ids in places)
    return Rows(
        torch.tensor([[0] * (width - len(ids)) + list(ids) for ids in places]),
        torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids in places]),
        torch.tensor([places[sample.ids] for sample in samples]),
    )


def _packed(samples: Sequence[Sample], reply: int, layout: Layout) -> Packed:
    comb = pack([sample.ids for sample in samples], share=layout != "packed")
    # The logits at one token choose the next. Padding points at the first place kept: it is masked out later.
    choosers = [path[-sample.reply_len - 1 : -1] for path, sample in zip(comb.paths, samples, strict=True)]
    kept = {place: index for index, place in enumerate(sorted({place for places in choosers for place in places}))}
    pad = [[0] * (reply - sample.reply_len) for sample in samples]
    return Packed(
        torch.tensor(comb.ids),
        torch.tensor(comb.positions),
        FlexComb(comb) if layout == "flex" else CombAttention(comb),
        torch.tensor(list(kept)),
        torch.tensor([zeros + [kept[place] for place in places] for zeros, places in zip(pad, choosers, strict=True)]),
        torch.tensor([zeros + list(one.ids[-one.reply_len :]) for zeros, one in zip(pad, samples, strict=True)]),
    )


def micro_batches(samples: Sequence[Sample], max_tokens: int, layout: Layout = "rows") -> Iterator[tuple[Sample, ...]]:
    """At most `max_tokens` computed tokens in each, unless one turn alone has more. Equal turns meet.

    rows: turns of like length together. comb: neighbours in sorted order, which share most.
    """
    batch: list[Sample] = []
    rows = tokens = 0
    order = (lambda one: (len(one.ids), one.ids)) if layout == "rows" else (lambda one: (one.ids,))
    for sample in sorted(samples, key=order):
        if batch and sample.ids == batch[-1].ids:
            batch.append(sample)
            continue
        shared = common_length(batch[-1].ids, sample.ids) if batch and layout in ("comb", "flex") else 0
        after = len(sample.ids) * (rows + 1) if layout == "rows" else tokens + len(sample.ids) - shared
        if batch and after > max_tokens:
            yield tuple(batch)
            batch, rows, after = [], 0, len(sample.ids)
        batch.append(sample)
        rows += 1
        tokens = after
    if batch:
        yield tuple(batch)


def reply_logprobs(model: Any, batch: Batch, temperature: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logprob of every reply token, and the entropy where it was drawn, both [B, K]; padding holds rubbish."""
    if isinstance(batch.layout, Rows):
        return _row_logprobs(model, batch.layout, batch.loss_BK.shape[1], temperature)
    return _packed_logprobs(model, batch.layout, temperature)


def _row_logprobs(model: Any, rows: Rows, reply: int, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    output = model(
        input_ids=rows.ids_UN,
        attention_mask=rows.attention_UN,
        position_ids=(rows.attention_UN.cumsum(1) - 1).clamp(min=0),
        use_cache=False,
        logits_to_keep=reply + 1,  # the logits at position n choose the token at n + 1
    )
    logprobs_UKV = torch.log_softmax(output.logits[:, :-1].float() / temperature, -1)
    chosen_UK = logprobs_UKV.gather(2, rows.ids_UN[:, -reply:, None])[:, :, 0]
    return chosen_UK[rows.row_B], _entropy(logprobs_UKV)[rows.row_B]


def _packed_logprobs(model: Any, packed: Packed, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    if model.config._attn_implementation != NAME:
        raise ValueError("this model's attention would ignore the pattern: load it with clickgrad.policy.models")
    output = model(
        input_ids=packed.ids_N[None],
        # Four dimensions: the library takes it for a finished mask and builds none; the pattern decides.
        attention_mask=torch.ones(1, 1, 1, 1, dtype=torch.bool),
        position_ids=packed.positions_N[None],
        use_cache=False,
        logits_to_keep=packed.kept_M,
        pattern=packed.pattern,
    )
    logprobs_MV = torch.log_softmax(output.logits[0].float() / temperature, -1)
    return logprobs_MV[packed.place_BK, packed.target_BK], _entropy(logprobs_MV)[packed.place_BK]


@torch.no_grad()
def _entropy(logprobs: torch.Tensor) -> torch.Tensor:
    return -(logprobs.exp() * logprobs).sum(-1)

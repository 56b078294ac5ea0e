"""Samples to logprobs under a model: one row a turn, padded on the left, logits only where there is loss.

Members of a group start on the same page and often say the same thing, so equal turns are computed once.
Shapes: U distinct rows, B samples, N positions, K reply positions of the longest reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from clickgrad.types import Sample


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows end together, so the replies are the last K columns. Loss mask and attention mask are two things."""

    ids_UN: torch.Tensor
    attention_UN: torch.Tensor
    row_B: torch.Tensor  # which row a sample's turn stands in
    loss_BK: torch.Tensor  # 1 where a sampled token stands
    old_logprobs_BK: torch.Tensor
    advantages_B: torch.Tensor
    weights_B: torch.Tensor


def collate(samples: Sequence[Sample]) -> Batch:
    """
    ids 7 8 9 with reply 9, and 5 6 with reply 5 6, become rows  7 8 9  and  _ 5 6,  K = 2, loss mask  0 1  and  1 1.
    A third sample equal to the first adds no row: row_B is  0 1 0.
    """
    places = {ids: place for place, ids in enumerate(dict.fromkeys(sample.ids for sample in samples))}
    width = max(len(ids) for ids in places)
    reply = max(sample.reply_len for sample in samples)
    return Batch(
        torch.tensor([[0] * (width - len(ids)) + list(ids) for ids in places]),
        torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids in places]),
        torch.tensor([places[sample.ids] for sample in samples]),
        torch.tensor([[0.0] * (reply - sample.reply_len) + [1.0] * sample.reply_len for sample in samples]),
        torch.tensor([[0.0] * (reply - sample.reply_len) + list(sample.logprobs) for sample in samples]),
        torch.tensor([sample.advantage for sample in samples]),
        torch.tensor([sample.weight for sample in samples]),
    )


def micro_batches(samples: Sequence[Sample], max_tokens: int) -> Iterator[tuple[Sample, ...]]:
    """Rows of like length together, at most `max_tokens` with padding; a longer one goes alone. Equal turns meet."""
    batch: list[Sample] = []
    rows = 0
    for sample in sorted(samples, key=lambda sample: (len(sample.ids), sample.ids)):
        if batch and sample.ids == batch[-1].ids:
            batch.append(sample)
            continue
        if batch and len(sample.ids) * (rows + 1) > max_tokens:
            yield tuple(batch)
            batch, rows = [], 0
        batch.append(sample)
        rows += 1
    if batch:
        yield tuple(batch)


def reply_logprobs(model: Any, batch: Batch, temperature: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logprob of every reply token, and the entropy where it was drawn, both [B, K]; padding holds rubbish."""
    reply = batch.loss_BK.shape[1]
    output = model(
        input_ids=batch.ids_UN,
        attention_mask=batch.attention_UN,
        position_ids=(batch.attention_UN.cumsum(1) - 1).clamp(min=0),
        use_cache=False,
        logits_to_keep=reply + 1,  # the logits at position n choose the token at n + 1
    )
    logprobs_UKV = torch.log_softmax(output.logits[:, :-1].float() / temperature, -1)
    chosen_UK = logprobs_UKV.gather(2, batch.ids_UN[:, -reply:, None])[:, :, 0]
    with torch.no_grad():
        entropy_UK = -(logprobs_UKV.exp() * logprobs_UKV).sum(-1)
    return chosen_UK[batch.row_B], entropy_UK[batch.row_B]

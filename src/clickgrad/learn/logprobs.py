"""Samples to logprobs under a model: one row a turn, padded on the left, logits only where there is loss.

Shapes: B rows, N positions, K reply positions of the longest reply.
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

    ids_BN: torch.Tensor
    attention_BN: torch.Tensor
    loss_BK: torch.Tensor  # 1 where a sampled token stands
    old_logprobs_BK: torch.Tensor
    advantages_B: torch.Tensor
    weights_B: torch.Tensor


def collate(samples: Sequence[Sample]) -> Batch:
    """
    ids 7 8 9 with reply 9, and 5 6 with reply 5 6, become rows  7 8 9  and  _ 5 6,  K = 2, loss mask  0 1  and  1 1.
    """
    width = max(len(sample.ids) for sample in samples)
    reply = max(sample.reply_len for sample in samples)
    return Batch(
        torch.tensor([[0] * (width - len(sample.ids)) + list(sample.ids) for sample in samples]),
        torch.tensor([[0] * (width - len(sample.ids)) + [1] * len(sample.ids) for sample in samples]),
        torch.tensor([[0.0] * (reply - sample.reply_len) + [1.0] * sample.reply_len for sample in samples]),
        torch.tensor([[0.0] * (reply - sample.reply_len) + list(sample.logprobs) for sample in samples]),
        torch.tensor([sample.advantage for sample in samples]),
        torch.tensor([sample.weight for sample in samples]),
    )


def micro_batches(samples: Sequence[Sample], max_tokens: int) -> Iterator[tuple[Sample, ...]]:
    """Rows of like length together, at most `max_tokens` with padding; a longer sample goes alone."""
    batch: list[Sample] = []
    for sample in sorted(samples, key=lambda sample: len(sample.ids)):
        if batch and len(sample.ids) * (len(batch) + 1) > max_tokens:
            yield tuple(batch)
            batch = []
        batch.append(sample)
    if batch:
        yield tuple(batch)


def reply_logprobs(model: Any, batch: Batch, temperature: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logprob of every reply token, and the entropy where it was drawn, both [B, K]; padding holds rubbish."""
    reply = batch.loss_BK.shape[1]
    output = model(
        input_ids=batch.ids_BN,
        attention_mask=batch.attention_BN,
        position_ids=(batch.attention_BN.cumsum(1) - 1).clamp(min=0),
        use_cache=False,
        logits_to_keep=reply + 1,  # the logits at position n choose the token at n + 1
    )
    logprobs_BKV = torch.log_softmax(output.logits[:, :-1].float() / temperature, -1)
    chosen_BK = logprobs_BKV.gather(2, batch.ids_BN[:, -reply:, None])[:, :, 0]
    with torch.no_grad():
        entropy_BK = -(logprobs_BKV.exp() * logprobs_BKV).sum(-1)
    return chosen_BK, entropy_BK

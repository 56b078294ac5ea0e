"""FlexAttention beside our own attention, on a CPU: the operator itself is called, which torch computes densely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._higher_order_ops.flex_attention import flex_attention as operator

from clickgrad.learn.flex import FlexComb
from clickgrad.learn.logprobs import collate, micro_batches, reply_logprobs
from clickgrad.learn.spec import Layout
from clickgrad.types import Sample

LAYOUTS: tuple[Layout, ...] = ("comb", "flex")


def dense(query: Any, key: Any, value: Any, block_mask: Any, scale: float | None, enable_gqa: bool) -> Any:
    def as_it_is(score: Any, batch: Any, head: Any, query: Any, key: Any) -> Any:
        return score

    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return operator(query, key, value, as_it_is, block_mask.as_tuple(), scale, {})[0]


def flex_gaps(model: Any, samples: Sequence[Sample]) -> tuple[float, float]:
    """The widest gap of a logprob, and of a parameter's gradient relative to its norm."""
    found: dict[str, tuple[torch.Tensor, list[torch.Tensor]]] = {}
    for layout in LAYOUTS:
        model.zero_grad()
        parts = []
        for micro in micro_batches(samples, 3000, layout):
            batch = collate(micro, layout)
            if isinstance(batch.layout.pattern, FlexComb):  # type: ignore[union-attr]
                batch.layout.pattern._attend = dense  # type: ignore[union-attr]
            logprobs = torch.where(batch.loss_BK > 0, reply_logprobs(model, batch)[0], 0)
            logprobs.sum().backward()  # type: ignore[no-untyped-call]
            parts.append(logprobs.detach().flatten())
        found[layout] = torch.cat(parts), [one.grad.clone() for one in model.parameters() if one.grad is not None]
    (ours, our_gradients), (theirs, their_gradients) = found["comb"], found["flex"]
    off = max(float((a - b).norm() / a.norm()) for a, b in zip(our_gradients, their_gradients, strict=True))
    return float((ours - theirs).abs().max()), off

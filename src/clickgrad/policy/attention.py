"""The attention that all our models use: the library's own, unless the caller passes a `pattern`.

A pattern knows who sees whom in a packed sequence. It lays the query heads that share a key/value head side by side as
queries; the library would copy keys and values for every query head first.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

NAME = "clickgrad"
MOST_SEEN = 1024  # positions: a longer attention is not kept for the way back


class Pattern(Protocol):
    def attend(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float | None, layer: int
    ) -> torch.Tensor:
        """query [1, heads, N, D]; returns [1, N, heads, D]."""


def attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    pattern: Pattern | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    query, key = query.to(value.dtype), key.to(value.dtype)  # rotating them may have made them wider
    if pattern is not None:
        return pattern.attend(query, key, value, scaling, module.layer_idx), None
    return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)  # type: ignore[no-any-return]


def attend(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor, scaling: float | None
) -> torch.Tensor:
    """query [B, L, D], keys and values [B, T, D], mask [L, T] or [B, L, T] to be added. Returns [B, L, D].

    The CPU's fused kernel makes nothing of bfloat16: plain products are two or three times as fast, and what they keep
    for the way back is small.
    """
    batch, _, size = query.shape
    if query.dtype is not torch.bfloat16 or query.device.type != "cpu" or keys.shape[1] > MOST_SEEN:
        return torch.nn.functional.scaled_dot_product_attention(
            query[None], keys[None], values[None], attn_mask=mask, scale=scaling
        )[0]
    scale = size**-0.5 if scaling is None else scaling
    scores = torch.baddbmm(mask.expand(batch, -1, -1), query, keys.transpose(1, 2), alpha=scale)
    return torch.bmm(torch.softmax(scores, -1), values)


def use_our_attention(model: Any) -> None:
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)

"""The attention that all our models use: the library's own, with two cases of ours.

Decoding: transformers repeats keys and values for every query head before it attends; with one new position a row that
copying costs as much as the arithmetic. Here the query heads that share a key/value head are laid side by side as
queries instead. Packed sequences: the caller passes a `pattern`, which knows who sees whom. Every other shape goes the
library's way.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

NAME = "clickgrad"


class Pattern(Protocol):
    def attend(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float | None
    ) -> torch.Tensor:
        """query [B, heads, N, D]; returns [B, N, heads, D]."""


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
    """query [B, heads, 1, D] becomes [B, kv heads, heads / kv heads, D]: all of them look at the same T positions."""
    if pattern is not None:
        return pattern.attend(query, key, value, scaling), None
    groups = getattr(module, "num_key_value_groups", 1)
    if query.shape[2] != 1 or groups == 1 or attention_mask is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)  # type: ignore[no-any-return]
    rows, heads, _, size = query.shape
    grouped = query.reshape(rows, heads // groups, groups, size)
    attended = torch.nn.functional.scaled_dot_product_attention(
        grouped, key, value, attn_mask=attention_mask, scale=scaling
    )
    return attended.reshape(rows, 1, heads, size), None


def use_our_attention(model: Any) -> None:
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)

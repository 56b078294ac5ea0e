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
    if pattern is not None:
        return pattern.attend(query, key, value, scaling, module.layer_idx), None
    return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)  # type: ignore[no-any-return]


def use_our_attention(model: Any) -> None:
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)

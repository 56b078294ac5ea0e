"""What `bench learn` reckons with: the operations of an update's products with weights."""

from __future__ import annotations

import pytest
import torch
import transformers

from clickgrad.bench.learn import alone_gflops, operations
from clickgrad.learn.adapters import with_adapter
from clickgrad.learn.spec import Lora


def one_layer() -> torch.nn.Module:
    """Products with 8 x 8 (q, o), 8 x 4 (k, v) and 8 x 16 (three of them): 576 weights; the last layer has 8 x 10."""
    config = transformers.LlamaConfig(
        vocab_size=10,
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        tie_word_embeddings=False,
    )
    model: torch.nn.Module = transformers.AutoModelForCausalLM.from_config(config)
    return model


def test_a_weight_that_is_trained_is_multiplied_three_times() -> None:
    assert operations(one_layer(), tokens=5, replies=3) == 5 * 6 * 576 + 3 * 6 * 80


def test_a_frozen_weight_is_multiplied_twice_and_its_adapter_three_times() -> None:
    """Sides of the seven: 16 + 12 + 12 + 16 + 24 + 24 + 24 = 128, times the rank 2."""
    adapted = with_adapter(one_layer(), Lora(2, 4), seed=0)
    assert operations(adapted, tokens=5, replies=3) == 5 * (4 * 576 + 6 * 2 * 128) + 3 * 4 * 80


@pytest.mark.parametrize("compute", ["float32", "bfloat16"])
def test_a_product_by_itself_has_a_rate(compute: str) -> None:
    assert alone_gflops(compute) > 0  # type: ignore[arg-type]

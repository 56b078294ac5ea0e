"""Which model is to be loaded, and how it computes: plain values that any process understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Compute = Literal["float32", "bfloat16", "int8"]  # the type of a model's products


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model to be loaded in any process."""

    source: str = "smollm2"  # a transformers folder, a hub id, or smollm2
    device: Literal["auto", "cpu", "cuda", "mps", "xpu"] = "auto"
    dtype: Literal["float32", "bfloat16"] = "float32"
    threads: int = 0  # of torch; 0 leaves the choice to torch
    context_tokens: int = 0  # the longest prompt with its reply; 0 is all that the model can read
    compute: Compute = "float32"  # of products on the CPU; int8 only while sampling

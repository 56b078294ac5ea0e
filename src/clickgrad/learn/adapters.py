"""LoRA by peft: adapters put beside the frozen linear layers of a model, and what they add to its weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from clickgrad.errors import UserError
from clickgrad.learn.frozen import base_weight
from clickgrad.learn.ranks import full_tensor
from clickgrad.learn.spec import Lora


def with_adapter(model: Any, lora: Lora, seed: int) -> Any:
    import peft

    config = peft.LoraConfig(
        r=lora.rank, lora_alpha=lora.alpha, lora_dropout=0.0, bias="none", **_adapted_modules(model, lora.layers)
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return peft.get_peft_model(model, config)


def merged_weights(adapted: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Every weight that the adapter changes, whole, by its name in the plain model. All ranks must call it."""
    for name, module in adapted.base_model.model.named_modules():
        if hasattr(module, "get_delta_weight"):
            # In float32, whatever the weight is: rounded, small changes would be lost.
            yield f"{name}.weight", full_tensor(base_weight(module)).float() + _delta(module).float()


def _delta(layer: Any) -> torch.Tensor:
    """What the adapter adds to a layer's weight."""
    scale: float = layer.scaling["default"]
    product = full_tensor(layer.lora_B["default"].weight) @ full_tensor(layer.lora_A["default"].weight)
    return (product.T if layer.fan_in_fan_out else product) * scale


def _adapted_modules(model: Any, last_layers: int) -> dict[str, Any]:
    """As options of peft: linear layers of the whole model, or of its last layers."""
    if not last_layers:
        return {"target_modules": "all-linear"}
    layers = model.get_decoder().layers
    if last_layers > len(layers):
        raise UserError(f"lora.layers={last_layers}: the model has {len(layers)} layers; 0 means all of them")
    linear = {name.rpartition(".")[2] for name, one in layers.named_modules() if isinstance(one, torch.nn.Linear)}
    return {"target_modules": sorted(linear), "layers_to_transform": [*range(len(layers))[-last_layers:]]}

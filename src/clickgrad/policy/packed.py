"""Linear layers in the layout that the CPU's matrix kernels like best, for sampling only.

With few rows, as in decoding, most of a plain product on the CPU goes into rearranging the weights. oneDNN can keep
them rearranged: the same fp32 arithmetic, two to three times as fast at 8 to 32 rows. In int8 the products are another
two to three times as fast and no longer exact: what is sampled then is a slightly different policy's. The packed copies
know nothing of later changes, so they serve in inference mode alone, which is the sampler's; whoever learns sees the
plain weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MethodType
from typing import Any

import torch

ROWS_HINT = 16  # the layout for so many rows serves all other numbers as well, except for one row alone
INT8_ENGINE = "fbgemm"
SMALLEST = 1e-8


class PackedLinears:
    """Puts packed weights under a model's linear layers until `release`. Does nothing where that cannot help."""

    def __init__(self, model: Any, int8: bool = False) -> None:
        self._layers = [layer for layer in model.modules() if _can_pack(layer)]
        self._pack, self._multiply = (_pack_int8, _multiply_int8) if int8 else (_pack_exact, _multiply_exact)
        self._packed: dict[torch.nn.Linear, Any] = {}
        self.refresh()
        for layer in self._layers:
            layer.forward = _Forward(layer, self._packed, self._multiply)

    def refresh(self) -> None:
        """After the weights have changed."""
        with torch.inference_mode():
            for layer in self._layers:
                self._packed[layer] = self._pack(layer.weight)

    def release(self) -> None:
        for layer in self._layers:
            vars(layer).pop("forward", None)
        self._layers, self._packed = [], {}


@dataclass(frozen=True, slots=True, eq=False)
class _Forward:
    layer: torch.nn.Linear
    packed: Mapping[torch.nn.Linear, Any]
    multiply: Callable[[torch.Tensor, Any, torch.Tensor | None], torch.Tensor]

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        if not torch.is_inference_mode_enabled():
            return torch.nn.functional.linear(rows, self.layer.weight, self.layer.bias)
        return self.multiply(rows, self.packed[self.layer], self.layer.bias)

    def __deepcopy__(self, memo: dict[int, Any]) -> MethodType:
        """A copy of the model has weights of its own, which nobody has packed: its layers are plain ones."""
        return MethodType(torch.nn.Linear.forward, memo[id(self.layer)])


def _can_pack(layer: torch.nn.Module) -> bool:
    return (
        type(layer) is torch.nn.Linear
        and layer.weight.device.type == "cpu"
        and layer.weight.dtype is torch.float32
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    )


def _pack_exact(weight: torch.Tensor) -> Any:
    return torch.ops.mkldnn._reorder_linear_weight(weight, ROWS_HINT)


def _multiply_exact(rows: torch.Tensor, packed: Any, bias: torch.Tensor | None) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise(rows, packed, bias, "none", [], "")  # type: ignore[no-any-return]


def _pack_int8(weight: torch.Tensor) -> Any:
    """One scale for every output."""
    scales = (weight.abs().amax(1) / 127).clamp_min(SMALLEST).double()
    zeros = torch.zeros(len(weight), dtype=torch.long)
    engine, torch.backends.quantized.engine = torch.backends.quantized.engine, INT8_ENGINE
    try:
        with warnings.catch_warnings():
            # torch means to replace these products one day; today nothing else is as fast with few rows.
            warnings.filterwarnings("ignore", ".*quantized tensor creation functions", UserWarning)
            rounded = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        return torch.ops.quantized.linear_prepack(rounded, None)
    finally:
        torch.backends.quantized.engine = engine


def _multiply_int8(rows: torch.Tensor, packed: Any, bias: torch.Tensor | None) -> torch.Tensor:
    """The kernel has one scale for all rows, and a few positions are a hundred times as large as the rest: rows are
    brought to one size first, which makes it a scale for each."""
    sizes = rows.abs().amax(-1, keepdim=True).clamp_min(SMALLEST)
    product: torch.Tensor = torch.ops.quantized.linear_dynamic(rows / sizes, packed, reduce_range=not _has_vnni())
    return product * sizes if bias is None else product * sizes + bias


def _has_vnni() -> bool:
    """Without it sums of products of full int8 range overflow."""
    return bool(torch.cpu._is_vnni_supported())

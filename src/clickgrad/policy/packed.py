"""Linear layers in the layout and the type that the CPU's matrix kernels like best, for sampling only.

With few rows most of a plain product on the CPU goes into rearranging the weights. oneDNN can keep them rearranged: the
same fp32 arithmetic, up to twice as fast. In bfloat16 products are twice as fast again where the CPU has instructions
for it, and several times as slow where it has none, so `fastest` measures before it chooses. In int8 they are faster
still on some CPUs. Both round: what is sampled then is a slightly different policy's, which the importance correction
makes up for. The packed copies know nothing of later changes, so they serve in inference mode alone, which is the
sampler's; whoever learns sees the plain weights.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MethodType
from typing import Any, Literal

import torch

Compute = Literal["float32", "bfloat16", "int8"]
Multiply = Callable[[torch.Tensor, Any, torch.Tensor | None], torch.Tensor]
ROWS_HINT = 16  # the layout for so many rows serves all other numbers as well, except for one row alone
INT8_ENGINE = "fbgemm"
SMALLEST = 1e-8
TRIED_ROWS = 96  # about what a pass of the engine holds
TRIES = 5
WORTH_IT = 1.3  # times as fast as float32, or rounding is not worth it


@dataclass(frozen=True, slots=True)
class Choice:
    compute: Compute
    gain: float  # times as fast as packed float32 products, as measured here


class PackedLinears:
    """Puts packed weights under a model's linear layers until `release`. Does nothing where that cannot help."""

    def __init__(self, model: Any, compute: Compute = "float32") -> None:
        # Logits are as large as 30, where bfloat16 knows steps of 1/8: the last layer is never rounded.
        last = model.get_output_embeddings()
        self._layers = {layer: "float32" if layer is last else compute for layer in model.modules() if _can_pack(layer)}
        self._packed: dict[torch.nn.Linear, Any] = {}
        self.refresh()
        for layer, kind in self._layers.items():
            layer.forward = _Forward(layer, self._packed, KINDS[kind][1])

    @property
    def cache_dtype(self) -> torch.dtype | None:
        """The type that keys and values need: what rounded products made is not worth more. None: the model's own."""
        return torch.bfloat16 if "bfloat16" in self._layers.values() else None

    def refresh(self) -> None:
        """After the weights have changed."""
        with torch.inference_mode():
            for layer, kind in self._layers.items():
                self._packed[layer] = KINDS[kind][0](layer.weight)

    def release(self) -> None:
        for layer in self._layers:
            vars(layer).pop("forward", None)
        self._layers, self._packed = {}, {}


def fastest(model: Any, among: tuple[Compute, ...] = ("float32", "bfloat16")) -> Choice:
    """The type whose products are fastest on this machine, by a few of them at a size of the model's own."""
    layer = max((one for one in model.get_decoder().layers.modules() if _can_pack(one)), key=_size, default=None)
    if layer is None:
        return Choice("float32", 1.0)
    rows = torch.randn(TRIED_ROWS, layer.in_features)
    with torch.inference_mode():
        seconds = {kind: _seconds(rows, layer, kind) for kind in among if kind != "bfloat16" or _knows_bfloat16()}
    best = min(seconds, key=lambda kind: seconds[kind])
    gain = seconds["float32"] / seconds[best]
    return Choice(best, gain) if gain >= WORTH_IT else Choice("float32", 1.0)


def _seconds(rows: torch.Tensor, layer: torch.nn.Linear, kind: Compute) -> float:
    pack, multiply = KINDS[kind]
    packed, best = pack(layer.weight), float("inf")
    for _ in range(TRIES):
        started = time.perf_counter()
        multiply(rows, packed, None)
        best = min(best, time.perf_counter() - started)
    return best


def _size(layer: torch.nn.Linear) -> int:
    return layer.weight.numel()


@dataclass(frozen=True, slots=True, eq=False)
class _Forward:
    layer: torch.nn.Linear
    packed: Mapping[torch.nn.Linear, Any]
    multiply: Multiply

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


def _knows_bfloat16() -> bool:
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _pack_bfloat16(weight: torch.Tensor) -> Any:
    return torch.ops.mkldnn._reorder_linear_weight(weight.bfloat16(), ROWS_HINT)


def _multiply_bfloat16(rows: torch.Tensor, packed: Any, bias: torch.Tensor | None) -> torch.Tensor:
    """What lies between the products stays in the model's own type."""
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(rows.bfloat16(), packed, None, "none", [], "")
    return product.to(rows.dtype) if bias is None else product.to(rows.dtype) + bias


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


KINDS: dict[Compute, tuple[Callable[[torch.Tensor], Any], Multiply]] = {
    "float32": (_pack_exact, _multiply_exact),
    "bfloat16": (_pack_bfloat16, _multiply_bfloat16),
    "int8": (_pack_int8, _multiply_int8),
}

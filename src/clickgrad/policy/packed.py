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
from functools import cache
from types import MethodType
from typing import Any, Protocol

import torch

from clickgrad.policy.spec import Compute

Multiply = Callable[[torch.Tensor, Any, torch.Tensor | None], torch.Tensor]
ROWS_HINT = 16  # the layout for so many rows serves all other numbers as well, except for one row alone
INT8_ENGINE = "fbgemm"
SMALLEST = 1e-8
TRIED_ROWS, TRIED_SIZE = 96, (1024, 2048)  # about what a pass of the engine holds, and a layer
TRIES = 9
WORTH_IT = 1.3  # times as fast as float32, or rounding is not worth it


@dataclass(frozen=True, slots=True)
class Choice:
    compute: Compute
    gain: float  # times as fast as packed float32 products, as measured here


class Packing(Protocol):
    """What lies under the linear layers of a model that is sampled from."""

    @property
    def cache_dtype(self) -> torch.dtype | None:
        """The type that keys and values need; None: the model's own."""

    def refresh(self) -> None:
        """After the weights have changed."""

    def release(self) -> None:
        """The layers are plain ones again."""


class PackedLinears:
    """Puts packed weights under a model's linear layers until `release`. Does nothing where that cannot help."""

    def __init__(self, model: Any, compute: Compute = "float32") -> None:
        # Logits are as large as 30, where bfloat16 knows steps of 1/8: the last layer is never rounded.
        last = model.get_output_embeddings()
        self._layers = {layer: "float32" if layer is last else compute for layer in model.modules() if can_pack(layer)}
        self._packed: dict[torch.nn.Linear, Any] = {}
        self.refresh()
        for layer, kind in self._layers.items():
            layer.forward = _Forward(layer, self._packed, KINDS[kind][1])
        self._norms = RoundedNorms(model.get_decoder(), sampling_only=True) if self.cache_dtype else None

    @property
    def cache_dtype(self) -> torch.dtype | None:
        """What rounded products made is not worth more."""
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
        if self._norms:
            self._norms.release()


@cache
def fastest() -> Choice:
    """The type whose products are fastest on this machine, by a few of them. Where none is worth it, float32.

    Measured in seconds of one core: others who compute beside it must not decide how a whole run computes.
    """
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return Choice("float32", 1.0)
    layer = torch.nn.Linear(*TRIED_SIZE, bias=False)
    rows = torch.randn(TRIED_ROWS, layer.in_features)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            exact = _seconds(rows, layer, "float32")
            gain = exact / _seconds(rows, layer, "bfloat16") if knows_bfloat16() else 0.0
    finally:
        torch.set_num_threads(threads)
    return Choice("bfloat16", gain) if gain >= WORTH_IT else Choice("float32", 1.0)


def _seconds(rows: torch.Tensor, layer: torch.nn.Linear, kind: Compute) -> float:
    pack, multiply = KINDS[kind]
    packed, best = pack(layer.weight), float("inf")
    for _ in range(TRIES):
        started = time.thread_time()
        multiply(rows, packed, None)
        best = min(best, time.thread_time() - started)
    return best


class RoundedNorms:
    """Has the norms before a layer's products return them rounded, until `release`: once, not for each product.

    What is added up from layer to layer stays as exact as it was.
    """

    def __init__(self, decoder: Any, sampling_only: bool) -> None:
        self._norms = [
            norm for layer in decoder.layers for norm in layer.children() if type(norm).__name__.endswith("Norm")
        ]
        for norm in self._norms:
            norm.forward = _RoundedNorm(norm, sampling_only)

    def release(self) -> None:
        for norm in self._norms:
            vars(norm).pop("forward", None)


@dataclass(frozen=True, slots=True, eq=False)
class _RoundedNorm:
    norm: torch.nn.Module
    sampling_only: bool

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = type(self.norm).forward(self.norm, rows)
        return out if self.sampling_only and not torch.is_inference_mode_enabled() else out.bfloat16()

    def __deepcopy__(self, memo: dict[int, Any]) -> MethodType:
        return MethodType(type(self.norm).forward, memo[id(self.norm)])


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


def can_pack(layer: torch.nn.Module) -> bool:
    return (
        type(layer) is torch.nn.Linear
        and layer.weight.device.type == "cpu"
        and layer.weight.dtype in (torch.float32, torch.bfloat16)
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    )


def pack(weight: torch.Tensor, dtype: torch.dtype) -> Any:
    """Plain where this CPU has no packed products of that type: slow, but the same numbers up to rounding."""
    if dtype is torch.bfloat16 and not knows_bfloat16():
        return weight.to(dtype)
    return torch.ops.mkldnn._reorder_linear_weight(weight.to(dtype), ROWS_HINT)


def multiply(rows: torch.Tensor, packed: Any, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Rows and packed weight are of one type."""
    if not packed.is_mkldnn:
        return torch.nn.functional.linear(rows, packed, bias)
    return torch.ops.mkldnn._linear_pointwise(rows, packed, bias, "none", [], "")  # type: ignore[no-any-return]


@cache
def knows_bfloat16() -> bool:
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _pack_exact(weight: torch.Tensor) -> Any:
    return pack(weight, torch.float32)


def _pack_bfloat16(weight: torch.Tensor) -> Any:
    return pack(weight, torch.bfloat16)


def _multiply_bfloat16(rows: torch.Tensor, packed: Any, bias: torch.Tensor | None) -> torch.Tensor:
    product = multiply(rows.bfloat16(), packed)
    return product if bias is None else product + bias.bfloat16()


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
    "float32": (_pack_exact, multiply),
    "bfloat16": (_pack_bfloat16, _multiply_bfloat16),
    "int8": (_pack_int8, _multiply_int8),
}

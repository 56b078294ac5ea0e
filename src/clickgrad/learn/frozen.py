"""Products with frozen weights and the adapters beside them, for the learner and for who samples from it.

Weights that never change are packed once (`policy/packed.py`), there and back: a packed matrix serves the way forward,
its packed transpose the gradient; a plain copy is kept only where packing rounds. The adapter stays apart in both,
since a step changes weights by less than what bfloat16 can tell apart; added to rounded weights it would be lost.
Sampler and learner then compute alike, from one copy of everything.

Shapes: N tokens, I inputs, O outputs, R rank of the adapter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from clickgrad.policy.packed import RoundedNorms, can_pack, multiply, pack
from clickgrad.policy.spec import Compute

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
Tensor = torch.Tensor


class FrozenLinears:
    """Puts packed products under an adapted model's layers until `release`. The weights themselves stay as they are."""

    def __init__(self, adapted: Any, compute: Compute) -> None:
        self._dtype = TYPES[compute]
        layers = [module for module in adapted.modules() if hasattr(module, "get_delta_weight")]
        inside = {part for layer in layers for part in layer.modules()}
        others = [one for one in adapted.modules() if isinstance(one, torch.nn.Linear) and one not in inside]
        last = adapted.get_output_embeddings()
        with torch.no_grad():
            self._adapted = [_freeze(layer, self._dtype) for layer in layers]
            # Logits are as large as 30, where bfloat16 knows steps of 1/8: the last layer is never rounded.
            types = [torch.float32 if layer is last else self._dtype for layer in others]
            frozen = [
                _Frozen(layer, _both_ways(layer, dtype), dtype) for layer, dtype in zip(others, types, strict=True)
            ]
        self._forwards: list[_Adapted | _Frozen] = [*self._adapted, *frozen]
        for forward in self._forwards:
            forward.module.forward = forward
        self._norms = RoundedNorms(adapted.get_decoder(), sampling_only=False) if compute == "bfloat16" else None
        self.refresh()

    @property
    def cache_dtype(self) -> torch.dtype | None:
        """The type that keys and values need."""
        return self._dtype

    def refresh(self) -> None:
        """After the adapters have changed: for sampling they are rounded once, not with every pass."""
        for forward in self._adapted:
            forward.refresh()

    def release(self) -> None:
        for adapted in self._adapted:
            adapted.module.base_layer.weight = torch.nn.Parameter(base_weight(adapted.module), requires_grad=False)
        for forward in self._forwards:
            vars(forward.module).pop("forward", None)
        if self._norms:
            self._norms.release()


def base_weight(module: Any) -> Tensor:
    """Of a layer with an adapter, without what that adds."""
    forward = vars(module).get("forward")
    weight: Tensor = module.base_layer.weight
    return forward.weight.there.to_dense() if isinstance(forward, _Adapted) and not weight.numel() else weight


def can_freeze(model: Any) -> bool:
    """Whether all linear layers of a model are of the kind that can be packed."""
    return all(can_pack(layer) for layer in model.modules() if isinstance(layer, torch.nn.Linear))


@dataclass(frozen=True, slots=True)
class BothWays:
    there: Any  # [O, I], packed
    back: Any  # [I, O], packed
    bias: Tensor | None


def _both_ways(layer: torch.nn.Linear, dtype: torch.dtype) -> BothWays:
    # Rounded first: then all copies that come and go are as large as those that stay, and leave no holes.
    weight, bias = layer.weight.to(dtype), layer.bias
    return BothWays(pack(weight, dtype), pack(weight.t().contiguous(), dtype), None if bias is None else bias.to(dtype))


def _freeze(module: Any, dtype: torch.dtype) -> _Adapted:
    base = module.base_layer
    frozen = _Adapted(module, _both_ways(base, dtype), dtype)
    if base.weight.dtype is dtype:  # the packed one is the same numbers in another order
        base.weight = torch.nn.Parameter(torch.empty(0, dtype=dtype), requires_grad=False)
    return frozen


@dataclass(slots=True, eq=False)
class _Adapted:
    """Stands in for the forward of a layer with an adapter."""

    module: Any
    weight: BothWays
    dtype: torch.dtype
    rounded: tuple[Tensor, Tensor] | None = None  # the adapter for sampling

    def refresh(self) -> None:
        with torch.inference_mode():
            self.rounded = _rounded(*self._adapter(), self.dtype)

    def _adapter(self) -> tuple[Tensor, Tensor, float]:
        module = self.module
        return module.lora_A["default"].weight, module.lora_B["default"].weight, module.scaling["default"]

    def __call__(self, rows: Tensor) -> Tensor:
        shape, rows = rows.shape, rows.reshape(-1, rows.shape[-1]).to(self.dtype)
        if self.module.disable_adapters:
            product = _Product.apply(rows, self.weight)  # type: ignore[no-untyped-call]
        elif torch.is_inference_mode_enabled():
            assert self.rounded
            down, up = self.rounded
            product = multiply(rows, self.weight.there, self.weight.bias).addmm_(rows @ down.t(), up.t())
        else:
            product = _AdaptedProduct.apply(rows, *self._adapter(), self.weight)  # type: ignore[no-untyped-call]
        return product.reshape(*shape[:-1], -1)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, eq=False)
class _Frozen:
    """Stands in for the forward of a layer without an adapter."""

    module: Any
    weight: BothWays
    dtype: torch.dtype

    def __call__(self, rows: Tensor) -> Tensor:
        return _Product.apply(rows.to(self.dtype), self.weight)  # type: ignore[no-any-return, no-untyped-call]


def _rounded(down_RI: Tensor, up_OR: Tensor, scale: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    return down_RI.to(dtype), (up_OR * scale).to(dtype)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows_NI: Tensor, weight: BothWays) -> Tensor:
        ctx.weight = weight
        return multiply(rows_NI, weight.there, weight.bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return multiply(gradients[0].contiguous(), ctx.weight.back), None


class _AdaptedProduct(torch.autograd.Function):
    """x W' + s (x A') B', with gradients for x, A and B."""

    @staticmethod
    def forward(ctx: Any, rows_NI: Tensor, down_RI: Tensor, up_OR: Tensor, scale: float, weight: BothWays) -> Tensor:
        down, up = _rounded(down_RI, up_OR, scale, rows_NI.dtype)
        between_NR = rows_NI @ down.t()
        ctx.save_for_backward(rows_NI, between_NR, down, up)
        ctx.weight, ctx.scale = weight, scale
        return multiply(rows_NI, weight.there, weight.bias).addmm_(between_NR, up.t())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        rows_NI, between_NR, down, up = ctx.saved_tensors
        gradient_NO = gradients[0].contiguous()
        back_NR = gradient_NO @ up
        rows = multiply(gradient_NO, ctx.weight.back).addmm_(back_NR, down) if ctx.needs_input_grad[0] else None
        return rows, (back_NR.t() @ rows_NI).float(), (gradient_NO.t() @ between_NR).float() * ctx.scale, None, None

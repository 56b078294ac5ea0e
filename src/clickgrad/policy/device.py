"""Where a model computes: chosen once, and then every new tensor is made there."""

from __future__ import annotations

import ctypes
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import torch

from clickgrad.errors import UserError


def choose_device(wanted: Literal["auto", "cpu", "cuda"]) -> torch.device:
    if wanted == "cuda" and not torch.cuda.is_available():
        raise UserError("model.device=cuda: torch sees no GPU here; use model.device=auto or cpu")
    return torch.device("cuda" if wanted != "cpu" and torch.cuda.is_available() else "cpu")


def device_of(model: Any) -> torch.device:
    return next(model.parameters()).device  # type: ignore[no-any-return]


def give_back_memory() -> None:
    """What an update used and freed, the C library keeps for later; the system may have it now."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc alone
    if trim:
        trim(0)


def on_device_of(model: Any) -> AbstractContextManager[object]:
    """Inside the block tensors are made on the model's device. On the CPU they are anyway, without the overhead."""
    device = device_of(model)
    return nullcontext() if device.type == "cpu" else device

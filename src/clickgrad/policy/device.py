"""Where a model computes: chosen once, and then every new tensor is made there."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch

from clickgrad.errors import UserError

Device = Literal["auto", "cpu", "cuda", "mps", "xpu"]


def choose_device(wanted: Device) -> torch.device:
    """`auto` is an NVIDIA or AMD GPU where there is one; other accelerators have to be named."""
    if wanted == "cpu" or (wanted == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    kind, found = "cuda" if wanted == "auto" else wanted, torch.accelerator.current_accelerator(check_available=True)
    if found is None or found.type != kind:
        raise UserError(f"model.device={wanted}: torch sees no such device here; use model.device=auto or cpu")
    return torch.device(kind)


def device_of(model: Any) -> torch.device:
    return next(model.parameters()).device  # type: ignore[no-any-return]


def give_back_memory() -> None:
    """What an update used and freed, torch and the C library keep for later; others may have it now."""
    gc.collect()
    if torch.accelerator.is_available():
        torch.accelerator.memory.empty_cache()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc alone
    if trim:
        trim(0)


def give_back_threads() -> None:
    """End the helpers that OpenMP keeps for the calling thread; its next product gets new ones, in microseconds.

    Helpers wait in a loop, ready at once, only while all pools of a process together have no more threads than the
    machine has cores. A second pool that idles makes each product of the first one wait for the system's scheduler: 390
    ms instead of 230 for a pass of the engine on two cores. So whoever has computed gives back, and one pool is left.
    """
    if pause := _pause_openmp():
        pause(1)  # omp_pause_soft


@cache
def _pause_openmp() -> Callable[[int], int] | None:
    """Of the OpenMP that torch brings along; other builds have none of ours to release."""
    for library in (Path(torch.__file__).parent / "lib").glob("libgomp*.so*"):
        return getattr(ctypes.CDLL(str(library)), "omp_pause_resource_all", None)
    return None


def on_device_of(model: Any) -> AbstractContextManager[object]:
    """Inside the block tensors are made on the model's device. On the CPU they are anyway, without the overhead."""
    device = device_of(model)
    return nullcontext() if device.type == "cpu" else device

"""What a process holds in tensors: the bytes alive at once, and the largest tensor that was ever made."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A block in which every storage that an operation returns is counted until it is freed.

    What was there before is counted when it is named by `hold`.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.alive = self.peak = self.largest = 0
        self._known: set[int] = set()

    def hold(self, tensors: Iterable[torch.Tensor]) -> None:
        for tensor in tensors:
            self._note(tensor)

    def _note(self, tensor: torch.Tensor) -> None:
        if hasattr(tensor, "_local_tensor"):
            tensor = tensor._local_tensor
        storage = tensor.untyped_storage()
        place, size = storage._cdata, storage.nbytes()
        if place in self._known:
            return
        self._known.add(place)
        self.alive += size
        self.peak, self.largest = max(self.peak, self.alive), max(self.largest, size)
        weakref.finalize(storage, self._forget, place, size)

    def _forget(self, place: int, size: int) -> None:
        self._known.discard(place)
        self.alive -= size

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for one in tree_leaves(made):
            if isinstance(one, torch.Tensor) and one.device.type != "meta":
                self._note(one)
        return made

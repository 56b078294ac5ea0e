"""A checkpoint written beside the training: copied to the host's memory at once, brought to the disk by a thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor

from clickgrad.learn.checkpoint import Tensors


class Background:
    """A thread that does one thing at a time. What it raises is raised by the call after."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "saving")  # Python waits for it before it ends
        self._under_way: Future[None] | None = None

    def begin(self, work: Callable[[], None]) -> None:
        """As soon as what was begun before is done."""
        self.finish()
        self._under_way = self._pool.submit(work)

    def finish(self) -> None:
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()


@torch.no_grad()
def on_host(tensors: Tensors) -> Tensors:
    """Copies in the host's memory, of parts as parts: training goes on and does not change them. All ranks call it."""
    meshes: dict[DeviceMesh, DeviceMesh] = {}  # of the tensors, and the same on the host
    return {name: _part_on_host(value, meshes) for name, value in tensors.items()}


def _part_on_host(value: Any, meshes: dict[DeviceMesh, DeviceMesh]) -> Any:
    if not isinstance(value, DTensor):
        return value.detach().to("cpu", copy=True)
    mesh = value.device_mesh
    if mesh not in meshes:
        meshes[mesh] = mesh if mesh.device_type == "cpu" else init_device_mesh("cpu", tuple(mesh.shape))
    local = value.to_local().detach().to("cpu", copy=True)
    return DTensor.from_local(
        local, meshes[mesh], value.placements, run_check=False, shape=value.shape, stride=value.stride()
    )

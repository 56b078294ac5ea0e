"""Doctor for GPUs: driver, torch, NCCL, vLLM, memory for the presets, the disk. Reads and asks; starts nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from clickgrad.backends.gpus import Gpu, gpus_here
from clickgrad.backends.placement import fitting, load_of, machine_of
from clickgrad.config import load_config
from clickgrad.errors import UserError
from clickgrad.policy.sizes import find_model
from clickgrad.policy.vllm_server import refuse_other_vllm

PRESETS = ("qwen2.5-3b", "llama3.1-8b")
STATE_BYTES = 12  # of a parameter in a checkpoint: itself and two moments
KEPT = 3  # checkpoints at once: two that stay and one that is written
LARGEST = "qwen2.5-3b"  # of which the checkpoints shall have room
SHARED = ("nfs", "lustre", "gpfs", "beegfs", "ceph", "fuse", "smb", "wekafs")  # file systems that nodes may share


@dataclass(frozen=True, slots=True)
class Torch:
    version: str
    cuda: str | None  # that it was built for
    gpus: int  # that it sees
    nccl: str | None


@dataclass(slots=True)
class GpuFindings:
    gpus: list[dict[str, Any]]
    torch: Torch
    placements: dict[str, str]  # by preset: where everybody sits, or why it does not fit
    disk_gib: float
    file_system: str
    smoke: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"GPUs         {len(self.gpus)}" + (f" x {self.gpus[0]['name']}" if self.gpus else " by the driver")
        yield f"torch        {self.torch.version}, CUDA {self.torch.cuda or 'none'}, sees {self.torch.gpus}"
        yield f"NCCL         {self.torch.nccl or 'none'}"
        yield f"disk         {self.disk_gib:.0f} GiB free here, {self.file_system}"
        for preset, said in self.placements.items():
            yield f"{preset:<12} {said}"
        if self.smoke:
            yield "smoke        " + ", ".join(f"{name} {value}" for name, value in self.smoke.items())
        yield from (f"problem: {problem}" for problem in self.problems)
        yield from (f"warning: {warning}" for warning in self.warnings)


def examine_gpus(folder: Path) -> GpuFindings:
    """`folder` is where runs will lie."""
    gpus, torch = gpus_here(), _torch()
    kind, disk = _file_system(folder), shutil.disk_usage(folder).free / 1024**3
    found = GpuFindings([asdict(gpu) for gpu in gpus], torch, _placements(gpus), disk, kind)
    found.problems += _problems(gpus, torch)
    found.warnings += [] if gpus else ["no GPU: nvidia-smi is missing or lists none; all of this runs on the CPU"]
    try:
        refuse_other_vllm()
    except UserError as error:
        (found.problems if gpus else found.warnings).append(str(error))
    needed = KEPT * STATE_BYTES * find_model(LARGEST).parameters / 1024**3
    if disk < needed:
        found.warnings.append(f"{disk:.0f} GiB of disk are free here; checkpoints of {LARGEST} need {needed:.0f}")
    if not kind.startswith(SHARED):
        found.warnings.append(f"{kind} is no file system that nodes share: on a cluster put runs and models on one")
    return found


def _torch() -> Torch:
    import torch

    nccl = None
    if torch.distributed.is_available() and torch.distributed.is_nccl_available() and torch.cuda.is_available():
        nccl = ".".join(map(str, torch.cuda.nccl.version()))  # type: ignore[no-untyped-call]
    return Torch(torch.__version__, torch.version.cuda, torch.cuda.device_count(), nccl)


def _problems(gpus: tuple[Gpu, ...], torch: Torch) -> Iterator[str]:
    if not gpus:
        return
    if torch.gpus != len(gpus):
        build = "a build of torch for CUDA" if torch.cuda is None else "a driver and a torch that fit each other"
        yield f"the driver lists {len(gpus)} GPUs, torch sees {torch.gpus}: install {build}"
    elif torch.nccl is None and len(gpus) > 1:
        yield "this torch has no NCCL: several GPUs cannot learn together"


def _placements(gpus: tuple[Gpu, ...]) -> dict[str, str]:
    if not gpus:
        return {}
    return {preset: _placement(preset, gpus) for preset in PRESETS}


def _placement(preset: str, gpus: tuple[Gpu, ...]) -> str:
    config = load_config(preset, [], "train")
    try:
        return fitting(load_of(config, config.model.path), machine_of(gpus)).words()
    except UserError as error:
        return str(error)


def _file_system(folder: Path) -> str:
    """Of the mount that holds the folder."""
    at = folder.resolve()
    mounts = [one for one in psutil.disk_partitions(all=True) if at.is_relative_to(one.mountpoint)]
    return max(mounts, key=lambda one: len(one.mountpoint)).fstype if mounts else "unknown"

"""Which GPUs this process may use, from the driver's own tool: nothing heavy is loaded to know."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass

from clickgrad.errors import UserError

ASK_S = 30.0


@dataclass(frozen=True, slots=True)
class Gpu:
    index: str  # as CUDA_VISIBLE_DEVICES names it
    name: str
    memory_gb: float


def gpus_here() -> tuple[Gpu, ...]:
    """Those that CUDA_VISIBLE_DEVICES leaves, in its order. Empty without NVIDIA's driver."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    words = [tool, "--query-gpu=index,uuid,name,memory.total", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(words, capture_output=True, text=True, timeout=ASK_S, check=True).stdout
        rows = [[part.strip() for part in line.split(",")] for line in said.splitlines() if line.strip()]
        found = {}
        for index, uuid, name, mebibytes in rows:
            found[index] = found[uuid] = Gpu(index, name, float(mebibytes) * 2**20 / 1e9)
    except (OSError, subprocess.SubprocessError, ValueError):
        return ()
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    wanted = [row[0] for row in rows] if chosen is None else [one.strip() for one in chosen.split(",") if one.strip()]
    return tuple(found[one] for one in wanted if one in found)


def refuse_mixed(gpus: tuple[Gpu, ...]) -> None:
    kinds = {(gpu.name, round(gpu.memory_gb)) for gpu in gpus}
    if len(kinds) > 1:
        first = [gpu.index for gpu in gpus if gpu.name == gpus[0].name]
        raise UserError(
            f"GPUs of different kinds ({', '.join(sorted(name for name, _ in kinds))}): the slowest and smallest would "
            f"decide; choose those of one kind, as CUDA_VISIBLE_DEVICES={','.join(first)}"
        )

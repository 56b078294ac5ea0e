"""Where it runs: in this process (and torchrun), or on a Ray cluster. Options are read here and in the recipes only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clickgrad.backends.protocol import Backend
    from clickgrad.config import Config


def open_backend(config: Config, run: Path, quiet: bool = False) -> Backend[Any]:
    """`run` is the folder of what is run; `quiet` keeps the output for a program to read."""
    if config.cluster.address:
        from clickgrad.backends.ray.backend import RayBackend

        return RayBackend(config, run, quiet)
    from clickgrad.backends.local import LocalBackend

    return LocalBackend(config, run, quiet)

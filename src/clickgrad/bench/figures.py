"""How a measurement is told: a dataclass of figures becomes one JSON object or a small table."""

from __future__ import annotations

import dataclasses
import gc
import json
import statistics
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the others lie; of two values the upper one.

    >>> percentile([1, 2, 3, 4], 0.5)
    3
    """
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def rss_mb() -> float:
    """Memory of this process that is really there."""
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6


def process_tree_mb(pid: int) -> float:
    """Memory of a process and all it started; what they share is counted once, in parts (Linux's PSS)."""
    total = 0.0
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with suppress(OSError, StopIteration):  # ended just now
                lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
                total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e3
    return total


def as_text(figures: Any, as_json: bool) -> str:
    """Five digits that count: an error of 1.2e-07 is not 0."""
    plain = {
        name: float(f"{value:.5g}") if isinstance(value, float) else value
        for name, value in dataclasses.asdict(figures).items()
    }
    if as_json:
        return json.dumps(plain)
    width = max(map(len, plain))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in plain.items())


class PeakMemory:
    """The most memory this process had while the block lasted, looked at twenty times a second."""

    mb = 0.0

    def __enter__(self) -> PeakMemory:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        process = psutil.Process()
        while not self._over.wait(0.05):
            self.mb = max(self.mb, process.memory_info().rss / 1e6)

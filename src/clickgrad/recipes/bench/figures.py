"""How a measurement is told: a dataclass of figures becomes one JSON object or a small table."""

from __future__ import annotations

import dataclasses
import gc
import json
import statistics
from collections.abc import Sequence
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


def told(figures: Any, as_json: bool) -> str:
    plain = {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in dataclasses.asdict(figures).items()
    }
    if as_json:
        return json.dumps(plain)
    width = max(map(len, plain))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in plain.items())

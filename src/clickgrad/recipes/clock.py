"""How long a run has been at work, over all its sittings."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Literal

import psutil


class Clock:
    """Begins where the sitting before ended.

    `wall` is time that passed. `cpu` is time of cores, of this process and all that it has started: on a machine that
    others use, too, two runs are better compared by it.
    """

    def __init__(self, kind: Literal["wall", "cpu"], before_s: float) -> None:
        self._now = time.monotonic if kind == "wall" else cores_s
        self._origin = self._now() - before_s

    @property
    def spent_s(self) -> float:
        return self._now() - self._origin


def cores_s() -> float:
    """Of processes that have ended it is in their parent's, once it has waited for them."""
    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total

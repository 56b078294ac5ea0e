"""The kinds of faults, each a small function that acts from outside: signals, files, a disk without room."""

from __future__ import annotations

import os
import random
import resource
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path

import psutil

from clickgrad.bench.chaos.files import FILES, HOW
from clickgrad.bench.chaos.life import Life

Inject = Callable[[Life, random.Random], bool]  # False: there was nothing to strike at
NAP_S = (0.5, 4.0)


def _kill(role: str) -> Inject:
    return lambda life, rng: _signal(life, role, rng, signal.SIGKILL)


def _stop(role: str) -> Inject:
    """Woken up after a while."""
    return lambda life, rng: _signal(life, role, rng, signal.SIGSTOP, rng.uniform(*NAP_S))


def _freeze(role: str) -> Inject:
    """Never woken up."""
    return lambda life, rng: _signal(life, role, rng, signal.SIGSTOP, inf)


def _signal(life: Life, role: str, rng: random.Random, number: signal.Signals, nap_s: float = 0.0) -> bool:
    there = [process for process in life.role(role) if process not in life.stopped]
    if not there:
        return False
    struck = rng.choice(there)
    try:
        struck.send_signal(number)
    except psutil.Error:  # it has just ended
        return False
    if number == signal.SIGSTOP:
        life.stopped[struck] = time.monotonic() + nap_s
    return True


def _order(name: str, text: Callable[[random.Random], str] = lambda rng: "") -> Inject:
    """What the child or the site has to do by itself; it takes the file away when it does."""

    def inject(life: Life, rng: random.Random) -> bool:
        (life.control / name).write_text(text(rng))
        return True

    return inject


def _jump(rng: random.Random) -> str:
    """Seconds: from minutes to years, ahead or back."""
    return str(rng.choice((-1, 1)) * 10 ** rng.uniform(2, 8))


LIVE: dict[str, Inject] = {
    "browser-kill": _kill("browser"),
    "browser-stop": _stop("browser"),
    "browser-freeze": _freeze("browser"),
    "renderer-kill": _kill("renderer"),
    "renderer-stop": _stop("renderer"),
    "renderer-freeze": _freeze("renderer"),
    "driver-kill": _kill("driver"),
    "driver-stop": _stop("driver"),
    "driver-freeze": _freeze("driver"),
    "app-kill": _kill("app"),
    "app-stop": _stop("app"),
    "app-freeze": _freeze("app"),
    "run-kill": _kill("run"),
    "run-stop": _stop("run"),
    "worker-kill": _kill("worker"),
}
ORDERED: dict[str, Inject] = {
    "engine-raise": _order("engine-raise"),
    "clock-jump": _order("clock-jump", _jump),
    "page-hang": _order("page-hang"),
    "page-flood": _order("page-flood"),
    "page-crash": _order("page-crash"),
}
DAMAGE = tuple(f"{what}-{how}" for what in FILES for how in HOW)
DISK = "disk-full"
KINDS = (*LIVE, *ORDERED, DISK, *DAMAGE)
NO_PROCESS = {"world-kill": "the world server is a thread of the run, no process of its own: run-kill strikes it"}


def scene_of(kind: str) -> str:
    return {"app": "site", "page": "site", "worker": "cluster"}.get(kind.partition("-")[0], "arena")


def draw_faults(kinds: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """All kinds in an order of chance, then all of them again, until there are enough."""
    drawn: list[str] = []
    while len(drawn) < count:
        drawn += rng.sample(list(kinds), len(kinds))
    return drawn[:count]


# --- a disk that fills up -------------------------------------------------------------------------------------------


class Disk:
    """Where the run lies: a small file system of its own, if one can be mounted; else it may write no long file."""

    def __init__(self, folder: Path, mounted: bool) -> None:
        self._ballast = folder / ".ballast"
        self._mounted = mounted

    def fill(self, life: Life) -> None:
        if not self._mounted:
            life.main.rlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            return
        with suppress(OSError), open(self._ballast, "ab", buffering=0) as ballast:
            for size in (1 << 20, 1 << 12, 1):
                with suppress(OSError):
                    while ballast.write(b"\0" * size):
                        pass

    def empty(self, life: Life) -> None:
        with suppress(OSError):
            os.unlink(self._ballast)
        if not self._mounted:
            with suppress(psutil.Error):
                life.main.rlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

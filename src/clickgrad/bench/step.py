"""Where the time of one step of reinforcement goes: seconds that passed, and seconds of cores.

The engine says what it spent on computing. The sites run in a thread, which has a clock of
its own; the browser's processes are looked at twenty times a second; what no core did is idle.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from clickgrad.config import Config
from clickgrad.recipes.reinforce import reinforce
from clickgrad.report.metrics import read_steps
from clickgrad.report.rows import plain
from clickgrad.run_layout import METRICS
from clickgrad.tools.doctor import usable_cores
from clickgrad.worlds.server import THREAD

LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class StepTimes:
    episodes: int
    turns: int
    computed_tokens: int  # by the learner
    rollout_s: float
    engine_s: float  # of the rollout: the engine computes, reading prompts and drawing tokens
    tokens_per_forward: float  # that a reply gains from a pass of the model
    update_s: float
    peak_rss_mb: float  # of this process and the browser's together
    cores: int
    browser_core_s: float
    site_core_s: float
    own_core_s: float  # engine, learner, driving the browser
    idle_core_s: float


async def bench_step(config: Config, start: str) -> StepTimes:
    """One step of `reinforce` from the model `start`, thrown away afterwards."""
    once = config.model_copy(update={"reinforce": config.reinforce.model_copy(update={"steps": 1})})
    with TemporaryDirectory(prefix="clickgrad-bench-") as folder, _Clocks() as clocks:
        await reinforce(once, start, Path(folder) / "run")
        [[row], _] = read_steps(Path(folder) / "run" / METRICS)
        figures = plain(row)
    cores = usable_cores()
    return StepTimes(
        episodes=figures["episodes"],
        turns=round(figures["mean_turns"] * (figures["episodes"] - figures["crashed"])),
        computed_tokens=figures["computed_tokens"],
        rollout_s=figures["rollout_s"],
        engine_s=figures["engine_s"],
        tokens_per_forward=figures["tokens_per_forward"],
        update_s=figures["update_s"],
        peak_rss_mb=clocks.peak_rss_mb,
        cores=cores,
        browser_core_s=clocks.browser_s,
        site_core_s=clocks.site_s,
        own_core_s=clocks.process_s - clocks.site_s,
        idle_core_s=cores * clocks.passed_s - clocks.process_s - clocks.browser_s,
    )


class _Clocks:
    """Seconds of cores while the block lasts."""

    passed_s = process_s = browser_s = site_s = peak_rss_mb = 0.0

    def __enter__(self) -> _Clocks:
        self._over = threading.Event()
        self._before = dict(_children_s())  # of processes that were there already
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._started = time.perf_counter(), time.process_time()
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()
        passed, process = self._started
        self.passed_s = time.perf_counter() - passed
        self.process_s = time.process_time() - process

    def _watch(self) -> None:
        seen: dict[int, float] = {}  # by process, while it lives
        while not self._over.wait(LOOK_S):
            seen |= dict(_children_s())
            self.peak_rss_mb = max(self.peak_rss_mb, _rss_mb())
            self.browser_s = sum(spent - self._before.get(process, 0.0) for process, spent in seen.items())
            for thread in threading.enumerate():
                if thread.name == THREAD and thread.ident:
                    self.site_s = time.clock_gettime(time.pthread_getcpuclockid(thread.ident))


def _rss_mb() -> float:
    """Pages that processes share are counted in each of them."""
    total = 0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        with suppress(psutil.Error):  # ended just now
            total += process.memory_info().rss
    return total / 1e6


def _children_s() -> Iterator[tuple[int, float]]:
    for child in psutil.Process().children(recursive=True):
        try:
            spent = child.cpu_times()
        except psutil.Error:  # ended just now
            continue
        yield child.pid, spent.user + spent.system

"""One sitting of a disturbed run: its process, all that it started, and whether it still gets on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from clickgrad.recipes.bench import chaos_child

GRACE_S = 20.0  # for what a killed run had started to notice it and to end


class Life:
    def __init__(self, words: Sequence[str], place: Path, source: Path, log: Path, disturbed: bool = True) -> None:
        self.log = log
        self.control = place / "control"
        self.stopped: dict[psutil.Process, float] = {}  # by us, and until when
        self._seen: dict[int, psutil.Process] = {}
        (place / "tmp").mkdir(exist_ok=True)
        self.control.mkdir(exist_ok=True)
        environment = os.environ | {
            chaos_child.CONTROL: str(self.control),
            "PYTHONPATH": str(source),
            "TMPDIR": str(place / "tmp"),
            "OMP_NUM_THREADS": "1",
        }
        program = [chaos_child.__file__] if disturbed else ["-m", "clickgrad"]
        with open(log, "wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-P", *program, *words],
                cwd=place,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.main = psutil.Process(self._process.pid)

    @property
    def code(self) -> int | None:
        return self._process.poll()

    @property
    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    @property
    def broke(self) -> bool:
        """It ended in a way that no promise covers: a traceback, or a signal."""
        return self.code not in (0, 1, 2) or "Traceback (most recent call last)" in self.log.read_text(errors="replace")

    def watch(self) -> None:
        """Remember who is there, and wake those whose time has come."""
        with suppress(psutil.Error):
            for child in self.main.children(recursive=True):
                self._seen.setdefault(child.pid, child)
        for process, until in list(self.stopped.items()):
            if time.monotonic() >= until:
                self.wake(process)

    def wake(self, process: psutil.Process) -> None:
        self.stopped.pop(process, None)
        with suppress(psutil.Error):
            process.send_signal(signal.SIGCONT)

    @property
    def asleep(self) -> bool:
        """The run itself was stopped by us: that it does not get on is no fault."""
        return self.main in self.stopped

    def role(self, name: str) -> list[psutil.Process]:
        if name == "run":
            return [self.main]
        self.watch()
        return [process for process in self._seen.values() if _plays(process) == name]

    def kill(self) -> None:
        """The run itself, as a system short of memory does. What we had stopped goes on, or it could not even end."""
        self._process.kill()
        self._process.wait()
        for process in list(self.stopped):
            self.wake(process)

    def orphans(self) -> list[str]:
        """What is still there a while after the run has ended; none of it is afterwards."""
        left = [process for process in self._seen.values() if process.is_running()] + _marked(self.control)
        _, left = psutil.wait_procs(list(dict.fromkeys(left)), timeout=GRACE_S)
        told = []
        for process in left:
            with suppress(psutil.Error):
                if process.status() != psutil.STATUS_ZOMBIE:
                    told.append(f"{process.pid} {' '.join(process.cmdline())[:80]}")
                    process.kill()
        return told


def _marked(control: Path) -> list[psutil.Process]:
    """Who inherited our environment, however far from the family."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(chaos_child.CONTROL) == str(control):
                found.append(process)
    return found


def _plays(process: psutil.Process) -> str:
    """Which part of a run a process is."""
    try:
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return ""
        words = " ".join(process.cmdline())
    except psutil.Error:
        return ""
    if "--type=renderer" in words:
        return "renderer"
    if "--remote-debugging-pipe" in words and "--type=" not in words:
        return "browser"
    if "playwright" in words and "node" in words.partition(" ")[0]:
        return "driver"
    if "app.py --port" in words and "site_guard" not in words:
        return "app"
    if words.startswith("ray::") and "Worker" in words:
        return "worker"
    return ""

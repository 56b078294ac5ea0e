"""One sitting of a disturbed run: its process, all that it started, and whether it still gets on."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from clickgrad.bench.chaos import child
from clickgrad.errors import UserError

GRACE_S = 20.0  # for what a killed run had started to notice it and to end


class Nursery:
    """The process that runs are forked from, with all that is slow to import."""

    def __init__(self, place: Path, source: Path) -> None:
        self.control = place / "control"
        (place / "tmp").mkdir(exist_ok=True)
        self.control.mkdir(exist_ok=True)
        environment = os.environ | {
            child.CONTROL: str(self.control),
            "PYTHONPATH": str(source),
            "TMPDIR": str(place / "tmp"),
            "OMP_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", child.__file__],
            cwd=place,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.id = self._process.pid

    def bear(self, words: Sequence[str], log: Path) -> int:
        """A run; returns its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"words": list(words), "log": str(log)}) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def exit_code(self, wait: bool) -> int | None:
        """Of the run that was born last; None while it lives. To be asked for until it is there, then no more."""
        assert self._process.stdout is not None
        if not wait and not select.select([self._process.stdout], [], [], 0)[0]:
            return None
        return int(self._line())

    def close(self) -> None:
        for process in psutil.Process(self.id).children(recursive=True):  # of a bench that was interrupted
            with suppress(psutil.Error):
                process.kill()
        self._process.kill()
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise UserError("the process that starts the runs has ended; is PYTHONPATH or --source a clickgrad?")
        return line


class Life:
    def __init__(self, nursery: Nursery, words: Sequence[str], log: Path) -> None:
        self.log = log
        self.control = nursery.control
        self.stopped: dict[psutil.Process, float] = {}  # by us, and until when
        self._nursery = nursery
        self._seen: dict[int, psutil.Process] = {}
        self._code: int | None = None
        log.touch()  # looked at before the run has opened it
        self.main = psutil.Process(nursery.bear(words, log))

    @property
    def code(self) -> int | None:
        if self._code is None:
            self._code = self._nursery.exit_code(wait=False)
        return self._code

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
        if self.code is None:
            self.main.kill()
            self._code = self._nursery.exit_code(wait=True)
        for process in list(self.stopped):
            self.wake(process)

    def orphans(self) -> list[str]:
        """What is still there a while after the run has ended; none of it is afterwards."""
        left = [process for process in self._seen.values() if process.is_running()]
        left += [process for process in _marked(self.control) if process.pid != self._nursery.id]
        _, left = psutil.wait_procs(list(dict.fromkeys(left)), timeout=GRACE_S)
        left_over = []
        for process in left:
            with suppress(psutil.Error):
                if process.status() != psutil.STATUS_ZOMBIE:
                    left_over.append(f"{process.pid} {' '.join(process.cmdline())[:80]}")
                    process.kill()
        return left_over


def _marked(control: Path) -> list[psutil.Process]:
    """Who inherited our environment, however far from the family."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(child.CONTROL) == str(control):
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

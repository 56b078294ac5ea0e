"""The command line as a person uses it: a process of its own, or, where that adds nothing, within this one."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import psutil

from clickgrad.cli import main


def start(arguments: Sequence[str | Path], cwd: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "default"}
    return subprocess.Popen(
        [sys.executable, "-m", "clickgrad", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(arguments: Sequence[str | Path], cwd: Path, wait_s: float = 280) -> subprocess.CompletedProcess[str]:
    process = start(arguments, cwd)
    try:
        out, err = process.communicate(timeout=wait_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()  # the next test finds no child of this one
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def call(arguments: Sequence[str | Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    """What `run` does without the seconds it takes to start a process and to import all there is."""
    out, err, words = io.StringIO(), io.StringIO(), [str(word) for word in arguments]
    handlers = [(number, signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
            code = main(words)
    finally:
        for number, handler in handlers:
            signal.signal(number, handler)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def reinforce_coin(coin: Path, folder: str | Path, **more: object) -> list[str]:
    """The words of a small reinforcement on tosses of a coin; options as `lora__rank=4`."""
    settings: dict[str, object] = {
        "tasks.suite": coin / "tasks.json",
        "model.threads": 1,
        "agent.max_turns": 2,
        "agent.max_new_tokens": 24,
        "rollout.concurrency": 4,
        "lora.rank": 0,
        "reinforce.max_refills": 0,
    } | {name.replace("__", "."): value for name, value in more.items()}
    sets = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    return ["reinforce", "--start", str(coin / "model"), "--run", str(folder), *sets]


def wait_until(happened: Callable[[], bool], process: subprocess.Popen[str], timeout_s: float = 180) -> None:
    """Look often, without a fixed sleep: what we wait for may last only milliseconds."""
    deadline = time.monotonic() + timeout_s
    while not happened():
        if process.poll() is not None:
            raise AssertionError(f"ended early with {process.returncode}: {process.communicate()[1]}")
        if time.monotonic() > deadline:
            process.kill()
            process.communicate()
            raise AssertionError("it did not happen in time")
        time.sleep(0.002)


def descendants(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def kill(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """SIGKILL; returns what the process had started."""
    family = descendants(process)
    process.kill()
    process.communicate()
    return family


def none_left(processes: Sequence[psutil.Process]) -> bool:
    """All of them have ended, at the latest within ten seconds."""
    _, alive = psutil.wait_procs(processes, timeout=10)
    return not alive

"""However the Python process or the driver ends, no Chromium outlives it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

# Prints the ids of its Chromium and driver when a session is open, then ends in the way its argument says.
PROGRAM = """
import asyncio, os, signal, sys
from clickgrad.browser import Browser
from clickgrad.errors import BrowserError
from clickgrad.types import Wait

async def main(ending):
    async with Browser({"shop.localhost": sys.argv[2]}) as browser:
        session = await browser.open("http://shop.localhost/")
        print(*browser.process_ids, flush=True)
        if ending == "driver":
            sys.stdin.readline()
            os.kill(browser.process_ids[1], signal.SIGKILL)
            try:
                await session.observe()
            except BrowserError:
                again = await browser.open("http://shop.localhost/")
                sys.exit(0 if (await again.observe()).title == "Home" else 4)
        if ending == "driver while waiting":
            waiting = asyncio.create_task(session.perform(Wait()))
            await asyncio.sleep(0.3)  # within the second in which something could happen
            os.kill(browser.process_ids[1], signal.SIGKILL)
            try:
                await waiting
                await session.observe()
            except BrowserError:
                sys.exit(0)
        if ending == "error":
            raise ValueError("on purpose")
        if ending == "exit":
            sys.exit(3)
        if ending == "wait":
            await asyncio.sleep(60)

asyncio.run(main(sys.argv[1]))
"""


def run(ending: str, address: str, end: Callable[[subprocess.Popen[str]], None]) -> tuple[int, list[psutil.Process]]:
    """The exit code, and every browser and driver process there was."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, ending, address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parent,
    ) as program:
        assert program.stdout is not None
        line = program.stdout.readline()
        roots = []
        for word in line.split():
            try:
                process = psutil.Process(int(word))
                roots += [process, *process.children(recursive=True)]
            except psutil.NoSuchProcess:
                continue
        end(program)
        code = program.wait(20)
    return code, roots


def survivors(processes: list[psutil.Process], within_s: float) -> list[psutil.Process]:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        alive = [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
        if not alive:
            return []
        time.sleep(0.05)
    return alive


@pytest.mark.parametrize(("ending", "code"), [("normally", 0), ("error", 1), ("exit", 3)])
def test_nothing_is_left_after_the_program_ends(ending: str, code: int, hosts: dict[str, str]) -> None:
    ended, processes = run(ending, hosts["shop.localhost"], lambda program: None)
    assert ended == code
    assert survivors(processes, within_s=1) == []


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_nothing_is_left_after_a_signal(number: signal.Signals, code: int, hosts: dict[str, str]) -> None:
    ended, processes = run("wait", hosts["shop.localhost"], lambda program: program.send_signal(number))
    assert ended == code
    assert len(processes) >= 3  # the driver, the browser and at least one helper
    assert survivors(processes, within_s=5) == []


def test_a_killed_driver_takes_its_browser_along_and_the_next_session_gets_a_new_one(hosts: dict[str, str]) -> None:
    def go_on(program: subprocess.Popen[str]) -> None:
        assert program.stdin is not None
        program.stdin.write("\n")
        program.stdin.flush()

    ended, processes = run("driver", hosts["shop.localhost"], go_on)
    assert ended == 0
    assert survivors(processes, within_s=1) == []


def test_a_driver_that_dies_while_a_page_is_waited_for_does_not_starve_the_loop(hosts: dict[str, str]) -> None:
    ended, processes = run("driver while waiting", hosts["shop.localhost"], lambda program: None)
    assert ended == 0
    assert survivors(processes, within_s=1) == []

"""A loop that no longer turns is ended from outside; one that is busy elsewhere, or stopped, is not."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

# What the loop does is the argument; `kill` says so, and may end what the loop waits for.
PROGRAM = """
import asyncio, sys, time
from clickgrad.browser.watchdog import Watchdog

killed, sound = [], sys.argv[1] == "mended"

async def at_once():
    pass

async def starve():
    while not (sound and killed):
        await at_once()

def kill():
    print("killed", flush=True)
    killed.append(True)

async def main():
    doing = sys.argv[1]
    busy = doing != "idle"
    suspects = ("nowhere",) if doing == "elsewhere" else ("<string>",)
    dog = Watchdog(kill, lambda: busy, tick_s=0.05, patience=6, long_patience=10**6, suspects=suspects)
    dog.start()
    print("started", flush=True)
    if doing in ("starved", "mended"):
        await starve()
    elif doing == "sound":
        await asyncio.sleep(2)
    else:
        time.sleep(2)
    dog.stop()
    print("ended by itself", flush=True)

asyncio.run(main())
"""


def start(doing: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, doing], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_starved_loop_loses_its_browsers_and_then_its_process() -> None:
    with start("starved") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "started\nkilled\n")
    assert err.startswith("error: the event loop has stood still for")
    assert "in starve" in err


def test_a_loop_that_turns_again_when_its_browsers_are_killed_goes_on() -> None:
    with start("mended") as process:
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "started\nkilled\nended by itself\n")


@pytest.mark.parametrize("doing", ["sound", "idle", "elsewhere"])
def test_who_has_nothing_to_wait_for_or_works_elsewhere_is_left_alone(doing: str) -> None:
    with start(doing) as process:
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "started\nended by itself\n")


def test_a_stopped_process_is_not_taken_for_a_starved_one() -> None:
    with start("sound") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "ended by itself\n")

"""Playwright's driver dies in the middle of an evaluation: its episodes are played again and the run ends."""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from commands import descendants, none_left, start, wait_until

from clickgrad.browser import find_chromium
from clickgrad.rollout.store import TrajectoryFile

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine")
EPISODES = 24
EVALUATE = ["evaluate", "--policy", "scripted:expert", "--run", "run", "--json", "--set", "tasks.suite=pocket"]
SETTINGS = ["--set", f"evaluate.limit={EPISODES}", "--set", "rollout.concurrency=8", "--set", "rollout.retries=3"]


def drivers(family: list[psutil.Process]) -> list[psutil.Process]:
    found = []
    for process in family:
        with suppress(psutil.Error):
            if "run-driver" in process.cmdline():
                found.append(process)
    return found


def count_stored(run: Path) -> int:
    return sum(len(TrajectoryFile(file).salvage()[0]) for file in run.rglob("*.zst"))


def play_until_the_driver_dies(tmp_path: Path, stored: int) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """With so many episodes stored, eight are under way, each waiting for something else."""
    process = start([*EVALUATE, *SETTINGS], tmp_path)
    wait_until(lambda: count_stored(tmp_path / "run") >= stored, process, 120)
    family = descendants(process)
    (driver,) = drivers(family)
    driver.kill()
    return process, family


@pytest.mark.timeout(240)
@pytest.mark.parametrize("stored", [1, 8])
def test_a_run_survives_the_death_of_the_driver(tmp_path: Path, stored: int) -> None:
    process, family = play_until_the_driver_dies(tmp_path, stored)
    try:
        out, err = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert json.loads(out)["success"]["n"] == EPISODES
    assert none_left(family)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_whose_driver_died_still_hears_signals(tmp_path: Path, number: signal.Signals) -> None:
    process, family = play_until_the_driver_dies(tmp_path, stored=8)
    try:
        process.send_signal(number)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert none_left(family)

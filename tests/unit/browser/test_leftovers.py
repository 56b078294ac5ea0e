"""What a killed process leaves in the temporary folder goes at the next start; what is in use stays."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clickgrad.browser.leftovers import BrowserFolder, sweep

KILLED = """
import os, signal, sys
from pathlib import Path
from clickgrad.browser.leftovers import BrowserFolder
folder = BrowserFolder()
folder.name_profile(Path(sys.argv[1]))
print(folder.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
PROFILE = "playwright_chromiumdev_profile-x"


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path)
    yield tmp_path
    tempfile.tempdir = before


def left_by_a_killed_process(temporary: Path, profile: Path) -> Path:
    profile.mkdir()
    program = [sys.executable, "-c", f"import tempfile; tempfile.tempdir = {str(temporary)!r}\n{KILLED}", str(profile)]
    return Path(subprocess.run(program, capture_output=True, text=True, check=False).stdout.strip())


def test_the_folders_of_a_killed_process_are_swept(temporary: Path) -> None:
    profile = temporary / PROFILE
    folder = left_by_a_killed_process(temporary, profile)
    assert folder.is_dir()
    assert sweep(young_s=0) == [folder]
    assert list(temporary.iterdir()) == []


def test_the_folders_of_a_living_process_stay(temporary: Path) -> None:
    folder = BrowserFolder()
    (temporary / PROFILE).mkdir()
    folder.name_profile(temporary / PROFILE)
    assert sweep(young_s=0) == []
    assert len(list(temporary.iterdir())) == 2
    folder.remove()
    assert list(temporary.iterdir()) == []


def test_a_young_folder_stays_because_its_owner_may_be_about_to_lock_it(temporary: Path) -> None:
    folder = left_by_a_killed_process(temporary, temporary / PROFILE)
    assert sweep() == []
    assert folder.is_dir()


def test_a_profile_that_somebody_uses_stays_with_its_folder(temporary: Path) -> None:
    profile = temporary / PROFILE
    folder = left_by_a_killed_process(temporary, profile)
    program = [sys.executable, "-c", "input()", f"--user-data-dir={profile}"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as user:
        assert sweep(young_s=0) == []
        user.communicate(b"\n")
    assert folder.is_dir()
    assert profile.is_dir()


def test_only_throw_away_profiles_are_removed(temporary: Path) -> None:
    own = temporary / "my-profile"
    folder = left_by_a_killed_process(temporary, own)
    assert sweep(young_s=0) == [folder]
    assert own.is_dir()

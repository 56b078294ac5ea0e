"""The temporary folders of a browser, and what a killed process has left of them.

A driver that is killed leaves its profile and its artifacts behind. So each browser has a folder of ours beside them:
its lock is held as long as its owner lives, and it names the profile. A folder whose lock can be had belongs to nobody
any more, and goes at the next start together with what it names.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

PREFIX = "clickgrad-browser-"
_PROFILES = "playwright_chromiumdev_profile-"
_YOUNG_S = 60.0  # its owner may be about to lock it


class BrowserFolder:
    """Made for one browser; it holds the artifacts and names the profile."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = (self.path / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def name_profile(self, profile: Path) -> None:
        (self.path / "profile").write_text(str(profile))

    def remove(self) -> None:
        _remove(self.path)
        self._lock.close()


def sweep(young_s: float = _YOUNG_S) -> list[Path]:
    """Remove what no living process owns or uses; returns the folders that went."""
    return [folder for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*") if _is_abandoned(folder, young_s)]


def _is_abandoned(folder: Path, young_s: float) -> bool:
    """Asked with the lock in hand, so that two who sweep do not meet; if it is, it goes."""
    with suppress(OSError), (folder / "lock").open() as lock:
        if time.time() - folder.stat().st_mtime < young_s:
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        profile = _profile_of(folder)
        if profile is None or not _is_used(profile):
            _remove(folder)
            return True
    return False


def _remove(folder: Path) -> None:
    profile = _profile_of(folder)
    if profile is not None:
        shutil.rmtree(profile, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def _profile_of(folder: Path) -> Path | None:
    """Only what is surely a throw-away folder of Playwright's."""
    with suppress(OSError, UnicodeDecodeError):
        profile = Path((folder / "profile").read_text())
        if profile.parent == folder.parent and profile.name.startswith(_PROFILES):
            return profile
    return None


def _is_used(profile: Path) -> bool:
    """By a Chromium that has outlived its owner."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if f"--user-data-dir={profile}" in process.cmdline():
                return True
    return False

"""Throw-away folders for the copies of users' sites, and the sweep of those that a killed run left behind.

A folder holds a lock file that its owner keeps locked while it lives; the kernel lets go of it when the owner is gone,
however it ended. So a folder whose lock can be had is nobody's, and one without a lock is not known to be ours.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "clickgrad-site-"
LOCK = "owner.lock"


@contextmanager
def throwaway_folder(name: str) -> Iterator[Path]:
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name}-"))
    try:
        with open(folder / "new.lock", "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new.lock").rename(folder / LOCK)  # locked before anybody looks for it
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep() -> None:
    """Delete the folders of owners that are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # another's, in use, or just being deleted
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with open(folder / LOCK, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)

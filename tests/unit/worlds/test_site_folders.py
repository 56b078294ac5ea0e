from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from clickgrad.worlds.site_folders import throwaway_folder

HOLD = "import sys; from clickgrad.worlds.site_folders import throwaway_folder\nwith throwaway_folder('todo') as folder:\n    print(folder, flush=True)\n    sys.stdin.read()"  # fmt: skip  # noqa: E501


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def start_owner() -> tuple[subprocess.Popen[str], Path]:
    owner = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    return owner, Path(owner.stdout.readline().strip())


def test_the_folder_of_a_killed_owner_is_swept_and_a_living_ones_is_left_alone(temporary: Path) -> None:
    (killed, left), (living, used) = start_owner(), start_owner()
    killed.kill()
    killed.communicate()
    (left / "data").mkdir()
    strange = temporary / "clickgrad-site-of-somebody-else"
    strange.mkdir()
    (temporary / "clickgrad-site-link").symlink_to(used)
    with throwaway_folder("todo") as mine:
        assert not left.exists()
        assert used.is_dir()
        assert strange.is_dir(), "without a lock it is not known to be ours"
        with throwaway_folder("todo") as other:
            assert mine.is_dir()
            assert other != mine
    assert not mine.exists()
    living.communicate("")
    assert not used.exists(), "its owner deletes it"

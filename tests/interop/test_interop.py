"""Through each foreign interface: what ours earns, apart from each other, nothing left. `make interop` sets it up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]
HERE = Path(__file__).parent
REPO = HERE.parents[1]
ENVIRONMENTS = Path(os.environ.get("CLICKGRAD_ENVIRONMENTS", "/tmp"))


def run(python: Path | str, script: Path, *arguments: str, folder: Path) -> dict[str, Any]:
    """What it printed last, as JSON."""
    paths = os.pathsep.join([str(REPO / "src"), str(REPO / "examples" / "interop")])
    done = subprocess.run(
        [str(python), str(script), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(told, dict)
    return told


def python_of(name: str) -> Path:
    python = ENVIRONMENTS / f"env-{name}" / "bin" / "python"
    if not python.is_file():
        pytest.skip(f"no {python}: `make interop` makes it")
    return python


@pytest.fixture(scope="session")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ours")
    run(sys.executable, HERE / "ours.py", str(folder / "episodes.json"), folder=folder)
    return folder / "episodes.json"


@pytest.mark.parametrize("name", ["browsergym", "inspect", "openenv", "verifiers"])
def test_twenty_episodes_earn_what_ours_do_and_two_at_once_stay_apart(
    name: str, episodes: Path, tmp_path: Path
) -> None:
    told = run(python_of(name), HERE / f"play_{name}.py", str(episodes), folder=tmp_path)
    ours = [episode["reward"] for episode in json.loads(episodes.read_text())]
    assert len(ours) == 20
    assert told == {"rewards": ours, "two_at_once": [1.0, 0.0], "browsers_left": []}


@pytest.mark.parametrize(
    ("name", "example"),
    [("browsergym", "browsergym_agent"), ("inspect", "inspect_pocket"), ("openenv", "openenv_trl")],
)
def test_the_examples_run(name: str, example: str, tmp_path: Path) -> None:
    """That of verifiers is what `play_verifiers.py` evaluates."""
    told = run(python_of(name), HERE / f"play_example_{example}.py", folder=tmp_path)
    assert told["rewards"]
    assert set(told["rewards"]) <= {0.0, 1.0}

"""Python that the pages show is run as it stands, in a folder that holds what it speaks of."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from documents import DOCS, blocks
from tiny import save, tiny_model, tiny_tokenizer

from clickgrad.codec import from_plain
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Trajectory

FORMAT_PAGE = DOCS / "trajectory-format.md"


def run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "shown.py").write_text(code)
    runpy.run_path("shown.py")


@pytest.mark.parametrize("code", blocks(FORMAT_PAGE, "python"), ids=["plain", "typed"])
def test_the_readers_of_trajectories_read_all_of_a_file(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = from_plain(Trajectory, json.loads(blocks(FORMAT_PAGE, "json")[0])["trajectory"])
    for _ in range(3):
        TrajectoryFile(tmp_path / "demos.jsonl.zst").append(example)
    run(code, tmp_path, monkeypatch)
    assert capsys.readouterr().out == "count.1 1.0 2\n" * 3


def test_the_session_of_the_python_page_says_what_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(blocks(DOCS / "python.md", "python")[0], tmp_path, monkeypatch)
    *episodes, figures, stored = capsys.readouterr().out.splitlines()
    assert [line.split()[1:] for line in episodes] == [["1.0", "Exit"], ["1.0", "Exit"]]
    assert (figures, stored) == ("2 2", "2 ['scripted:expert']")


def test_a_trained_model_is_used_as_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tiny_model(tiny_tokenizer(["some text"])), tmp_path / "runs" / "quick" / "reinforce" / "model")
    run(blocks(DOCS / "your-own-model.md", "python")[0], tmp_path, monkeypatch)
    assert capsys.readouterr().out.endswith("\n")

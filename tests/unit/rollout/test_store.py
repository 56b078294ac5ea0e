from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from tiny import make_trajectory, make_turn

from clickgrad.errors import UserError
from clickgrad.rollout.store import TrajectoryFile

FIRST = make_trajectory([make_turn([1, 2], [3], [-0.125], 'exit(message="ü")')], 1.0, episode="first")
SECOND = make_trajectory([], None, episode="second")


@pytest.fixture
def file(tmp_path: Path) -> TrajectoryFile:
    return TrajectoryFile(tmp_path / "deep" / "down" / "t.jsonl.zst")


def test_what_is_written_is_what_is_read(file: TrajectoryFile) -> None:
    assert file.read() == []
    file.append(FIRST)
    file.append(SECOND)
    assert file.read() == TrajectoryFile(file.path).read() == [FIRST, SECOND]


@pytest.mark.parametrize("torn", [1, 10, 60])
def test_a_torn_end_is_left_out_and_overwritten(file: TrajectoryFile, torn: int) -> None:
    file.append(FIRST)
    whole = file.path.stat().st_size
    file.append(SECOND)
    file.path.write_bytes(file.path.read_bytes()[: whole + torn])
    survivor = TrajectoryFile(file.path)
    assert survivor.read() == [FIRST]
    survivor.append(SECOND)
    assert survivor.read() == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"this is no zstd file at all", "is no trajectory file"),
        (zstandard.compress(b"not json\n"), "record 0 is malformed"),
        (zstandard.compress(b'{"format": 99, "trajectory": {}}'), "not a trajectory of this version"),
        (zstandard.compress(b'{"format": 2, "trajectory": {"episode": 3}}'), "is missing"),
        (zstandard.compress(b'{"format": 2}'), "expected an object"),
    ],
)
def test_a_malformed_file_is_one_line_that_names_it(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "t.jsonl.zst"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        TrajectoryFile(path).read()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from tiny import make_trajectory, make_turn

from clickgrad.codec import from_plain, to_plain
from clickgrad.errors import UserError
from clickgrad.report.index import TrajectoryIndex, format_note
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import End, Outcome, Trajectory, Verdict

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


def test_a_file_of_format_2_is_read_and_gone_on_with(file: TrajectoryFile) -> None:
    plain = to_plain(FIRST)
    file.path.parent.mkdir(parents=True)
    file.path.write_bytes(zstandard.compress(json.dumps({"format": 2, "trajectory": plain}).encode()))
    file.append(SECOND)
    assert file.read() == [FIRST, SECOND]


def test_an_episode_that_format_2_ended_by_wall_time_is_read_as_a_crash(file: TrajectoryFile) -> None:
    plain = to_plain(FIRST) | {"end": "time_limit", "reward": 0.0}
    plain["verdict"] = to_plain(Verdict(Outcome.FAILED))
    file.path.parent.mkdir(parents=True)
    file.path.write_bytes(zstandard.compress(json.dumps({"format": 2, "trajectory": plain}).encode()))
    error = "InfraError: the episode took longer than rollout.episode_s"
    crashed = replace(FIRST, end=End.CRASHED, verdict=Verdict(Outcome.UNJUDGED), reward=None, error=error)
    assert file.read() == [crashed]
    index = TrajectoryIndex(file.path)
    index.refresh()
    assert [(entry.episode.end, entry.episode.reward) for entry in index.entries] == [("crashed", None)]
    assert from_plain(Trajectory, index.record(0)) == crashed
    assert format_note(index.entries[0].format) == ""


def test_half_a_character_becomes_the_sign_for_one_and_the_file_stays_utf_8(file: TrajectoryFile) -> None:
    file.append(replace(FIRST, error="half: \ud83d, whole: \U0001f600"))
    assert [trajectory.error for trajectory in file.read()] == ["half: \ufffd, whole: \U0001f600"]
    assert "\U0001f600" in zstandard.decompress(file.path.read_bytes()).decode("utf-8")

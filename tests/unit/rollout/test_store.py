from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from full_disk import file_size_limit
from tiny import make_trajectory, make_turn

from clickgrad.codec import from_plain, to_plain
from clickgrad.errors import UserError
from clickgrad.report.index import TrajectoryIndex, format_note
from clickgrad.rollout.store import FORMAT, TrajectoryFile, split_frames
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


def checked(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"this is no zstd file at all", "bytes 0 to 27 are no trajectory .no zstd frame begins there.; 0 traj"),
        (zstandard.compress(b"not json\n"), "are no trajectory .Expecting value"),
        (checked(b"not json\n"), "record 0 is malformed"),
        (checked(b'{"format": 99, "trajectory": {}}'), "not a trajectory of this version"),
        (zstandard.compress(b'{"format": 99, "trajectory": {}}'), "not a trajectory of this version"),
        (checked(b'{"format": 2, "trajectory": {"episode": 3}}'), "is missing"),
        (checked(b'{"format": 2}'), "expected an object"),
        (checked(b"[" * 100_000), "record 0 is malformed"),
    ],
)
def test_a_malformed_file_is_one_line_that_names_it(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "t.jsonl.zst"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        TrajectoryFile(path).read()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


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


# --- damage ---------------------------------------------------------------------------------------------------------

EPISODES = [
    make_trajectory([make_turn([1, 2, number], [3], text=f"reply {number}")], 1.0, episode=f"episode-{number}")
    for number in range(4)
]


def frame_ends(path: Path) -> list[int]:
    with open(path, "rb") as opened:
        return [piece.end for piece in split_frames(opened)]


def spoil(path: Path, at: int, mask: int = 0x10) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= mask
    path.write_bytes(content)


@pytest.mark.parametrize("damaged", [0, 1, 3])
@pytest.mark.parametrize("place", ["in its magic number", "in its middle", "in its checksum"])
def test_frames_before_and_after_a_damaged_one_are_salvaged(file: TrajectoryFile, damaged: int, place: str) -> None:
    file.extend(EPISODES)
    ends = [0, *frame_ends(file.path)]
    first, end = ends[damaged], ends[damaged + 1]
    at = {"in its magic number": first + 2, "in its middle": (first + end) // 2, "in its checksum": end - 1}[place]
    spoil(file.path, at)
    spoilt = file.path.read_bytes()
    rest = [one for number, one in enumerate(EPISODES) if number != damaged]

    survivor, told = TrajectoryFile(file.path), list[str]()
    trajectories, complaint = survivor.salvage()
    assert trajectories == rest
    assert f"bytes {first} to {end} are no trajectory" in complaint
    assert file.path.read_bytes() == spoilt, "whoever only reads changes nothing"
    with pytest.raises(UserError, match="is damaged"):
        survivor.read()
    with pytest.raises(UserError, match="is damaged"):
        TrajectoryFile(file.path).append(FIRST)

    assert survivor.mend(told.append) == rest
    (line,) = told
    assert str(file.path) in line
    assert f"bytes {first} to {end}" in line
    assert "\n" not in line
    assert file.path.with_name("t.jsonl.zst.damaged").read_bytes() == spoilt
    survivor.append(EPISODES[damaged])
    assert TrajectoryFile(file.path).read() == [*rest, EPISODES[damaged]]
    assert survivor.mend(told.append) == [*rest, EPISODES[damaged]]
    assert len(told) == 1, "what is mended is not told again"


def test_a_second_damage_does_not_overwrite_what_was_set_aside(file: TrajectoryFile) -> None:
    for _ in range(2):
        file.path.unlink(missing_ok=True)
        TrajectoryFile(file.path).extend(EPISODES)
        spoil(file.path, 30)
        TrajectoryFile(file.path).mend(lambda line: None)
    names = sorted(path.name for path in file.path.parent.iterdir())
    assert names == ["t.jsonl.zst", "t.jsonl.zst.damaged", "t.jsonl.zst.damaged-2"]


def test_frames_without_a_checksum_are_still_read(file: TrajectoryFile) -> None:
    file.append(FIRST)
    with open(file.path, "ab") as opened:
        opened.write(zstandard.compress(json.dumps({"format": FORMAT, "trajectory": to_plain(SECOND)}).encode()))
    survivor = TrajectoryFile(file.path)
    assert survivor.read() == [FIRST, SECOND]
    survivor.append(EPISODES[0])
    assert TrajectoryFile(file.path).read() == [FIRST, SECOND, EPISODES[0]]


def test_a_frame_that_unpacks_to_more_than_a_trajectory_holds_is_damage(file: TrajectoryFile) -> None:
    """A bomb: kilobytes that become a gigabyte, with its size told and without."""
    file.append(FIRST)
    compressor, zeros = zstandard.ZstdCompressor(), bytes(1 << 20)
    untold = compressor.compressobj()
    endless = b"".join(untold.compress(zeros) for _ in range(256)) + untold.flush()
    sized = compressor.compressobj(size=1 << 28)
    honest = b"".join(sized.compress(zeros) for _ in range(256)) + sized.flush()
    assert len(endless) + len(honest) < 100_000
    with open(file.path, "ab") as opened:
        opened.write(endless + honest)
    end = frame_ends(file.path)[-1]
    TrajectoryFile(file.path.with_name("other")).append(SECOND)
    with open(file.path, "ab") as opened:
        opened.write(file.path.with_name("other").read_bytes())
    trajectories, complaint = TrajectoryFile(file.path).salvage()
    assert trajectories == [FIRST, SECOND]
    assert f"to {end} are no trajectory" in complaint


def test_a_file_that_was_never_ours_is_not_mended(tmp_path: Path) -> None:
    path = tmp_path / "holiday.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(UserError, match="is no trajectory file"):
        TrajectoryFile(path).require_ours()
    ours = TrajectoryFile(tmp_path / "t.jsonl.zst")
    ours.require_ours()
    ours.append(FIRST)
    for byte in range(4):
        spoil(ours.path, byte)
        ours.require_ours()
        spoil(ours.path, byte)


@pytest.mark.parametrize("room", [0, 10, 300])
def test_a_full_disk_leaves_what_was_whole_and_nothing_that_is_taken_for_whole(file: TrajectoryFile, room: int) -> None:
    file.append(FIRST)
    size = file.path.stat().st_size
    with file_size_limit(size + room), pytest.raises(UserError, match=r"cannot write .*t\.jsonl\.zst .*make room"):
        file.extend(EPISODES)
    kept = TrajectoryFile(file.path).read()
    assert kept == [FIRST, *EPISODES][: len(kept)]
    assert len(kept) < 5
    again = TrajectoryFile(file.path)
    again.append(SECOND)
    assert again.read() == [*kept, SECOND]

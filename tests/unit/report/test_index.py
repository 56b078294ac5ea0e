from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from tiny import make_trajectory, make_turn

from clickgrad.codec import to_plain
from clickgrad.report.episodes import Episode, read_episode
from clickgrad.report.index import TrajectoryIndex, format_note
from clickgrad.rollout.store import MAGIC, TrajectoryFile, split_frames
from clickgrad.types import CheckResult, Evidence, Outcome, Trajectory, Verdict


def numbered(number: int, reward: float | None = 1.0) -> Trajectory:
    return make_trajectory([make_turn([1, 2], [3], text=f"reply {number}")], reward, episode=f"episode-{number}")


def names(index: TrajectoryIndex) -> list[str]:
    return [entry.episode.name for entry in index.entries]


@pytest.fixture
def file(tmp_path: Path) -> TrajectoryFile:
    file = TrajectoryFile(tmp_path / "evaluate.jsonl.zst")
    file.extend([numbered(0), numbered(1, 0.0), numbered(2, None)])
    return file


def test_an_episode_read_from_disk_is_the_one_that_was_written() -> None:
    verdict = Verdict(Outcome.FAILED, (CheckResult("answer", False, "no"),))
    evidence = Evidence("42", "http://toy/", "text", ())
    trajectory = replace(numbered(0, 0.0), verdict=verdict, evidence=evidence, error="late")
    assert read_episode(json.loads(json.dumps(to_plain(trajectory)))) == Episode.of(trajectory)


def test_single_frames_are_read_by_their_place(file: TrajectoryFile) -> None:
    index = TrajectoryIndex(file.path)
    index.refresh()
    assert names(index) == ["episode-0", "episode-1", "episode-2"]
    assert index.record(1)["turns"][0]["completion"]["text"] == "reply 1"
    assert (index.skipped, index.pending, index.torn) == ([], 0, 0)


def test_the_stored_index_is_used_and_goes_on_where_it_stopped(file: TrajectoryFile) -> None:
    TrajectoryIndex(file.path).refresh()
    rewrite(file.path.parent / "evaluate.index.json", "from the stored index")
    file.append(numbered(3))
    index = TrajectoryIndex(file.path)
    index.refresh()
    assert index.entries[0].text == "from the stored index"
    assert names(index)[3] == "episode-3"


def rewrite(index: Path, text: str, seal: bool = True) -> None:
    """Another text for the first entry; with the checksum that belongs to it, or with the old one."""
    stored = json.loads(index.read_text())
    stored["index"]["entries"][0][3] = text
    if seal:
        stored["crc"] = zlib.crc32(json.dumps(stored["index"], separators=(",", ":")).encode())
    index.write_text(json.dumps(stored))


def test_an_index_that_is_not_what_was_written_is_made_anew(file: TrajectoryFile) -> None:
    TrajectoryIndex(file.path).refresh()
    rewrite(file.path.parent / "evaluate.index.json", "a lie", seal=False)
    index = TrajectoryIndex(file.path)
    index.refresh()
    assert "a lie" not in index.entries[0].text


def test_frames_around_a_damaged_one_are_shown_and_the_damage_is_named_once(file: TrajectoryFile) -> None:
    with open(file.path, "rb") as opened:
        first, second, _ = split_frames(opened)
    content = bytearray(file.path.read_bytes())
    content[second.offset + second.size // 2] ^= 1
    file.path.write_bytes(content)
    index = TrajectoryIndex(file.path)
    index.refresh()
    assert names(index) == ["episode-0", "episode-2"]
    (told,) = index.skipped
    assert told.startswith(f"bytes {first.end} to {second.end}: ")
    assert index.record(1)["episode"] == "episode-2"
    assert file.path.read_bytes() == content
    for looked_again in (index, TrajectoryIndex(file.path)):
        looked_again.refresh()
        assert (names(looked_again), looked_again.skipped) == (["episode-0", "episode-2"], [told])
    TrajectoryFile(file.path).mend(lambda line: None)
    index.refresh()
    assert (names(index), index.skipped) == (["episode-0", "episode-2"], [])


def test_damage_that_takes_long_to_look_at_is_gone_through_bit_by_bit(file: TrajectoryFile) -> None:
    last = file.path.read_bytes()
    file.path.write_bytes(last + MAGIC * 50 + last)
    index, looks = TrajectoryIndex(file.path), 0
    while looks == 0 or index.pending:
        index.refresh(deadline=0.0)
        looks += 1
    assert len(index.entries) == 6
    assert len(index.skipped) == 1
    assert looks > 50


def test_nothing_is_read_or_written_through_a_link(file: TrajectoryFile, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("mine")
    for name in ("evaluate.index.json", "evaluate.index.partial"):
        (file.path.parent / name).symlink_to(outside)
    index = TrajectoryIndex(file.path)
    index.refresh()
    assert len(index.entries) == 3
    assert outside.read_text() == "mine"


def test_a_growing_file_is_followed(file: TrajectoryFile) -> None:
    index = TrajectoryIndex(file.path)
    for number in range(3, 6):
        index.refresh()
        assert len(index.entries) == number
        file.append(numbered(number))


def test_another_file_in_its_place_is_noticed(file: TrajectoryFile) -> None:
    index = TrajectoryIndex(file.path)
    index.refresh()
    file.path.unlink()
    TrajectoryFile(file.path).extend([numbered(number) for number in range(7, 12)])
    index.refresh()
    fresh = TrajectoryIndex(file.path)
    fresh.refresh()
    assert names(index) == names(fresh) == [f"episode-{number}" for number in range(7, 12)]


@pytest.mark.parametrize("rubbish", ["", "{", "[]", '{"version": 1}', '{"version": 99, "entries": []}'])
def test_a_broken_index_is_made_anew(file: TrajectoryFile, rubbish: str) -> None:
    (file.path.parent / "evaluate.index.json").write_text(rubbish)
    index = TrajectoryIndex(file.path)
    index.refresh()
    assert len(index.entries) == 3


def test_time_that_runs_out_leaves_the_rest_for_the_next_look(file: TrajectoryFile) -> None:
    index = TrajectoryIndex(file.path)
    index.refresh(deadline=0.0)
    assert len(index.entries) == 1
    assert index.pending > 0
    index.refresh()
    assert (len(index.entries), index.pending) == (3, 0)


def test_a_torn_end_is_told_and_read_when_it_is_whole(file: TrajectoryFile) -> None:
    whole = file.path.read_bytes()
    file.append(numbered(3))
    longer = file.path.read_bytes()
    file.path.write_bytes(longer[: len(whole) + 20])
    index = TrajectoryIndex(file.path)
    index.refresh()
    assert (len(index.entries), index.torn) == (3, 20)
    file.path.write_bytes(longer)
    index.refresh()
    assert (len(index.entries), index.torn) == (4, 0)


def test_what_is_not_understood_is_named_and_the_rest_is_shown(file: TrajectoryFile) -> None:
    newer = {"format": 99, "trajectory": to_plain(numbered(3)) | {"mood": "good"}}
    foreign = [b"no json", b"[1, 2]", b'{"format": 2, "trajectory": {"episode": 3}}', json.dumps(newer).encode()]
    with open(file.path, "ab") as target:
        target.write(b"".join(map(zstandard.compress, foreign)) + b"and no zstd at all")
    index = TrajectoryIndex(file.path)
    index.refresh()
    assert names(index) == ["episode-0", "episode-1", "episode-2", "episode-3"]
    assert format_note(index.entries[3].format) == "format 99, not 3: read as far as it is understood"
    assert len(index.skipped) == 4
    assert "no zstd frame" in index.skipped[-1]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    index = TrajectoryIndex(tmp_path / "none.jsonl.zst")
    index.refresh()
    assert index.skipped == ["cannot be read: No such file or directory"]

"""Random damage to a trajectory file: never another trajectory, and only the frame that was hit is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tiny import make_trajectory, make_turn

from clickgrad.rollout.store import TrajectoryFile, split_frames
from clickgrad.types import Trajectory

FLIPS, CUTS = 60, 40


def rambling(number: int) -> Trajectory:
    rng = random.Random(number)
    words = [rng.choice(("buy", "mug", "ü", "[3]", "\N{GRINNING FACE}", "link", str(rng.random()))) for _ in range(200)]
    ids = [rng.randrange(50_000) for _ in range(100)]
    turns = [make_turn(ids, ids[:9], text=" ".join(words[turn:])) for turn in range(1 + number % 4)]
    return make_trajectory(turns, float(number % 2), episode=f"episode-{number}")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("written") / "t.jsonl.zst"
    TrajectoryFile(path).extend([rambling(number) for number in range(12)])
    return path


def spans(path: Path) -> list[tuple[int, int]]:
    with open(path, "rb") as file:
        return [(piece.offset, piece.end) for piece in split_frames(file)]


def after_flip(path: Path, scratch: Path, bit: int) -> list[Trajectory]:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    scratch.write_bytes(content)
    return TrajectoryFile(scratch).salvage()[0]


@pytest.mark.parametrize("seed", range(FLIPS))
def test_a_flipped_bit_never_makes_another_trajectory_and_costs_one_at_most(
    written: Path, tmp_path: Path, seed: int
) -> None:
    originals, places = TrajectoryFile(written).read(), spans(written)
    bit = random.Random(seed).randrange(8 * written.stat().st_size)
    hit = next(number for number, (_, end) in enumerate(places) if bit // 8 < end)
    rest = originals[:hit] + originals[hit + 1 :]
    assert after_flip(written, tmp_path / "flipped.jsonl.zst", bit) in (rest, originals)


@pytest.mark.parametrize("seed", range(CUTS))
def test_a_file_cut_short_keeps_every_frame_before_the_cut(written: Path, tmp_path: Path, seed: int) -> None:
    originals, places = TrajectoryFile(written).read(), spans(written)
    cut = random.Random(seed).randrange(written.stat().st_size)
    scratch = tmp_path / "cut.jsonl.zst"
    scratch.write_bytes(written.read_bytes()[:cut])
    whole = sum(end <= cut for _, end in places)
    assert TrajectoryFile(scratch).salvage() == (originals[:whole], "")

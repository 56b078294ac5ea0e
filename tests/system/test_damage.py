"""Files of a run found damaged: named in a line, set aside, and the run goes on to the same weights."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from commands import call, reinforce_coin
from full_disk import small_disk

from clickgrad.rollout.store import TrajectoryFile, split_frames
from clickgrad.types import Outcome, Verdict

GROUPS, SIZE, STEPS = 3, 4, 3
Damage = Callable[[Path], object]


def reinforce(coin: Path, folder: str | Path) -> list[str]:
    return reinforce_coin(coin, folder, reinforce__steps=STEPS, reinforce__groups=GROUPS, reinforce__group_size=SIZE)


@pytest.fixture(scope="module")
def finished(coin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing happened to."""
    place = tmp_path_factory.mktemp("finished")
    done = call(reinforce(coin, "run"), place)
    assert done.returncode == 0, done.stderr
    return place / "run"


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    place = len(content) // 2
    if path.suffix == ".zst":  # within what a frame holds: a bit of its head may say nothing about the content
        with open(path, "rb") as file:
            frame = list(split_frames(file))[1]
        place = frame.offset + frame.size // 2
    content[place] ^= 0x04
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def weights(run: Path) -> bytes:
    return (run / "model" / "model.safetensors").read_bytes()


LAST = f"checkpoints/step-{STEPS:04d}"


@pytest.mark.parametrize(
    ("file", "damage", "named"),
    [
        (f"{LAST}/weights.safetensors", flip, f"step-{STEPS:04d} is damaged"),
        (f"{LAST}/optimizer.safetensors", cut, f"step-{STEPS:04d} is damaged"),
        (f"{LAST}/progress.json", empty, f"step-{STEPS:04d} is damaged"),
        ("model/model.safetensors", flip, "model is damaged"),
        ("metrics.jsonl", cut, "metrics.jsonl is damaged"),
        ("config.toml", flip, "config.toml is damaged"),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_what_is_damaged_is_named_and_the_weights_come_out_the_same(
    coin: Path, finished: Path, tmp_path: Path, file: str, damage: Damage, named: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    if not file.startswith("model"):
        shutil.rmtree(run / "model")  # killed before it was exported
    damage(run / file)
    done = call(reinforce(coin, "run"), tmp_path)
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("clickgrad: ")
    assert named in line
    assert weights(run) == weights(finished)
    again = call(reinforce(coin, "run"), tmp_path)
    assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.parametrize("damage", [flip, cut, empty], ids=lambda damage: damage.__name__)
def test_of_damaged_trajectories_the_whole_ones_are_kept_and_the_others_sampled_again(
    coin: Path, finished: Path, tmp_path: Path, damage: Damage
) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    shutil.rmtree(run / "model")
    shutil.rmtree(run / LAST)  # killed in the last update
    path = run / "trajectories" / f"step-{STEPS:04d}.jsonl.zst"
    before = TrajectoryFile(path).read()
    damage(path)
    kept, complaint = TrajectoryFile(path).salvage()
    done = call(reinforce(coin, "run"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert (path.name in done.stderr) == bool(complaint) == (damage is flip)
    after = TrajectoryFile(path).read()
    assert after[: len(kept)] == kept
    assert sorted(one.episode for one in after) == sorted(one.episode for one in before)
    if damage is flip:
        assert len(kept) == len(before) - 1
        assert path.with_name(f"{path.name}.damaged").exists()


def test_a_damaged_model_is_not_evaluated(coin: Path, finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    flip(tmp_path / "run" / "model" / "model.safetensors")
    tasks = f"tasks.suite={coin / 'tasks.json'}"
    done = call(["evaluate", "--policy", "run", "--run", "other", "--set", tasks], tmp_path)
    assert done.returncode == 2
    assert "model.safetensors is not what was written" in done.stderr.splitlines()[-1]


def test_damaged_demonstrations_are_recorded_again_to_the_byte(tmp_path: Path) -> None:
    settings = ["--set", "clone.demos=4", "--set", 'tasks.templates=["shop.add_to_cart"]']
    path = tmp_path / "demos.jsonl.zst"
    command: list[str | Path] = ["demos", "--out", path, *settings]
    assert call(command, tmp_path).returncode == 0
    whole = path.read_bytes()
    with open(path, "rb") as file:
        pieces = list(split_frames(file))
    for spoilt in (whole[: pieces[1].end + 9], whole[:50] + b"\0" + whole[51:]):
        path.write_bytes(spoilt)
        done = call(command, tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("\n") == 1
        assert str(path) in done.stderr
        assert path.read_bytes() == whole


def test_a_demonstration_that_failed_in_an_earlier_sitting_is_recorded_again(tmp_path: Path) -> None:
    path = tmp_path / "demos.jsonl.zst"
    command: list[str | Path] = [
        "demos",
        "--out",
        path,
        "--set",
        "clone.demos=1",
        "--set",
        'tasks.templates=["shop.add_to_cart"]',
    ]
    assert call(command, tmp_path).returncode == 0
    whole = path.read_bytes()
    (passed,) = TrajectoryFile(path).read()
    path.unlink()
    failed = replace(passed, reward=0.0, verdict=Verdict(Outcome.FAILED))
    TrajectoryFile(path.with_name(f"{path.name}.part")).append(failed)
    done = call(command, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert path.read_bytes() == whole


def test_a_disk_that_fills_up_in_training_is_one_line_and_the_run_goes_on_when_there_is_room(
    coin: Path, finished: Path, tmp_path: Path
) -> None:
    """Room for the checkpoints but not for the model."""
    checkpoints = sum(path.stat().st_size for path in (finished / "checkpoints").rglob("*") if path.is_file())
    with small_disk(tmp_path / "small", kib=checkpoints // 1024 + 200) as small:
        shutil.copytree(finished / "trajectories", small / "run" / "trajectories")
        done = call(reinforce(coin, small / "run"), tmp_path)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert "cannot write" in line
        assert "make room" in line
        assert not (small / "run" / "model").exists()
        shutil.copytree(small / "run", tmp_path / "moved")
    again = call(reinforce(coin, "moved"), tmp_path)
    assert again.returncode == 0, again.stderr
    assert weights(tmp_path / "moved") == weights(finished)

"""A checkpoint that is not what was written is never gone on from, and a full disk leaves none that is half written."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from full_disk import small_disk
from tiny import new_learner, tiny_model, tiny_tokenizer

from clickgrad.errors import UserError
from clickgrad.learn import checkpoint
from clickgrad.learn.progress import Progress
from clickgrad.types import Sample

SAMPLES = [Sample((7, 8, 9, 10), 2, (0.0, 0.0), 1.0, 1.0), Sample((3, 4, 5), 1, (0.0,), 1.0, 1.0)]
FILES = ("weights.safetensors", "optimizer.safetensors", "progress.json")


class Training:
    """A tiny run: a step, a checkpoint, and so on."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.learner = new_learner(tiny_model(tiny_tokenizer(["some text"])))

    def learn(self, first: int, last: int, scores: dict[int, float] | None = None, keep: int = 9) -> None:
        for step in range(first, last + 1):
            self.learner.clone(SAMPLES, 1e-2, 1000, "comb")
            progress = Progress(step=step, episodes=7 * step, records={"task": (1, step)}, held_out=(0.5,))
            self.learner.save(self.root, progress, keep, (scores or {}).get(step))

    def resume(self, need_all: bool = False) -> tuple[int, list[str]]:
        told: list[str] = []
        checkpoint.set_aside_damaged(self.root, told.append, need_all)
        saved = checkpoint.latest(self.root)
        return self.learner.load(saved).step if saved else 0, told

    def weights(self) -> dict[str, torch.Tensor]:
        return {name: value.clone() for name, value in self.learner.weights().items()}


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "flipped": lambda path: flip(path, 8 * path.stat().st_size // 2 + 3),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
    "missing": Path.unlink,
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_checkpoint_is_set_aside_and_the_weights_come_out_the_same(
    tmp_path: Path, file: str, damage: str
) -> None:
    straight = Training(tmp_path / "straight")
    straight.learn(1, 4)

    Training(tmp_path / "run").learn(1, 3)
    DAMAGE[damage](tmp_path / "run" / "step-0003" / file)
    resumed = Training(tmp_path / "run")
    step, (line,) = resumed.resume()
    assert step == 2
    assert "step-0003 is damaged" in line
    assert file in line
    assert "what came after step 2 is done again" in line
    assert "\n" not in line
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["step-0001", "step-0002", "step-0003.damaged"]
    resumed.learn(3, 4)
    after = resumed.weights()
    assert all(torch.equal(value, after[name]) for name, value in straight.weights().items())


def test_no_flipped_bit_of_any_file_goes_unnoticed(tmp_path: Path) -> None:
    Training(tmp_path).learn(1, 1)
    folder, rng = tmp_path / "step-0001", random.Random(0)
    for file in FILES:
        for _ in range(25):
            bit = rng.randrange(8 * (folder / file).stat().st_size)
            flip(folder / file, bit)
            assert checkpoint.find_fault(folder), (file, bit)
            flip(folder / file, bit)
    assert not checkpoint.find_fault(folder)


def test_when_none_is_whole_it_starts_from_the_start(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.learn(1, 2)
    for step in (1, 2):
        flip(tmp_path / f"step-000{step}" / "weights.safetensors", 9000)
    step, told = training.resume()
    assert step == 0
    assert len(told) == 2
    assert "what came after the start is done again" in told[-1]


def test_where_the_best_one_is_needed_its_steps_are_taken_again(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.learn(1, 5, scores={2: 0.9, 3: 0.1})
    flip(tmp_path / "step-0002" / "weights.safetensors", 9000)
    assert training.resume(need_all=False) == (5, [])
    step, (line,) = training.resume(need_all=True)
    assert step == 1
    assert "what came after step 1 is done again" in line


def test_an_old_damaged_one_is_in_nobodys_way(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.learn(1, 3, scores={1: 0.9, 2: 0.2})
    (tmp_path / "step-0001" / "progress.json").write_bytes(b"\xff")
    assert checkpoint.best(tmp_path) == tmp_path / "step-0002"
    training.learn(4, 4, keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-0002", "step-0003", "step-0004"]


def test_what_was_saved_before_there_were_digests_is_still_read(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.learn(1, 1)
    path = tmp_path / "step-0001" / "progress.json"
    state = json.loads(path.read_text())
    old = {name: value for name, value in state.items() if name not in ("digest", "files", "held_out")}
    path.write_text(json.dumps(old | {"format": 2}))
    assert training.resume() == (1, [])
    assert checkpoint.read_progress(tmp_path / "step-0001") == Progress(
        step=1, episodes=7, records={"task": (1, 1)}, held_out=()
    )


def test_one_of_another_version_is_refused_and_left_where_it_is(tmp_path: Path) -> None:
    training = Training(tmp_path)
    (tmp_path / "step-0001").mkdir()
    (tmp_path / "step-0001" / "progress.json").write_text('{"format": 99}')
    with pytest.raises(UserError, match="another version of clickgrad"):
        training.resume()
    assert (tmp_path / "step-0001").is_dir()


def test_a_full_disk_leaves_the_last_checkpoint_and_no_half_of_another(tmp_path: Path) -> None:
    training = Training(tmp_path / "roomy")
    training.learn(1, 1)
    size = sum(path.stat().st_size for path in (tmp_path / "roomy" / "step-0001").iterdir())
    with small_disk(tmp_path / "small", kib=size * 3 // 2 // 1024) as small:
        training.root = small / "checkpoints"
        training.learn(2, 2)
        with pytest.raises(UserError, match=r"cannot write .*step-0003.*make room") as caught:
            training.learn(3, 3)
        assert "\n" not in str(caught.value)
        assert [path.name for path in training.root.iterdir()] == ["step-0002"]
        assert training.resume() == (2, [])

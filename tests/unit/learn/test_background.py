"""Saving beside the training: the same files, one at a time, and a kill in the middle leaves the checkpoint before."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from full_disk import small_disk
from tiny import new_learner, tiny_model, tiny_tokenizer

from clickgrad.backends.learners import clone_spec, reinforce_spec
from clickgrad.config import load_config
from clickgrad.errors import UserError
from clickgrad.learn import checkpoint
from clickgrad.learn.background import Background, on_host
from clickgrad.learn.learner import LocalLearner
from clickgrad.learn.progress import Progress
from clickgrad.types import Sample

SAMPLES = [Sample((7, 8, 9, 10), 2, (0.0, 0.0), 1.0, 1.0), Sample((3, 4, 5), 1, (0.0,), 1.0, 1.0)]

SUPPORT = Path(__file__).parents[2] / "support"


def learner(save_async: bool, lora_rank: int = 0) -> LocalLearner:
    return new_learner(tiny_model(tiny_tokenizer(["some text"])), lora_rank, save_async=save_async)


def train(one: LocalLearner, root: Path) -> None:
    for step in (1, 2, 3):
        one.clone(SAMPLES, 1e-2, 1000, "comb")
        one.save(root, Progress(step=step, episodes=step), 2, -step)


def contents(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_what_is_saved_beside_the_training_is_the_same_to_the_bit(tmp_path: Path, lora_rank: int) -> None:
    for save_async in (False, True):
        one = learner(save_async, lora_rank)
        train(one, tmp_path / str(save_async))
        one.clone(SAMPLES, 1e-2, 1000, "comb")  # changes the weights while they may be on their way
        one.finish_saving()
    at_once, beside = contents(tmp_path / "False"), contents(tmp_path / "True")
    assert sorted({name.split("/")[0] for name in beside}) == ["step-0001", "step-0002", "step-0003"]
    assert beside == at_once


def test_whoever_loads_waits_for_what_is_being_saved_and_goes_on_alike(tmp_path: Path) -> None:
    straight, resumed = learner(False), learner(True)
    train(straight, tmp_path / "straight")
    train(resumed, tmp_path / "resumed")
    assert resumed.load(tmp_path / "resumed" / "step-0003") == Progress(step=3, episodes=3)
    for one in (straight, resumed):
        one.clone(SAMPLES, 1e-2, 1000, "comb")
    after = resumed.weights()
    assert all(torch.equal(value, after[name]) for name, value in straight.weights().items())


def test_one_thing_is_done_at_a_time_and_what_it_raises_is_raised_by_the_next_call() -> None:
    background, free, seen = Background(), threading.Event(), list[str]()

    def first() -> None:
        free.wait(60)
        seen.append("first")

    def fail() -> None:
        raise UserError("cannot write")

    background.begin(first)
    assert seen == []
    free.set()
    background.begin(lambda: seen.append("second"))
    assert seen[0] == "first"
    background.begin(fail)
    with pytest.raises(UserError, match="cannot write"):
        background.begin(lambda: seen.append("never"))
    background.finish()
    assert seen == ["first", "second"]


def test_a_full_disk_is_told_by_the_next_call_and_the_last_checkpoint_stays(tmp_path: Path) -> None:
    roomy = learner(False)
    train(roomy, tmp_path / "roomy")
    size = sum(path.stat().st_size for path in (tmp_path / "roomy" / "step-0001").iterdir())
    with small_disk(tmp_path / "small", kib=size * 3 // 2 // 1024) as small:
        one = learner(True)
        one.clone(SAMPLES, 1e-2, 1000, "comb")
        one.save(small / "checkpoints", Progress(step=2), 9, None)
        one.save(small / "checkpoints", Progress(step=3), 9, None)
        with pytest.raises(UserError, match=r"cannot write .*step-0003.*make room"):
            one.finish_saving()
        one.finish_saving()
        assert [path.name for path in (small / "checkpoints").iterdir()] == ["step-0002"]


def test_a_kill_while_saving_leaves_the_checkpoint_before(tmp_path: Path) -> None:
    root = tmp_path / "checkpoints"
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "killed_saving.py"), str(root)], capture_output=True, text=True, timeout=110
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert (root / ".partial-step-0002").is_dir()
    assert checkpoint.latest(root) == root / "step-0001"
    assert not checkpoint.find_fault(root / "step-0001")


def test_copies_on_the_host_do_not_change_with_what_they_are_of() -> None:
    weight = torch.ones(3, requires_grad=True)
    copied = on_host({"weight": weight})["weight"]
    with torch.no_grad():
        weight.add_(1)
    assert copied.tolist() == [1, 1, 1]
    assert not copied.requires_grad


def test_on_a_cluster_it_is_refused() -> None:
    settings = ["learner.save_async=true", "cluster.address=auto"]
    for recipe, spec in (("clone", clone_spec), ("reinforce", lambda config: reinforce_spec(config, "tiny"))):
        with pytest.raises(UserError, match=r"learner\.save_async: a cluster's learner"):
            spec(load_config(None, settings, recipe))

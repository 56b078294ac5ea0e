"""FSDP2 in two processes (gloo, CPU) learns what one process learns."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from commands import call
from sharded_step import OPTIONS, new_learner, train, weights
from tiny import make_trajectory, make_turn, save, tiny_model, tiny_tokenizer

from clickgrad.cli import main
from clickgrad.codec import to_plain
from clickgrad.learn.ranks import ALONE, Ranks
from clickgrad.policy.models import load_model
from clickgrad.report.metrics import Metrics
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Sample

SUPPORT = Path(__file__).parents[1] / "support"


def make_samples(count: int) -> list[Sample]:
    rng = random.Random(3)
    samples = []
    for index in range(count):
        ids = tuple(rng.randrange(1, 60) for _ in range(rng.randrange(12, 30)))
        logprobs = tuple(-3 - rng.random() for _ in range(4))
        samples.append(Sample((1, 2, 3, *ids), 4, logprobs, 1.0 if index % 3 else -1.0, 1 / count))
    return samples


def test_the_example_of_the_docstring() -> None:
    assert Ranks(0, 2).share("abc") == [(0, "a", 2.0), (2, "c", 2.0)]
    assert Ranks(1, 2).share("abc") == [(1, "b", 2.0), (3, "a", 0.0)]
    assert ALONE.share("abc") == [(0, "a", 1.0), (1, "b", 1.0), (2, "c", 1.0)]


CASES = {  # turns, the rank of the adapter, whether the two processes compute layers again instead of keeping them
    "full": (9, 0, False),
    "adapter": (9, 4, False),
    "fewer than processes": (1, 0, False),
    "full, recomputed": (9, 0, True),
    "adapter, recomputed": (9, 4, True),
}


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes made of each case, in a folder of its name."""
    folder = tmp_path_factory.mktemp("together")
    cases = {
        name: {"lora_rank": rank, "recompute": again, "samples": [to_plain(sample) for sample in make_samples(count)]}
        for name, (count, rank, again) in CASES.items()
    }
    (folder / "cases.json").write_text(json.dumps(cases))
    run_in_two([str(SUPPORT / "sharded_step.py"), str(folder)])
    return folder


@pytest.mark.parametrize("case", CASES)
def test_two_processes_equal_one(tmp_path: Path, together: Path, case: str) -> None:
    count, lora_rank, _ = CASES[case]
    samples, target = make_samples(count), together / case
    result = torch.load(target / "result.pt")

    learner = new_learner(lora_rank, ALONE)
    alone = train(learner, samples, tmp_path / "alone")
    for one, other in zip(alone["figures"], result["figures"], strict=True):
        assert other == pytest.approx(one, rel=1e-4, abs=1e-6)
    assert result["loss"] == pytest.approx(alone["loss"], rel=1e-4)
    assert result["values"] == pytest.approx(alone["values"], rel=1e-3)
    assert_close(result["trained"], alone["trained"])
    for name, value in result["trained"].items():  # to the bit: going on from a checkpoint is going on
        assert torch.equal(result["resumed"][name], value), name

    learner.load(target / "step-0002")  # what several wrote, one process can go on from
    learner.update(samples, OPTIONS)
    assert_close(weights(learner), result["trained"])
    exported = load_model(str(target / "exported"))
    assert_close(dict(exported.model.named_parameters()), result["trained"])
    pushed = "adapter_model.safetensors" if lora_rank else "model.safetensors"
    assert (target / "pushed" / pushed).stat().st_size == (tmp_path / "alone" / "pushed" / pushed).stat().st_size


def test_a_rank_ends_without_the_teardown_in_which_gloo_aborts(together: Path) -> None:
    assert not (together / "teardown").exists()


def test_a_recipe_under_torchrun_learns_what_one_process_learns(tmp_path: Path) -> None:
    model = save(tiny_model(tiny_tokenizer(["Task: Choose. a line exit yes no maybe"])), tmp_path / "tiny")
    replies = [f'exit(message="{word}")' for word in ("yes", "no", "maybe", "later", "never")]
    demos = [make_trajectory([make_turn((), (), text=reply)], 1.0, episode=reply) for reply in replies]
    TrajectoryFile(tmp_path / "demos.jsonl.zst").extend(demos)
    settings = [f"model.path={model}", "lora.rank=4", "clone.batch=2", "clone.epochs=2", "clone.held_out=0.2"]
    words = ["clone", "--demos", str(tmp_path / "demos.jsonl.zst")]
    words += [word for setting in settings for word in ("--set", setting)]
    run_in_two(["-m", "--", "clickgrad", *words, "--run", str(tmp_path / "two")])
    done = call([*words, "--run", str(tmp_path / "one")], tmp_path)
    assert done.returncode == 0, done.stderr
    one, two = (load_model(str(tmp_path / name / "model")).model for name in ("one", "two"))
    assert_close(dict(two.named_parameters()), dict(one.named_parameters()))
    rows = [Metrics(tmp_path / name / "metrics.jsonl").read() for name in ("one", "two")]
    assert len(rows[0]) == len(rows[1]) > 2
    for mine, other in zip(*rows, strict=True):
        assert other["loss"] == pytest.approx(mine["loss"], rel=1e-4)
    for mine, other in zip(*([row for row in one if row["held_out_loss"]] for one in rows), strict=True):
        assert other["held_out_loss"] == pytest.approx(mine["held_out_loss"], rel=1e-4)


def test_a_command_that_trains_nothing_refuses_torchrun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["prove"]) == 2
    assert "`clickgrad prove` trains nothing: start it without torchrun" in capsys.readouterr().err


def assert_close(ours: dict[str, torch.Tensor], others: dict[str, torch.Tensor]) -> None:
    assert ours.keys() == others.keys()
    for name, value in ours.items():
        torch.testing.assert_close(value, others[name], rtol=0, atol=2e-5)


def run_in_two(arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr

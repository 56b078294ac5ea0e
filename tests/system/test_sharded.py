"""FSDP2 in two processes (gloo, CPU) learns what one process learns."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from sharded_step import train

from clickgrad.codec import to_plain
from clickgrad.learn.crew import ALONE, Crew
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
    assert Crew(0, 2).share("abc") == [(0, "a", 2.0), (2, "c", 2.0)]
    assert Crew(1, 2).share("abc") == [(1, "b", 2.0), (3, "a", 0.0)]
    assert ALONE.share("abc") == [(0, "a", 1.0), (1, "b", 1.0), (2, "c", 1.0)]


@pytest.mark.parametrize("count", [9, 1])  # an odd number of micro-batches, and fewer than processes
def test_two_processes_equal_one(tmp_path: Path, count: int) -> None:
    samples = make_samples(count)
    source, target = tmp_path / "samples.json", tmp_path / "trained.pt"
    source.write_text(json.dumps([to_plain(sample) for sample in samples]))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(SUPPORT / "sharded_step.py"), str(source), str(target)],
        env=environment, capture_output=True, text=True, timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    together = torch.load(target)
    alone, figures = train(samples, ALONE)
    for one, other in zip(figures, together["figures"], strict=True):
        assert other == pytest.approx(one, rel=1e-4, abs=1e-6)
    for name, value in alone.items():
        torch.testing.assert_close(together["weights"][name], value, rtol=0, atol=2e-5)

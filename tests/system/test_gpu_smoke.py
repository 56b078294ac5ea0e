"""`clickgrad doctor --gpu --smoke` where there is no GPU: two processes take one step with a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import call


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_smoke_takes_one_step_and_prints_its_figures(tmp_path: Path) -> None:
    done = call(["doctor", "--gpu", "--smoke", "--json"], tmp_path)
    assert done.returncode == 0, done.stdout
    smoke = json.loads(done.stdout)["smoke"]
    print(smoke)
    assert (smoke["engine"], smoke["learners"]) == ("torch", 2)
    assert smoke["episodes"] >= 16
    assert smoke["grad_norm"] > 0

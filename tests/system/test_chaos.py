"""A short storm: the same command with more episodes and all kinds of faults is `clickgrad bench chaos`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run

KINDS = ("browser-kill", "driver-kill", "engine-raise", "run-kill", "weights-flip", "trajectories-flip")
TOTALS = ("hangs", "orphans", "false_rewards", "lost_episodes", "wrong_denominators", "differs_after_resume")


@pytest.mark.timeout(900)  # 80 seconds on two idle cores
def test_a_run_outlives_a_storm_and_nothing_in_its_folder_is_wrong_afterwards(tmp_path: Path) -> None:
    words = ["bench", "chaos", "--episodes", "28", "--seed", "3", "--kinds", ",".join(KINDS), "--json"]
    done = run([*words, "--keep", "storm"], tmp_path, wait_s=880)
    told = json.loads(done.stdout)
    journal = (tmp_path / "storm" / "journal.txt").read_text()
    assert {name: told[name] for name in TOTALS} == dict.fromkeys(TOTALS, 0), (told["findings"], journal)
    assert set(told["kinds"]) == set(KINDS), journal  # two steps of training: weights lie there for a whole rollout
    assert all(one["survived"] == one["injected"] for one in told["kinds"].values()), (told["findings"], journal)
    assert told["injected"] == sum(one["injected"] for one in told["kinds"].values()) >= len(KINDS)
    assert done.returncode == 0


def test_a_kind_that_does_not_exist_is_named(tmp_path: Path) -> None:
    done = run(["bench", "chaos", "--kinds", "browser-tickle"], tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("clickgrad: --kinds: there is no 'browser-tickle'; there are browser-kill, ")
    assert list(tmp_path.iterdir()) == []

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tiny import make_task, make_trajectory

from clickgrad.config import ReinforceSection
from clickgrad.errors import UserError
from clickgrad.learn.progress import Progress
from clickgrad.recipes.clock import Clock
from clickgrad.recipes.probing import Probe, gain, is_worse, set_aside
from clickgrad.recipes.reinforce import WORSE, is_over
from clickgrad.report.stats import Pairs
from clickgrad.rollout.scheduler import Bounds
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import probe_trajectories
from clickgrad.types import Trajectory

TASKS = [replace(make_task(f"t{number}"), template=f"kind{number % 3}") for number in range(12)]


def played(*rewards: float | None) -> list[Trajectory]:
    return [make_trajectory((), reward, task) for task, reward in zip(TASKS, rewards, strict=False)]


def test_tasks_set_aside_are_of_all_templates_and_not_trained_on() -> None:
    trained, probed = set_aside(TASKS, 5, seed=3)
    assert Counter(task.template for task in probed) == {"kind0": 2, "kind1": 2, "kind2": 1}
    assert sorted(task.id for task in (*trained, *probed)) == sorted(task.id for task in TASKS)
    assert set_aside(TASKS, 5, seed=3) == (trained, probed)
    assert set_aside(TASKS, 5, seed=4)[1] != probed
    with pytest.raises(UserError, match="only 12 training tasks"):
        set_aside(TASKS, 12, seed=3)


def test_a_probe_is_compared_task_by_task_where_both_were_judged() -> None:
    before, after = played(1, 1, 0, 0, None, 1), played(1, 0, 1, 0, 1, None)
    assert gain(before, after) == Pairs(both=1, only_a=1, only_b=1, neither=1)


def test_damage_to_the_first_probe_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = TrajectoryFile(probe_trajectories(tmp_path, 0))
    file.extend(played(1, 0))
    content = bytearray(file.path.read_bytes())
    content[len(content) // 4] ^= 1
    file.path.write_bytes(content)
    assert Probe(tmp_path, TASKS[:2], 1, Bounds(1, 0), 0).first() == played(1, 0)[1:]
    assert f"{file.path} is damaged" in capsys.readouterr().err


def test_six_lost_and_none_gained_end_a_run_and_five_do_not() -> None:
    """p = 2 / 2^6 = 0.031 and 2 / 2^5 = 0.0625."""
    assert is_worse(Pairs(3, 6, 0, 3))
    assert not is_worse(Pairs(3, 5, 0, 4))
    assert not is_worse(Pairs(3, 0, 6, 3))


def test_a_run_is_over_after_its_steps_when_its_time_is_spent_or_when_it_got_worse() -> None:
    options = ReinforceSection(steps=5, minutes=2)
    assert not is_over(Progress(step=4, spent_s=119), options)
    assert is_over(Progress(step=4, spent_s=120), options)
    assert not is_over(Progress(step=4, spent_s=120), ReinforceSection(steps=5, minutes=3)), "more time was given"
    assert not is_over(Progress(step=4, spent_s=1e6), ReinforceSection(steps=5)), "no limit"
    assert is_over(Progress(step=5), options)
    assert is_over(Progress(step=1, ended=WORSE), options)


@pytest.mark.parametrize("kind", ["wall", "cpu"])
def test_a_clock_goes_on_where_the_sitting_before_ended(kind: str) -> None:
    clock = Clock(kind, 40.0)  # type: ignore[arg-type]
    first = clock.spent_s
    sum(range(10**6))
    assert 40.0 <= first <= clock.spent_s < 100.0

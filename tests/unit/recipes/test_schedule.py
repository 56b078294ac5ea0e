from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest
from tiny import make_task

from clickgrad.algorithms.sequence import TaskSequence
from clickgrad.recipes.clone import schedule


def test_the_rate_rises_linearly_then_falls_as_a_cosine() -> None:
    """Ten steps, a fifth of them warm-up: 1/2, 1, then cos from 1 towards 0 over the other eight."""
    rates = [schedule(step, 10, 0.2) for step in range(1, 11)]
    assert rates[:2] == [0.5, 1.0]
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert 0 < rates[-1] < 0.1
    assert schedule(1, 1, 0.0) == 1.0


def test_an_epoch_repeats_no_task_and_the_next_has_another_order() -> None:
    tasks = [make_task(f"t{number}") for number in range(20)]
    first = [TaskSequence(tasks, 3).at(index).id for index in range(20)]
    second = [TaskSequence(tasks, 3).at(index).id for index in range(20, 40)]
    assert sorted(first) == sorted(second) == sorted(task.id for task in tasks)
    assert first != second
    assert first == [TaskSequence(tasks, 3).at(index).id for index in range(20)]
    assert first != [TaskSequence(tasks, 4).at(index).id for index in range(20)]


def coming(records: dict[str, tuple[int, int]], curriculum: bool) -> list[str]:
    tasks = [replace(make_task(f"{name}.0"), template=name) for name in ("hard", "half", "easy", "new")]
    sequence = TaskSequence(tasks, 0, curriculum)
    return [task.template for _, task in islice(sequence.after(0, records), 400)]


def test_a_curriculum_prefers_templates_solved_half_of_the_time() -> None:
    records = {"hard": (0, 8), "half": (4, 8), "easy": (8, 8)}
    plain, chosen = Counter(coming(records, curriculum=False)), Counter(coming(records, curriculum=True))
    assert set(plain.values()) == {100}
    assert chosen["half"] == pytest.approx(chosen["new"], abs=1)
    assert 0.1 < chosen["hard"] / chosen["half"] < 0.4  # one time in four
    assert 0.1 < chosen["easy"] / chosen["half"] < 0.4
    assert coming(records, curriculum=True) == coming(records, curriculum=True)

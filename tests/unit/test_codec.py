from __future__ import annotations

import json

import pytest
from tiny import make_trajectory, make_turn

from clickgrad.codec import CodecError, from_plain, to_plain
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import AnswerCheck, Click, Task, Trajectory


def through_json(value: object) -> object:
    return json.loads(json.dumps(to_plain(value)))


def test_every_bundled_task_survives_json() -> None:
    for task in load_tasks("pocket", "all"):
        assert from_plain(Task, through_json(task)) == task


def test_a_trajectory_survives_json() -> None:
    trajectory = make_trajectory([make_turn([1, 2], [3], [-0.5])], 1.0)
    assert from_plain(Trajectory, through_json(trajectory)) == trajectory


def test_members_of_a_union_carry_their_class() -> None:
    assert to_plain(Click(3)) == {"is": "Click", "element": 3}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"is": "Click"}, "expected AnswerCheck, found Click"),
        ({"expected": ["a"], "mod": 1}, "unknown field 'mod'"),
        ({}, "field 'expected' is missing"),
        ({"expected": "a"}, r"AnswerCheck\.expected: expected a list"),
        ({"expected": ["a", 3]}, r"AnswerCheck\.expected\[1\]: expected str, found int"),
        ({"expected": ["a"], "mode": "fuzzy"}, "'fuzzy' is none of 'exact', 'includes'"),
        ([], "expected an object"),
    ],
)
def test_anything_else_is_refused_and_says_where(data: object, message: str) -> None:
    with pytest.raises(CodecError, match=message):
        from_plain(AnswerCheck, data)

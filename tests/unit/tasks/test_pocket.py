"""The suite as a whole: its sizes, its ladder, and what no task may be solved by."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from clickgrad.codec import to_plain
from clickgrad.tasks import judge, load_tasks
from clickgrad.tasks.pocket import TEMPLATES
from clickgrad.types import AnswerCheck, Evidence, Outcome, StateCheck

TASKS = load_tasks("pocket", "all")
UNSEEN = load_tasks("pocket-unseen", "all")
HOME = {"forum": 19, "code": 30, "admin": 35, "map": 26, "shop": 45, "multi": 10}  # test tasks, as in the paper


def test_the_suite_has_the_papers_proportions() -> None:
    assert Counter(task.split for task in TASKS) == {"train": 647, "test": 165, "demo": 1186}
    assert Counter(task.template.partition(".")[0] for task in TASKS if task.split == "test") == HOME
    assert len({task.template for task in TASKS}) == 100


def test_unseen_tasks_come_from_templates_of_their_own() -> None:
    assert len(UNSEEN) >= 60
    assert not {task.template for task in UNSEEN} & {task.template for task in TASKS}
    assert {task.template for task in (*TASKS, *UNSEEN)} == {template.full_name for template in TEMPLATES}


def test_every_template_is_in_training_and_no_task_is_twice() -> None:
    splits: dict[str, set[str]] = {}
    for task in TASKS:
        splits.setdefault(task.template, set()).add(task.split)
    assert all("train" in found and "demo" in found for found in splits.values())
    keys = Counter((task.intent, task.start_url, task.user) for task in (*TASKS, *UNSEEN))
    assert keys.most_common(1)[0][1] == 1
    assert len({task.id for task in (*TASKS, *UNSEEN)}) == len(TASKS) + len(UNSEEN)


@pytest.mark.parametrize("split", ["train", "test", "demo"])
def test_the_suite_is_a_ladder(split: str) -> None:
    turns = [task.expert_turns or 0 for task in TASKS if task.split == split]
    shares = [sum(low <= count <= high for count in turns) / len(turns) for low, high in ((1, 3), (4, 7), (8, 99))]
    assert all(0.27 <= share <= 0.4 for share in shares)
    assert min(turns) >= 1


def test_intents_are_short_and_tell_nothing_of_the_machinery() -> None:
    for task in (*TASKS, *UNSEEN):
        assert 3 <= len(task.intent.split()) <= 50, task.intent
        assert "{fact" not in task.intent
        assert "None" not in task.intent


@pytest.mark.parametrize("answer", [None, ""])
def test_doing_nothing_solves_no_task(answer: str | None) -> None:
    for task in (*TASKS, *UNSEEN):
        evidence = Evidence(answer, task.start_urls[0], "", ())
        assert judge(task, evidence).outcome is Outcome.FAILED, task.id


def test_saying_it_cannot_be_done_pays_only_where_it_cannot() -> None:
    passed = [
        task for task in TASKS if judge(task, Evidence("N/A", task.start_urls[0], "", ())).outcome is Outcome.PASSED
    ]
    assert 0.01 < len(passed) / len(TASKS) < 0.1
    for task in passed:
        (expected,) = (check.expected for check in task.checks if isinstance(check, AnswerCheck))
        assert "N/A" in expected


def test_no_single_answer_is_right_very_often() -> None:
    answers = Counter(
        check.expected[0].lower() for task in TASKS for check in task.checks if isinstance(check, AnswerCheck)
    )
    del answers["n/a"]
    assert answers.most_common(1)[0][1] / answers.total() < 0.05


def test_what_only_asks_must_leave_the_world_alone() -> None:
    for task in (*TASKS, *UNSEEN):
        kinds = {type(check) for check in task.checks}
        assert StateCheck in kinds, task.id


HASH = """
import hashlib, json
from clickgrad.codec import to_plain
from clickgrad.tasks import load_tasks
plain = [to_plain(task) for suite in ("pocket", "pocket-unseen") for task in load_tasks(suite, "all")]
print(hashlib.sha256(json.dumps(plain).encode()).hexdigest())
"""


def test_the_tasks_are_the_same_in_every_process() -> None:
    plain = [to_plain(task) for task in (*TASKS, *UNSEEN)]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", HASH], env=environment, capture_output=True, text=True, check=True, timeout=110
    )
    assert done.stdout.strip() == hashlib.sha256(json.dumps(plain).encode()).hexdigest()

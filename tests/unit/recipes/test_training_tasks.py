"""Which tasks are trained on, and in which order, with the preset that trains on all of them."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from tiny import make_trajectory

from clickgrad.algorithms.collecting import Collected
from clickgrad.algorithms.protocol import Group, GroupPlan
from clickgrad.algorithms.sequence import TaskSequence
from clickgrad.backends.tasks import training_tasks
from clickgrad.config import load_config
from clickgrad.errors import UserError
from clickgrad.learn.progress import Progress


def test_tasks_that_take_more_turns_than_there_are_are_not_trained_on(capsys: pytest.CaptureFixture[str]) -> None:
    config = load_config("pocket-cpu", [], "train")
    tasks = training_tasks(config)
    assert len(tasks) == 647 - 97
    assert max(task.expert_turns or 0 for task in tasks) == config.agent.max_turns == 10
    assert "97 of 647 training tasks take more than agent.max_turns=10" in capsys.readouterr().out


def test_a_limit_that_no_training_task_keeps_to_is_refused() -> None:
    with pytest.raises(UserError, match=r"more than agent\.max_turns=1 turns"):
        training_tasks(load_config("quick", ["agent.max_turns=1"], "reinforce"))


def test_the_curriculum_acts_though_no_task_comes_twice() -> None:
    """Templates of the forum always fail, all others pass half of the time: those are drawn four times as often."""
    config = load_config("pocket-cpu", [], "train")
    tasks = training_tasks(config, tell=lambda _: None)
    groups = []
    for index, task in enumerate(tasks[::2]):
        rewards = (0.0, 0.0) if task.sites == ("forum",) else (0.0, 1.0)
        members = tuple(make_trajectory([], reward, task, f"{task.id}/{reward}") for reward in rewards)
        groups.append(Group(GroupPlan(index, task, 2), members))
    after = Collected(tuple(groups), (), (), (), 0.0).after(Progress())
    assert set(after.records) == {task.template for task in tasks[::2]}
    drawn = [
        task
        for _, task in islice(
            TaskSequence(tasks, config.seed, curriculum=True).after(after.tasks_taken, after.records), 400
        )
    ]
    forum = {task.template for task in tasks if task.sites == ("forum",)} & set(after.records)
    shares = Counter(task.template in forum for task in drawn)
    all_of_them = sum(task.template in forum for task in tasks) / len(tasks)
    assert shares[True] / 400 < all_of_them / 2

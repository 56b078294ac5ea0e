from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from clickgrad.tasks import judge
from clickgrad.tasks.map import MAP_TEMPLATES
from clickgrad.tasks.map.picks import clock, lengths, spans, times
from clickgrad.tasks.templates import deal
from clickgrad.types import AnswerCheck, Evidence, Outcome, StateCheck, Task, UrlCheck
from clickgrad.worlds.map.data import map_data

TRAINED = [template for template in MAP_TEMPLATES if not template.unseen]
UNSEEN = [template for template in MAP_TEMPLATES if template.unseen]


@cache
def tasks(seed: int) -> tuple[Task, ...]:
    trained = deal(TRAINED, seed, {"train": 30 * len(TRAINED)}, "pocket")
    return (*trained, *deal(UNSEEN, seed, {"test": 12 * len(UNSEEN)}, "pocket-unseen"))


def check_of(task: Task, kind: type) -> object:
    return next((check for check in task.checks if isinstance(check, kind)), None)


@pytest.mark.parametrize("seed", range(3))
def test_every_template_has_enough_drafts_and_no_two_are_alike(seed: int) -> None:
    assert (len(TRAINED), len(UNSEEN)) == (14, 3)
    assert len({(task.intent, task.start_url, task.user) for task in tasks(seed)}) == 30 * 14 + 12 * 3


@pytest.mark.parametrize("seed", range(3))
def test_everything_a_task_speaks_of_exists(seed: int) -> None:
    data = map_data(seed)
    names, emails = {place.name for place in data.places}, {user.email for user in data.users}
    for task in tasks(seed):
        params = dict(task.params)
        assert task.user in emails
        spoken = {str(params[letter]) for letter in "abcdef" if letter in params}
        assert spoken.isdisjoint(names) if params.get("kind") == "no place" else spoken <= names, task.id
        assert all(name in task.intent for name in spoken), task.id
        assert len(task.intent.split()) <= 40, task.intent


def test_the_ladder_has_short_middle_and_long_tasks_in_equal_parts() -> None:
    turns = [task.expert_turns or 0 for task in tasks(0) if task.split == "train"]
    parts = [sum(low <= count <= high for count in turns) / len(turns) for low, high in ((1, 3), (4, 7), (8, 20))]
    assert all(0.29 <= part <= 0.38 for part in parts), parts
    assert sum(parts) == pytest.approx(1)


def test_answers_are_varied_so_that_no_single_guess_pays() -> None:
    asked = [task for task in tasks(0) if task.template != "map.unachievable" and check_of(task, AnswerCheck)]
    answers = Counter(check.expected for task in asked if isinstance(check := check_of(task, AnswerCheck), AnswerCheck))
    assert answers.most_common(1)[0][1] <= 0.05 * len(asked)


@pytest.mark.parametrize("answer", [None, "", "done"])
def test_doing_nothing_solves_no_task(answer: str | None) -> None:
    for task in tasks(0):
        assert judge(task, Evidence(answer, task.start_url, "", ())).outcome is Outcome.FAILED, task.id


def test_only_what_cannot_be_done_is_not_available() -> None:
    for task in tasks(0):
        outcome = judge(task, Evidence("N/A", task.start_url, "", ())).outcome
        assert (outcome is Outcome.PASSED) == (task.template == "map.unachievable"), task.id


def test_an_answer_does_not_count_when_something_was_changed() -> None:
    change = next(
        check for task in tasks(0) for check in task.checks if isinstance(check, StateCheck) and check.changes
    )
    for task in tasks(0):
        check = check_of(task, AnswerCheck)
        if isinstance(check, AnswerCheck):
            answer = ", ".join(check.expected) if check.mode == "includes" else check.expected[0]
            right = Evidence(answer, task.start_url, "", ())
            assert judge(task, right).outcome is Outcome.PASSED
            assert judge(task, replace(right, changes=change.changes)).outcome is Outcome.FAILED


@pytest.mark.parametrize("template", [template.full_name for template in MAP_TEMPLATES])
def test_anothers_end_does_not_solve_this_task(template: str) -> None:
    own = [task for task in tasks(0) if task.template == template]
    ends = [_end(task) for task in own]
    for task, right in zip(own, ends, strict=True):
        assert judge(task, right).outcome is Outcome.PASSED
        for other, end in zip(own, ends, strict=True):
            if judge(task, end).outcome is Outcome.PASSED:
                assert task is other or _same_end(task, other), (task.id, other.id)


def _end(task: Task) -> Evidence:
    """What a right episode leaves."""
    answer, url, state = (check_of(task, kind) for kind in (AnswerCheck, UrlCheck, StateCheck))
    address = task.start_url
    if isinstance(url, UrlCheck):
        query = "&".join(f"{name}={value}" for name, value in url.query)
        address = f"http://map.localhost{url.path}?{query}"
    text = "done"
    if isinstance(answer, AnswerCheck):
        text = ", ".join(answer.expected) if answer.mode == "includes" else answer.expected[0]
    return Evidence(text, address, "", state.changes if isinstance(state, StateCheck) else ())


def _same_end(one: Task, other: Task) -> bool:
    """Two questions may have the same answer, in whatever spelling."""
    first, second = check_of(one, AnswerCheck), check_of(other, AnswerCheck)
    if isinstance(first, AnswerCheck) and isinstance(second, AnswerCheck):
        return bool(set(first.expected) & set(second.expected))
    return one.checks == other.checks


def test_answers_may_be_spelled_in_several_ways() -> None:
    assert {"72 min", "1 h 12 min", "1 hour 12 minutes", "72"} <= set(times(72))
    assert lengths(3_420)[:2] == ("3.4 km", "3.4")
    assert lengths(847) == ("850 m", "850 meters", "850 metres", "0.85 km")
    assert spans("9:00-14:00")[:2] == ("9:00-14:00", "9:00 - 14:00")
    assert "2 PM" in clock("14:00")
    assert "9:30 AM" in clock("9:30")

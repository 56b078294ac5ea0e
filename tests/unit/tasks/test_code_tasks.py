from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest

from clickgrad.tasks.checks import judge
from clickgrad.tasks.code import CODE_TEMPLATES
from clickgrad.tasks.code.ground import ground, listing, spread
from clickgrad.tasks.moves import ExpertLost
from clickgrad.tasks.near_misses import near_misses
from clickgrad.tasks.templates import Template, deal
from clickgrad.types import AnswerCheck, Evidence, Observation, Outcome, StateCheck, Task, UrlCheck
from clickgrad.worlds.code.data import code_data

TRAINED = [template for template in CODE_TEMPLATES if not template.unseen]
UNSEEN = [template for template in CODE_TEMPLATES if template.unseen]
SHARE = 18  # drafts of a template that the suite uses
DATA = code_data(0)


@cache
def tasks(template: Template, seed: int = 0) -> tuple[Task, ...]:
    return tuple(deal([template], seed, {"train": 12 if template.unseen else 24}, "pocket"))


def all_tasks() -> list[Task]:
    return [task for template in CODE_TEMPLATES for task in tasks(template)]


def end(task: Task) -> Evidence:
    """What an episode leaves that does exactly what the checks say."""
    evidence = Evidence("done", task.start_url, "", ())
    for check in task.checks:
        match check:
            case AnswerCheck(expected):
                evidence = replace(evidence, answer=expected[0])
            case UrlCheck(site, path, query):
                pairs = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in query if value)
                evidence = replace(evidence, url=f"http://{site}.localhost{path}?{pairs}")
            case StateCheck(changes):
                evidence = replace(evidence, changes=tuple(replace(c, key=c.key or 9999) for c in changes))
    return evidence


def outcome(task: Task, evidence: Evidence) -> Outcome:
    return judge(task, evidence).outcome


def test_there_are_twenty_templates_to_train_on_and_three_unseen() -> None:
    assert (len(TRAINED), len(UNSEEN)) == (20, 3)
    assert len({template.name for template in CODE_TEMPLATES}) == 23


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_template_has_enough_drafts_and_no_two_alike(seed: int) -> None:
    for template in CODE_TEMPLATES:
        found = tasks(template, seed)  # dealing refuses too few and two alike
        assert len({(task.intent, task.start_url, task.user) for task in found}) == len(found)
        assert max(len(task.intent.split()) for task in found) <= 40, template.name


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_ladder_has_a_third_short_a_third_middling_and_a_third_long_tasks(seed: int) -> None:
    turns = [task.expert_turns or 0 for template in TRAINED for task in tasks(template, seed)[:SHARE]]
    shares = [sum(low <= turn <= high for turn in turns) / len(turns) for low, high in ((1, 3), (4, 7), (8, 20))]
    assert all(0.28 <= share <= 0.38 for share in shares), shares
    assert sum(shares) == pytest.approx(1)
    assert 6 <= sum(turns) / len(turns) <= 7.5
    for cut in (3, 6, 9):  # the ladder holds wherever the drafts are cut
        early = [task.expert_turns or 0 for template in TRAINED for task in tasks(template, seed)[:cut]]
        assert 0.25 <= sum(turn >= 8 for turn in early) / len(early) <= 0.42


def test_everything_a_task_speaks_of_exists() -> None:
    emails = {user.email for user in DATA.code_users}
    projects = {project.name for project in DATA.code_projects}
    titles = {issue.title for issue in DATA.code_issues} | {item.title for item in DATA.code_merge_requests}
    people = {user.name for user in DATA.code_users}
    for task in all_tasks():
        params = dict(task.params)
        assert task.user in emails
        if task.template != "code.unachievable":
            assert {*str(params.get("projects") or params.get("project") or MANY).split("|")} <= projects | {MANY}
        assert {*str(params.get("titles") or MANY).split("|")} <= titles | {MANY}
        for name in ("assignee", "person", "author", "Assignee", "Author", "reviewer"):
            assert params.get(name) is None or params[name] in people, (task.id, name)


MANY = "-"  # stands for a parameter that a task does not have


def test_what_the_intent_asks_for_is_in_the_intent() -> None:
    hidden = {"kind", "tab", "sort", "fact", "button", "setting", "end", "state", "closed", "times", "number", "rank",
              "readme", "me", "file_name", "State", "Sort", "language"}  # fmt: skip
    for task in all_tasks():
        for name, value in task.params:
            here = name in ("project", "titles", "title", "projects", "person", "people", "color", "colors")
            if isinstance(value, str) and value and name not in hidden and not here:
                assert all(part.casefold() in task.intent.casefold() for part in value.split("|")), (task.id, name)


@pytest.mark.parametrize("answer", [None, "", "done", "N/A"])
def test_doing_nothing_solves_no_task(answer: str | None) -> None:
    for task in all_tasks():
        if task.template != "code.unachievable" or answer != "N/A":
            assert outcome(task, Evidence(answer, task.start_url, "", ())) is Outcome.FAILED, task.id


def test_the_end_that_the_checks_describe_passes_and_near_misses_fail() -> None:
    for task in all_tasks():
        done = end(task)
        assert outcome(task, done) is Outcome.PASSED, task.id
        changes = next((len(check.changes) for check in task.checks if isinstance(check, StateCheck)), 0)
        for what, evidence in near_misses(task, done) if changes < 20 else ():  # a fork has very many
            assert outcome(task, evidence) is Outcome.FAILED, (task.id, what)


def test_anothers_end_does_not_solve_this_task() -> None:
    for template in CODE_TEMPLATES:
        for task in tasks(template):
            for other in tasks(template)[:9]:
                solved = outcome(task, end(other)) is Outcome.PASSED
                assert solved == (task.checks == other.checks), (task.id, other.id)


def test_a_question_answered_rightly_fails_when_something_was_broken_on_the_way() -> None:
    asked = [task for task in all_tasks() if any(isinstance(check, AnswerCheck | UrlCheck) for check in task.checks)]
    assert len(asked) > 200
    for task in asked:
        assert any(isinstance(check, StateCheck) for check in task.checks), task.id


def test_answers_are_varied_so_that_no_single_guess_pays() -> None:
    for template in TRAINED:
        found = [c.expected for t in tasks(template) for c in t.checks if isinstance(c, AnswerCheck)]
        if template.name != "unachievable" and found:
            assert Counter(found).most_common(1)[0][1] <= max(2, 0.3 * len(found)), template.name


def test_only_one_template_cannot_be_done() -> None:
    impossible = {task.template for task in all_tasks() if AnswerCheck(("N/A",)) in task.checks}
    assert impossible == {"code.unachievable"}


@pytest.mark.parametrize("template", CODE_TEMPLATES, ids=lambda template: template.name)
def test_an_expert_on_a_strange_page_says_what_it_misses(template: Template) -> None:
    page = Observation("http://code.localhost/", "Elsewhere", (), ())
    with pytest.raises(ExpertLost, match=r"no \w+ .* on http://code\.localhost/"):
        next(template.script(tasks(template)[2], page))


def test_the_ground_knows_what_pages_show() -> None:
    land = ground(0)
    assert land.home(1) == tuple(sorted(p.name for p in land.projects if land.role(p, 1))[:6])
    listed = next(project for project in land.projects if project.name == land.home(1)[0])
    assert (land.to_project(listed), land.to_project(land.project(1), 60)) in ((1, 1), (1, 2))
    assert len(list(islice(land.unused_titles(), 50))) == 50
    assert (listing(["a"]), listing(["a", "b"]), listing(["a", "b", "c"])) == ("a", "a and b", "a, b and c")
    assert spread([1, 1, 1, 2, 3], key=lambda number: number) == [1, 2, 3, 1, 1]

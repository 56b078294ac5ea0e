from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice, product

import pytest

from clickgrad.tasks.checks import judge
from clickgrad.tasks.forum import FORUM_TEMPLATES
from clickgrad.tasks.forum.known import known
from clickgrad.tasks.near_misses import near_misses
from clickgrad.tasks.templates import Draft, Template, deal
from clickgrad.types import AnswerCheck, Evidence, Outcome, RowChange, StateCheck, Task, UrlCheck
from clickgrad.worlds.forum.data import forum_data

TRAINED = [template for template in FORUM_TEMPLATES if not template.unseen]
UNSEEN = [template for template in FORUM_TEMPLATES if template.unseen]
NAMES = [template.name for template in FORUM_TEMPLATES]


@cache
def drafts(template: Template, seed: int = 0) -> tuple[Draft, ...]:
    return tuple(islice(template.drafts(seed), 48))


@cache
def tasks(name: str) -> tuple[Task, ...]:
    template = next(one for one in FORUM_TEMPLATES if one.name == name)
    return tuple(deal([template], 0, {"train": len(drafts(template))}, "pocket"))


def outcome(task: Task, evidence: Evidence) -> Outcome:
    return judge(task, evidence).outcome


def end(task: Task) -> Evidence:
    """What an episode leaves that does exactly what the checks say."""
    answer, url, changes = "done", task.start_url, tuple[RowChange, ...]()
    for check in task.checks:
        match check:
            case AnswerCheck(expected, mode):
                answer = expected[0] if mode == "exact" else "; ".join(expected)
            case UrlCheck(site, path, query):
                url = f"http://{site}.localhost{path}?" + "&".join(f"{name}={value}" for name, value in query if value)
            case StateCheck():
                changes = tuple(replace(change, key=change.key or 9999) for change in check.changes)
    return Evidence(answer, url, "", changes)


def test_there_are_enough_templates_and_one_in_ten_at_most_cannot_be_done() -> None:
    assert (len(TRAINED), len(UNSEEN)) == (14, 3)
    assert len(set(NAMES)) == 17


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_template_has_enough_drafts_and_no_two_alike(seed: int) -> None:
    for template in FORUM_TEMPLATES:
        found = drafts(template, seed)
        assert len(found) >= (12 if template.unseen else 24), template.name
        assert len({(draft.intent, draft.start_path, draft.user) for draft in found}) == len(found)
        assert len({draft.intent for draft in found}) == len(found)
        assert all(len(draft.intent.split()) <= 40 for draft in found)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_third_of_the_tasks_is_short_a_third_middling_a_third_long(seed: int) -> None:
    dealt = tuple(deal(TRAINED, seed, {"train": 74, "test": 19, "demo": 137}, "pocket"))
    turns = [task.expert_turns or 0 for task in dealt]
    shares = [sum(low <= turn <= high for turn in turns) / len(turns) for low, high in ((1, 3), (4, 7), (8, 20))]
    assert all(0.25 <= share <= 0.42 for share in shares), shares
    assert 5.5 <= sum(turns) / len(turns) <= 8


@pytest.mark.parametrize("name", NAMES)
def test_everything_a_task_speaks_of_exists(name: str) -> None:
    data = forum_data(0)
    emails = {user.email for user in data.users}
    existing = {
        "post": {post.title for post in data.posts},
        "user": {user.username for user in data.users},
        "forum": {forum.name for forum in data.forums},
    }
    for task in tasks(name):
        assert task.user in emails
        for param, value in task.params:
            for kind, names in existing.items():
                if param in (kind, f"{kind}s"):
                    assert set(filter(None, str(value).split("|"))) <= names, task.intent


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_is_said_in_the_intent(name: str) -> None:
    """Experts may only use what the agent is told; `pattern` is how they read an answer, `kind` which way they go."""
    told = ("post", "posts", "user", "users", "forum", "forums", "title", "body", "url", "text", "subject", "author")
    for task in tasks(name):
        own = str(task.user).partition("@")[0]
        for param, value in task.params:
            if param in told and (name, param) != ("message", "subject"):
                for text in filter(None, str(value).split("|")):
                    assert text in task.intent or text == own, (task.intent, param)


@pytest.mark.parametrize("name", NAMES)
def test_doing_it_passes_and_nearly_doing_it_fails(name: str) -> None:
    for task in tasks(name):
        done = end(task)
        assert outcome(task, done) is Outcome.PASSED, task.intent
        for what, missed in near_misses(task, done):
            assert outcome(task, missed) is Outcome.FAILED, (task.intent, what)


@pytest.mark.parametrize("answer", [None, "", "done"])
def test_doing_nothing_solves_no_task(answer: str | None) -> None:
    for task in (task for name in NAMES for task in tasks(name)):
        assert outcome(task, Evidence(answer, task.start_url, "", ())) is Outcome.FAILED, task.intent


@pytest.mark.parametrize("name", NAMES)
def test_another_tasks_end_does_not_solve_this_one(name: str) -> None:
    ends = [(task, end(task)) for task in tasks(name)]
    for (task, _), (other, done) in product(ends[:24], ends[:24]):
        if outcome(task, done) is Outcome.PASSED:
            assert _ways(task) & _ways(other), (task.intent, other.intent)


def _ways(task: Task) -> set[object]:
    """What would pass: other spellings of an answer count as the same."""
    answers: set[object] = {text for check in task.checks if isinstance(check, AnswerCheck) for text in check.expected}
    return answers or {check for check in task.checks if not isinstance(check, AnswerCheck)}


def _answers(name: str) -> Iterator[tuple[str, ...]]:
    for task in tasks(name):
        yield from (check.expected for check in task.checks if isinstance(check, AnswerCheck))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "impossible"])
def test_answers_are_varied_so_that_no_single_guess_pays(name: str) -> None:
    answers = Counter(_answers(name))
    if answers:
        assert answers.most_common(1)[0][1] <= 0.25 * answers.total()


def test_votes_and_subscriptions_are_asked_for_only_where_they_are_missing() -> None:
    all_ = known(0)
    voted = {(vote.post_id, vote.user_id) for vote in all_.data.post_votes}
    joined = {(item.user_id, item.forum_id) for item in all_.data.subscriptions}
    for task in (*tasks("vote_post"), *tasks("subscribe")):
        for change in (change for check in task.checks if isinstance(check, StateCheck) for change in check.changes):
            row = dict(change.values)
            if change.table == "forum_post_votes" and change.op == "insert":
                assert (row["post_id"], row["user_id"]) not in voted
            elif change.table == "forum_subscriptions":
                assert ((row["user_id"], row["forum_id"]) in joined) == (change.op == "delete")

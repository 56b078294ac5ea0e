from collections import Counter
from functools import cache
from itertools import islice

import pytest

from clickgrad.tasks import judge
from clickgrad.tasks.admin import ADMIN_TEMPLATES
from clickgrad.tasks.admin.drafts import SEPARATOR, in_turn
from clickgrad.tasks.admin.records import records, stands_alone
from clickgrad.tasks.templates import Draft, Template, deal
from clickgrad.types import AnswerCheck, Evidence, Outcome, RowChange, StateCheck, Task, UrlCheck
from clickgrad.worlds.people import DEFAULT_USER

TRAINED = [template for template in ADMIN_TEMPLATES if not template.unseen]
UNSEEN = [template for template in ADMIN_TEMPLATES if template.unseen]
NEEDED = {False: 30, True: 12}  # drafts of a template, by whether it is unseen


@cache
def drafts(template: Template, seed: int) -> tuple[Draft, ...]:
    return tuple(islice(template.drafts(seed), NEEDED[template.unseen]))


@cache
def tasks() -> tuple[Task, ...]:
    trained = deal(TRAINED, 0, {"train": 22 * len(TRAINED)}, "pocket")
    return (*trained, *deal(UNSEEN, 0, {"test": 12 * len(UNSEEN)}, "pocket-unseen"))


def test_kinds_come_in_turn() -> None:
    assert "".join(in_turn("abc", "d", "ef")) == "adebfc"


def test_a_place_shared_with_a_neighbour_is_nobodys() -> None:
    ranking = [("a", 9), ("b", 7), ("c", 7), ("d", 1)]
    assert [stands_alone(ranking, rank) for rank in range(5)] == [True, False, False, True, False]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_template_has_enough_distinct_instances(seed: int) -> None:
    assert (len(TRAINED), len(UNSEEN)) == (20, 3)
    for template in ADMIN_TEMPLATES:
        own = drafts(template, seed)
        assert len({(draft.intent, draft.start_path, draft.user) for draft in own}) == NEEDED[template.unseen]
        assert {draft.user for draft in own} == {DEFAULT_USER}
        assert max(len(draft.intent.split()) for draft in own) <= 40


def test_the_same_seed_gives_the_same_instances() -> None:
    for template in ADMIN_TEMPLATES[::5]:
        assert drafts(template, 0)[:9] == tuple(islice(template.drafts(0), 9))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_third_of_the_tasks_is_short_a_third_long(seed: int) -> None:
    turns = [draft.expert_turns for template in TRAINED for draft in drafts(template, seed)[:21]]
    shares = Counter("short" if number <= 3 else "middle" if number <= 7 else "long" for number in turns)
    assert all(0.28 <= shares[size] / len(turns) <= 0.39 for size in ("short", "middle", "long"))
    assert 5.5 <= sum(turns) / len(turns) <= 7.5
    assert max(turns) <= 20


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_everything_a_task_speaks_of_exists(seed: int) -> None:
    book = records(seed)
    names = {
        "product": {item.name for item in book.data.products},
        "products": {name for item in book.data.products for name in (item.name, item.sku)},
        "orders": {str(order.id) for order in book.data.orders},
        "customers": {customer.name for customer in book.data.customers},
        "customer": {customer.name for customer in book.data.customers},
        "category": {category.name for category in book.data.categories},
        "promotion": {promotion.name for promotion in book.data.promotions},
        "terms": {term.term for term in book.data.search_terms},
    }
    for template in ADMIN_TEMPLATES:
        for draft in drafts(template, seed):
            for name, value in draft.params:
                if name in names and value is not None:
                    assert set(str(value).split(SEPARATOR)) <= names[name], draft.intent


def test_what_is_said_to_be_missing_is_missing() -> None:
    book = records(0)
    template = next(one for one in TRAINED if one.name == "missing")
    for draft in drafts(template, 0):
        params = dict(draft.params)
        if params["section"] == "Products":
            assert not book.products_found(str(params["search"]))
        elif params["section"] == "Orders":
            assert bool(book.orders_found(str(params["search"]))) == (params["needs"] is not None)
    answers = Counter(check for task in tasks() for check in task.checks if check == AnswerCheck(("N/A",)))
    assert answers.total() <= len(tasks()) / 10


def test_answers_are_varied_so_that_no_single_guess_pays() -> None:
    possible = [task for task in tasks() if task.template != "admin.missing"]
    answers = Counter(check.expected for task in possible for check in task.checks if isinstance(check, AnswerCheck))
    assert answers.most_common(1)[0][1] <= 0.1 * answers.total()


@pytest.mark.parametrize("answer", [None, "", "done"])
def test_doing_nothing_solves_no_task(answer: str | None) -> None:
    for task in tasks():
        assert judge(task, Evidence(answer, task.start_url, "", ())).outcome is Outcome.FAILED, task.id


def test_reading_tasks_fail_when_something_changed() -> None:
    changes = (RowChange("settings", "update", (("value", "x"),), 1),)
    for task in tasks():
        asked = task.checks[0]
        if isinstance(asked, AnswerCheck):
            answer = ", ".join(asked.expected) if asked.mode == "includes" else asked.expected[0]
            right = Evidence(answer, task.start_url, "", ())
            assert judge(task, right).outcome is Outcome.PASSED
            assert judge(task, Evidence(answer, task.start_url, "", changes)).outcome is Outcome.FAILED


def ending(task: Task) -> Evidence:
    """What the task's checks ask for, and no more."""
    answer, url = "done", task.start_url
    changes: tuple[RowChange, ...] = ()
    for check in task.checks:
        match check:
            case AnswerCheck(expected, mode):
                answer = ", ".join(expected) if mode == "includes" else expected[0]
            case UrlCheck(site, path, query):
                url = f"http://{site}.localhost{path}?" + "&".join(f"{name}={value}" for name, value in query)
            case StateCheck(changes):
                pass
    return Evidence(answer, url, "", changes)


def test_another_instances_end_does_not_solve_this_one() -> None:
    for template in ADMIN_TEMPLATES:
        own = [task for task in tasks() if task.template == template.full_name]
        for task in own:
            for other in own:
                passed = judge(task, ending(other)).outcome is Outcome.PASSED
                assert passed == (task.checks == other.checks), (task.intent, other.intent)

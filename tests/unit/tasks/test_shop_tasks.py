from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from clickgrad.tasks import judge, load_tasks
from clickgrad.types import AnswerCheck, Evidence, Outcome, StateCheck, Task
from clickgrad.worlds.shop.data import shop_data

DATA = shop_data(0)
TASKS = load_tasks("pocket", "all")
PRODUCT_IDS = {item.name: item.id for item in DATA.products}
OpenSession = Callable[[Task], Any]


def first(template: str, **params: object) -> Task:
    return next(
        task
        for task in TASKS
        if task.template == f"shop.{template}" and all(task.param(name) == value for name, value in params.items())
    )


def test_every_template_has_its_share_of_every_split() -> None:
    counts = Counter((task.template, task.split) for task in TASKS)
    assert len({template for template, _ in counts}) == 6
    assert {split: {counts[key] for key in counts if key[1] == split} for split in ("train", "test", "demo")} == {
        "train": {12}, "test": {12}, "demo": {40},
    }  # fmt: skip


def test_the_splits_share_no_parameters_and_no_intents() -> None:
    for one, other in combinations(("train", "test", "demo"), 2):
        mine = {task.intent for task in TASKS if task.split == one}
        assert not mine & {task.intent for task in TASKS if task.split == other and task.template != "shop.checkout"}
    for name in ("product", "order", "customer"):
        owners: dict[object, set[str]] = {}
        for task in TASKS:
            if name in dict(task.params):
                owners.setdefault(task.param(name), set()).add(task.split)
        assert owners
        assert all(len(splits) == 1 for splits in owners.values())


def test_everything_a_task_speaks_of_exists() -> None:
    orders = {order.id: order for order in DATA.orders}
    emails = {customer.email: customer.id for customer in DATA.customers}
    for task in TASKS:
        params = dict(task.params)
        assert task.user in emails
        assert "product" not in params or params["product"] in PRODUCT_IDS
        if "order" in params:
            assert orders[int(str(params["order"]))].customer_id == emails[task.user]


def test_intents_are_short_and_the_ladder_starts_low() -> None:
    assert max(len(task.intent.split()) for task in TASKS) <= 25
    turns = [task.expert_turns or 0 for task in TASKS]
    assert (min(turns), max(turns)) == (2, 6)
    for split in ("train", "test", "demo"):
        short = [(task.expert_turns or 0) <= 3 for task in TASKS if task.split == split]
        assert 0.5 <= sum(short) / len(short) <= 0.7


def test_answers_are_varied_so_that_no_single_guess_pays() -> None:
    answers = Counter(check.expected for task in TASKS for check in task.checks if isinstance(check, AnswerCheck))
    assert answers.most_common(1)[0][1] <= 0.1 * sum(answers.values())


@pytest.mark.parametrize("answer", [None, "", "done", "N/A"])
def test_doing_nothing_solves_no_task(answer: str | None) -> None:
    for task in TASKS:
        assert judge(task, Evidence(answer, task.start_url, "", ())).outcome is Outcome.FAILED, task.id


def test_another_tasks_answer_does_not_solve_this_one() -> None:
    asked = [task for task in TASKS if isinstance(task.checks[0], AnswerCheck)]
    answers = [task.checks[0].expected[0] for task in asked if isinstance(task.checks[0], AnswerCheck)]
    for task, own in zip(asked, answers, strict=True):
        for answer in set(answers) - {own}:
            outcome = judge(task, Evidence(answer, task.start_url, "", ())).outcome
            assert outcome is Outcome.FAILED, (task.id, answer)


def test_another_tasks_changes_do_not_solve_this_one() -> None:
    changing = [task for task in TASKS if isinstance(task.checks[0], StateCheck)]
    for task in changing:
        for other in changing:
            check = other.checks[0]
            assert isinstance(check, StateCheck)
            done = Evidence("done", task.start_url, "", tuple(replace(change) for change in check.changes))
            assert (judge(task, done).outcome is Outcome.PASSED) == (task.checks == other.checks)


def outcome(open_session: OpenSession, task: Task, *posts: tuple[str, Mapping[str, object]]) -> Outcome:
    session = open_session(task)
    for path, form in posts:
        session.go("POST", path, {name: str(value) for name, value in form.items()})
    return judge(task, session.evidence("done")).outcome


def test_a_cart_with_a_wrong_quantity_product_or_addition_fails(open_session: OpenSession) -> None:
    task = first("add_to_cart")
    other = first("add_to_cart", quantity=5)
    mine, theirs = (f"/product/{PRODUCT_IDS[str(one.param('product'))]}/cart" for one in (task, other))
    right = (mine, {"quantity": task.param("quantity")})
    assert outcome(open_session, task, right) is Outcome.PASSED
    assert outcome(open_session, task, (mine, {"quantity": 2})) is Outcome.FAILED
    assert outcome(open_session, task, (theirs, {"quantity": 1})) is Outcome.FAILED
    assert outcome(open_session, task, right, right) is Outcome.FAILED
    assert outcome(open_session, task, right, (theirs, {"quantity": 1})) is Outcome.FAILED
    assert outcome(open_session, task, (mine, {"quantity": "none"})) is Outcome.FAILED


def test_a_checkout_with_a_wrong_method_or_a_changed_cart_fails(open_session: OpenSession) -> None:
    task = first("checkout", shipping="Express", payment="Gift Card")
    cart = next(item for item in DATA.cart_items if DATA.customers[item.customer_id - 1].email == task.user)
    right = ("/checkout", {"shipping": "Express", "payment": "Gift Card"})
    assert outcome(open_session, task, right) is Outcome.PASSED
    assert (
        outcome(open_session, task, ("/checkout", {"shipping": "Express", "payment": "Credit Card"})) is Outcome.FAILED
    )
    assert (
        outcome(open_session, task, ("/checkout", {"shipping": "Standard", "payment": "Gift Card"})) is Outcome.FAILED
    )
    assert outcome(open_session, task, (f"/cart/{cart.id}/update", {"quantity": 7}), right) is Outcome.FAILED
    assert outcome(open_session, task, right, ("/product/1/cart", {"quantity": 1})) is Outcome.FAILED
    assert outcome(open_session, task, (f"/cart/{cart.id}/remove", {})) is Outcome.FAILED


def test_a_review_with_wrong_stars_title_text_or_product_fails(open_session: OpenSession) -> None:
    task = next(one for one in TASKS if one.template == "shop.write_review" and one.param("text"))
    form = {name: task.param(name) for name in ("stars", "title", "text")}
    path = f"/product/{PRODUCT_IDS[str(task.param('product'))]}/review"
    other_stars = 1 if task.param("stars") == 5 else 5
    assert outcome(open_session, task, (path, form)) is Outcome.PASSED
    assert outcome(open_session, task, (path, form | {"stars": other_stars})) is Outcome.FAILED
    assert outcome(open_session, task, (path, form | {"title": f"{form['title']}!"})) is Outcome.FAILED
    assert outcome(open_session, task, (path, form | {"text": ""})) is Outcome.FAILED
    assert outcome(open_session, task, ("/product/1/review", form)) is Outcome.FAILED
    assert outcome(open_session, task, (path, form), (path, form)) is Outcome.FAILED

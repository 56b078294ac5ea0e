from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations, islice

import pytest

from clickgrad.tasks import judge
from clickgrad.tasks.shop import SHOP_TEMPLATES
from clickgrad.tasks.templates import Draft, Template, deal
from clickgrad.types import AnswerCheck, Evidence, Outcome, StateCheck, Task, UrlCheck
from clickgrad.worlds.shop.data import shop_data

DATA = shop_data(0)
PRODUCTS = {item.name: item for item in DATA.products}
TRAINED = [template for template in SHOP_TEMPLATES if not template.unseen]
TASKS = tuple(deal(SHOP_TEMPLATES, 0, {"train": 12 * len(SHOP_TEMPLATES)}, "pocket"))
AfterPosts = Callable[..., Evidence]
Posts = tuple[str, Mapping[str, object]]


@cache
def drafts(template: Template, seed: int) -> tuple[Draft, ...]:
    return tuple(islice(template.drafts(seed), 30))


def first(name: str, **params: object) -> Task:
    return next(
        task
        for task in TASKS
        if task.template == f"shop.{name}" and all(dict(task.params).get(key) == params[key] for key in params)
    )


def test_there_are_24_templates_to_train_on_and_3_kept_apart() -> None:
    assert len(TRAINED) == 24
    assert len(SHOP_TEMPLATES) == len({template.name for template in SHOP_TEMPLATES}) == 27


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_template_has_enough_instances_and_no_two_alike(seed: int) -> None:
    for template in SHOP_TEMPLATES:
        found = drafts(template, seed)
        assert len(found) >= (12 if template.unseen else 30), template.name
        assert len({(draft.intent, draft.start_path, draft.user) for draft in found}) == len(found)


def test_everything_a_task_speaks_of_exists() -> None:
    orders = {order.id: order for order in DATA.orders}
    emails = {customer.email: customer.id for customer in DATA.customers}
    for task in TASKS:
        params = dict(task.params)
        assert task.user in emails
        if params.get("kind") != "unknown":
            named = [str(value).split("=")[0] for name, value in task.params if name.startswith(("product", "line"))]
            assert all(PRODUCTS[name].enabled for name in named)
            assert all(name in task.intent for name in named)
        for name in ("order", "cancel", "reorder"):
            if params.get(name):
                assert orders[int(str(params[name]))].customer_id == emails[task.user]


def test_intents_are_short_and_the_ladder_climbs_evenly() -> None:
    found = [draft for template in TRAINED for draft in drafts(template, 0)[:24]]
    assert max(len(draft.intent.split()) for draft in found) <= 40
    turns = [draft.expert_turns for draft in found]
    assert (min(turns), max(turns)) == (2, 19)
    assert 6 <= sum(turns) / len(turns) <= 8
    for low, high in ((0, 3), (4, 7), (8, 20)):
        assert 0.27 <= sum(low <= many <= high for many in turns) / len(turns) <= 0.4


def test_answers_are_varied_so_that_no_single_guess_pays() -> None:
    for template in SHOP_TEMPLATES:
        answers = Counter(
            check.expected
            for draft in drafts(template, 0)
            for check in draft.checks
            if isinstance(check, AnswerCheck) and check.expected != ("N/A",)
        )
        assert not answers or answers.most_common(1)[0][1] <= 0.25 * answers.total(), template.name


def test_tasks_that_ask_something_forbid_changes() -> None:
    for task in TASKS:
        if isinstance(task.checks[0], AnswerCheck | UrlCheck):
            assert task.checks[1:] == (StateCheck(()),)


@pytest.mark.parametrize("answer", [None, "", "done", "N/A"])
def test_doing_nothing_solves_no_task(answer: str | None) -> None:
    for task in TASKS:
        hopeless = answer == "N/A" and task.template == "shop.unachievable"
        outcome = judge(task, Evidence(answer, task.start_url, "", ())).outcome
        assert outcome is (Outcome.PASSED if hopeless else Outcome.FAILED), task.id


def test_another_tasks_answer_does_not_solve_this_one() -> None:
    asked = [(task, task.checks[0]) for task in TASKS if isinstance(task.checks[0], AnswerCheck)]
    answers = {check.expected[0] for _, check in asked if isinstance(check, AnswerCheck)}
    for task, check in asked:
        assert isinstance(check, AnswerCheck)
        for answer in answers - set(check.expected):
            assert judge(task, Evidence(answer, task.start_url, "", ())).outcome is Outcome.FAILED, (task.id, answer)


def test_another_tasks_changes_do_not_solve_this_one() -> None:
    changing = [(task, task.checks[0]) for task in TASKS if isinstance(task.checks[0], StateCheck)]
    for (task, check), (_, other) in combinations(changing, 2):
        assert isinstance(check, StateCheck)
        assert isinstance(other, StateCheck)
        done = Evidence("done", task.start_url, "", tuple(replace(change) for change in other.changes))
        assert (judge(task, done).outcome is Outcome.PASSED) == (check == other), task.id


def outcome(after_posts: AfterPosts, task: Task, *posts: Posts) -> Outcome:
    return judge(task, after_posts(task, *posts)).outcome


def test_a_cart_with_a_wrong_quantity_product_or_addition_fails(after_posts: AfterPosts) -> None:
    task = first("add_to_cart", quantity=1)
    other = next(one for one in TASKS if one.template == task.template and one.param("quantity") != 1)
    mine, theirs = (f"/product/{PRODUCTS[str(one.param('product'))].id}/cart" for one in (task, other))
    right = (mine, {"quantity": 1})
    assert outcome(after_posts, task, right) is Outcome.PASSED
    assert outcome(after_posts, task, (mine, {"quantity": 2})) is Outcome.FAILED
    assert outcome(after_posts, task, (theirs, {"quantity": 1})) is Outcome.FAILED
    assert outcome(after_posts, task, right, right) is Outcome.FAILED
    assert outcome(after_posts, task, right, (theirs, {"quantity": 1})) is Outcome.FAILED
    assert outcome(after_posts, task, (mine, {"quantity": "none"})) is Outcome.FAILED


def test_an_order_with_a_wrong_address_method_coupon_or_cart_fails(after_posts: AfterPosts) -> None:
    task = next(one for one in TASKS if one.template == "shop.order_details" and "set0" not in dict(one.params))
    cart = next(item for item in DATA.cart_items if DATA.customers[item.customer_id - 1].email == task.user)
    form = {name: task.param(name) for name in ("address", "shipping", "payment")}
    coupon, order = ("/cart/coupon", {"code": task.param("coupon")}), ("/checkout", form)
    other = {
        "address": "Home",
        "shipping": "Express" if form["shipping"] == "Standard" else "Standard",
        "payment": "Credit Card" if form["payment"] == "Gift Card" else "Gift Card",
    }
    assert outcome(after_posts, task, coupon, order) is Outcome.PASSED
    assert outcome(after_posts, task, order) is Outcome.FAILED
    assert outcome(after_posts, task, coupon) is Outcome.FAILED
    for name, value in other.items():
        assert outcome(after_posts, task, coupon, ("/checkout", form | {name: value})) is Outcome.FAILED
    assert outcome(after_posts, task, (f"/cart/{cart.id}/update", {"quantity": 7}), coupon, order) is Outcome.FAILED
    assert outcome(after_posts, task, coupon, order, ("/wishlist", {}), ("/product/2/wish", {})) is Outcome.FAILED


def test_a_review_with_wrong_stars_title_text_or_product_fails(after_posts: AfterPosts) -> None:
    task = next(one for one in TASKS if one.template == "shop.write_review" and one.param("text"))
    form = {name: task.param(name) for name in ("stars", "title", "text")}
    path = f"/product/{PRODUCTS[str(task.param('product'))].id}/review"
    other_stars = 1 if task.param("stars") == 5 else 5
    assert outcome(after_posts, task, (path, form)) is Outcome.PASSED
    assert outcome(after_posts, task, (path, form | {"stars": other_stars})) is Outcome.FAILED
    assert outcome(after_posts, task, (path, form | {"title": f"{form['title']}!"})) is Outcome.FAILED
    assert outcome(after_posts, task, (path, form | {"text": ""})) is Outcome.FAILED
    assert outcome(after_posts, task, ("/product/1/review", form)) is Outcome.FAILED
    assert outcome(after_posts, task, (path, form), (path, form)) is Outcome.FAILED


def test_a_changed_address_must_be_the_right_one_with_the_right_values(after_posts: AfterPosts) -> None:
    task = first("address_book", kind="edit")
    customer = next(customer.id for customer in DATA.customers if customer.email == task.user)
    own = {address.label: address for address in DATA.addresses if address.customer_id == customer}
    old = own[str(task.param("old"))]
    kept = {name: getattr(old, name) for name in ("label", "street", "city", "postcode")}
    new = {name: value for name in kept if (value := task.param(name))}
    assert outcome(after_posts, task, (f"/addresses/{old.id}", kept | new)) is Outcome.PASSED
    assert outcome(after_posts, task, (f"/addresses/{old.id}", kept)) is Outcome.FAILED
    assert outcome(after_posts, task, (f"/addresses/{old.id}", kept | new | {"city": "Salem"})) is Outcome.FAILED
    assert outcome(after_posts, task, ("/addresses/new", kept | new | {"label": "New"})) is Outcome.FAILED


def test_asking_while_changing_something_fails(after_posts: AfterPosts) -> None:
    task = first("find_fact", fact="brand")
    brand = PRODUCTS[str(task.param("product"))].brand
    assert judge(task, after_posts(task, answer=brand)).outcome is Outcome.PASSED
    spoiled = after_posts(task, (f"/product/{PRODUCTS[str(task.param('product'))].id}/wish", {}), answer=brand)
    assert judge(task, spoiled).outcome is Outcome.FAILED

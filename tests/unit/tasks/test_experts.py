from dataclasses import replace

import pytest
from observed import observed

from clickgrad.browser.snapshot import Control
from clickgrad.errors import UserError
from clickgrad.tasks import Expert, ExpertLost
from clickgrad.tasks.shop import SHOP_TEMPLATES
from clickgrad.tasks.templates import deal
from clickgrad.types import Click, Exit, GoBackward, Observation, Task

TASKS = tuple(deal(SHOP_TEMPLATES, 0, {"train": 12 * len(SHOP_TEMPLATES)}, "pocket"))
EMPTY = Observation("http://shop.localhost/", "Elsewhere", (), ())


def first(name: str, **params: object) -> Task:
    return next(
        task
        for task in TASKS
        if task.template == f"shop.{name}" and all(task.param(key) == params[key] for key in params)
    )


def test_an_expert_reads_its_answer_from_the_page() -> None:
    task = first("find_fact", fact="brand")
    expert = Expert(task)
    name = str(task.param("product"))
    assert expert.move(observed("List", Control(4, "link", name), "$1.00, 5 stars")).action == Click(4)
    move = expert.move(observed(name, name, "Brand: Imaginary", "Color: Blue"))
    assert move.action == Exit("Imaginary")
    assert move.remark == "Note: Brand: Imaginary"


def test_an_expert_reads_the_html_rendering_too() -> None:
    task = first("order_history", fact="status")
    name = f"Order {task.param('order')}"
    page = observed("My Orders", Control(3, "link", name, tag="a"), "March 4, 2025, On Hold, $12.50", rendering="html")
    assert page.lines[1] == "<p> March 4, 2025, On Hold, $12.50 </p>"
    assert Expert(task).move(page).action == Exit("On Hold")


def test_an_expert_that_looks_into_several_orders_notes_what_it_saw() -> None:
    task = first("find_order", kind="date")
    name = str(task.param("product"))
    links = Control(0, "link", "Order 9"), Control(1, "link", "Order 7")
    orders = observed("My Orders", links[0], "March 4, 2025, Shipped, $12.50", links[1], "May 1, 2024, Shipped, $9.50")

    def order(number: int, item: str) -> Observation:
        return observed(f"Order {number}", Control(5, "link", item), "2 pieces, $9.00")

    expert = Expert(task)
    assert expert.move(orders).action == Click(0)
    back = expert.move(order(9, "Another Thing"))
    assert (back.action, back.remark) == (GoBackward(), f"Note: Order 9 does not have {name}")
    assert expert.move(orders).action == Click(1)
    assert expert.move(order(7, name)).action == Exit("May 1, 2024")


def test_an_expert_counts_what_it_sees_and_not_what_the_checks_expect() -> None:
    task = first("spending", kind="count")
    status = str(task.param("status"))
    other = "Shipped" if status != "Shipped" else "Delivered"
    links = [Control(number, "link", f"Order {number}") for number in range(4)]
    facts = [f"March 4, 2025, {status if number else other}, $1.00" for number in range(4)]
    page = observed("My Orders", *(item for pair in zip(links, facts, strict=True) for item in pair))
    assert Expert(task).move(page).action == Exit("3")


@pytest.mark.parametrize("template", [f"shop.{template.name}" for template in SHOP_TEMPLATES])
def test_an_expert_on_a_strange_page_says_what_it_misses(template: str) -> None:
    task = next(task for task in TASKS if task.template == template)
    with pytest.raises(ExpertLost, match=r"no \w+ .* on http://shop\.localhost/"):
        Expert(task).move(EMPTY)


def test_a_finished_expert_has_no_more_moves() -> None:
    task = first("order_history", fact="status")
    name = f"Order {task.param('order')}"
    page = observed("My Orders", Control(0, "link", name), "March 4, 2025, Shipped, $12.50")
    expert = Expert(task)
    expert.move(page)
    with pytest.raises(ExpertLost, match="already finished"):
        expert.move(page)


def test_a_task_of_ones_own_has_no_expert() -> None:
    with pytest.raises(UserError, match="no scripted expert for the template 'mine'"):
        Expert(replace(TASKS[0], template="mine"))

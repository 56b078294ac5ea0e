from dataclasses import replace

import pytest

from clickgrad.errors import UserError
from clickgrad.tasks import Expert, ExpertLost
from clickgrad.tasks.shop import SHOP_TEMPLATES
from clickgrad.tasks.templates import deal
from clickgrad.types import Click, Element, Exit, GoBackward, Observation, Task

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
    listed = Observation("u", "List", (f"link {name} [4]", "$1.00, 5 stars"), (Element(4, "link", name),))
    assert expert.move(listed).action == Click(4)
    shown = Observation("u", name, (name, "Brand: Imaginary", "Color: Blue"), ())
    move = expert.move(shown)
    assert move.action == Exit("Imaginary")
    assert move.remark == "Note: Brand: Imaginary"


def test_an_expert_reads_the_html_rendering_too() -> None:
    task = first("order_history", fact="status")
    name = f"Order {task.param('order')}"
    lines = (f'<a id="3"> {name} </a>', "<p> March 4, 2025, On Hold, $12.50 </p>")
    page = Observation("u", "My Orders", lines, (Element(3, "link", name),))
    assert Expert(task).move(page).action == Exit("On Hold")


def test_an_expert_that_looks_into_several_orders_notes_what_it_saw() -> None:
    task = first("find_order", kind="date")
    name = str(task.param("product"))
    links = (Element(0, "link", "Order 9"), Element(1, "link", "Order 7"))
    lines = ("link Order 9 [0]", "March 4, 2025, Shipped, $12.50", "link Order 7 [1]", "May 1, 2024, Shipped, $9.50")
    orders = Observation("u", "My Orders", lines, links)

    def order(number: int, item: str) -> Observation:
        return Observation("u", f"Order {number}", (f"link {item} [5]", "2 pieces, $9.00"), (Element(5, "link", item),))

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
    links = tuple(Element(number, "link", f"Order {number}") for number in range(4))
    lines = [f"link Order {number} [{number}]" for number in range(4)]
    facts = [f"March 4, 2025, {status if number else other}, $1.00" for number in range(4)]
    page = Observation("u", "My Orders", tuple(line for pair in zip(lines, facts, strict=True) for line in pair), links)
    assert Expert(task).move(page).action == Exit("3")


@pytest.mark.parametrize("template", [f"shop.{template.name}" for template in SHOP_TEMPLATES])
def test_an_expert_on_a_strange_page_says_what_it_misses(template: str) -> None:
    task = next(task for task in TASKS if task.template == template)
    with pytest.raises(ExpertLost, match=r"no \w+ .* on http://shop\.localhost/"):
        Expert(task).move(EMPTY)


def test_a_finished_expert_has_no_more_moves() -> None:
    task = first("order_history", fact="status")
    name = f"Order {task.param('order')}"
    lines = (f"link {name} [0]", "March 4, 2025, Shipped, $12.50")
    page = Observation("u", "My Orders", lines, (Element(0, "link", name),))
    expert = Expert(task)
    expert.move(page)
    with pytest.raises(ExpertLost, match="already finished"):
        expert.move(page)


def test_a_task_of_ones_own_has_no_expert() -> None:
    with pytest.raises(UserError, match="no scripted expert for the template 'mine'"):
        Expert(replace(TASKS[0], template="mine"))

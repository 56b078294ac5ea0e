"""A scripted expert for every template, to prove each task solvable and to demonstrate it.

An expert sees only observations: it finds elements by role and name, and reads answers off the page. From the task it
takes what the intent says (`params`), never what the checks expect.

    expert = Expert(task)
    move = expert.move(observation)      # and so on, until the action is Exit
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass

from clickgrad.errors import ClickgradError, UserError
from clickgrad.types import Action, Click, Element, Exit, Observation, Search, Select, Task, Type


class ExpertLost(ClickgradError):
    """The page does not show what the expert came for."""


@dataclass(frozen=True, slots=True)
class Move:
    action: Action
    remark: str  # one short line of thinking


Script = Generator[Move, Observation, None]
Way = Generator[Move, Observation, Observation]  # part of a script: moves that end on a page


class Expert:
    """Plays one task once."""

    def __init__(self, task: Task) -> None:
        if task.template not in _SCRIPTS:
            raise UserError(f"task {task.id}: there is no scripted expert for the template {task.template!r}")
        self._task = task
        self._script: Script | None = None

    def move(self, observation: Observation) -> Move:
        try:
            if self._script is None:
                self._script = _SCRIPTS[self._task.template](self._task, observation)
                return next(self._script)
            return self._script.send(observation)
        except StopIteration:
            raise ExpertLost(f"task {self._task.id}: the expert has already finished") from None


# --- reading a page -------------------------------------------------------------------------------------------------


def find(page: Observation, role: str, name: str) -> Element:
    element = seek(page, role, name)
    if element is None:
        raise ExpertLost(f"no {role} {name!r} on {page.url}")
    return element


def seek(page: Observation, role: str, name: str) -> Element | None:
    return next((element for element in page.elements if element.role == role and element.name == name), None)


def line_after(page: Observation, element: Element) -> str:
    """The text that follows an element, such as the price under a product's link."""
    for number, line in enumerate(page.lines[:-1]):
        if f"[{element.id}]" in line or f' id="{element.id}"' in line:
            return _plain(page.lines[number + 1])
    raise ExpertLost(f"no text after {element.name!r} on {page.url}")


def labelled(page: Observation, label: str) -> str:
    """The value of a line such as `Brand: Acorn`."""
    for line in page.lines:
        found = re.fullmatch(rf"{re.escape(label)}: (.+)", _plain(line))
        if found:
            return found[1]
    raise ExpertLost(f"no line {label!r} on {page.url}")


def _plain(line: str) -> str:
    """A line of the `html` rendering without its tags."""
    return re.sub(r"^<(\w+)> (.*) </\1>$", r"\2", line)


# --- ways that several scripts share --------------------------------------------------------------------------------


def _about(element: Element) -> str:
    """Named as the outline names it, so that writing it down is copying."""
    return f"Element: {element.role} {element.name} [{element.id}]"


def _click(page: Observation, role: str, name: str) -> Move:
    element = find(page, role, name)
    return Move(Click(element.id), _about(element))


def _select(page: Observation, name: str, option: str) -> Move:
    element = find(page, "select", name)
    return Move(Select(element.id, option), _about(element))


def _type(page: Observation, name: str, text: str) -> Move:
    element = find(page, "textbox", name)
    return Move(Type(element.id, text), _about(element))


def _search(page: Observation, text: str) -> Move:
    element = find(page, "textbox", "Search")
    return Move(Search(element.id, text), _about(element))


def _open_product(page: Observation, name: str) -> Way:
    """To the product's own page, wherever the task starts."""
    if page.title == name:
        return page
    if seek(page, "link", name) is None:
        page = yield _search(page, name)
    return (yield _click(page, "link", name))


# --- one script for each template -----------------------------------------------------------------------------------


def _find_fact(task: Task, page: Observation) -> Script:
    name, fact = str(task.param("product")), str(task.param("fact"))
    if fact == "price":
        page = yield _search(page, name)
        line = line_after(page, find(page, "link", name))
        yield Move(Exit(line.partition(", ")[0]), f"Note: {name} {line}")
        return
    page = yield from _open_product(page, name)
    label = {"brand": "Brand", "color": "Color", "stock": "In stock", "sku": "SKU"}[fact]
    answer = labelled(page, label)
    yield Move(Exit(answer), f"Note: {label}: {answer}")


def _sort_and_filter(task: Task, page: Observation) -> Script:
    category = str(task.param("category"))
    if page.title != category:
        page = yield _click(page, "link", category)
    if brand := task.param("brand"):
        page = yield _select(page, "Brand", str(brand))
    if max_price := task.param("max_price"):
        page = yield _type(page, "Max price", str(max_price))
    if sort := task.param("sort"):
        page = yield _select(page, "Sort by", str(sort))
    page = yield _click(page, "button", "Apply")
    if task.param("answers"):
        apply = page.elements.index(find(page, "button", "Apply"))
        first = next((element for element in page.elements[apply:] if element.role == "link"), None)
        if first is None:
            raise ExpertLost(f"no product on {page.url}")
        yield Move(Exit(first.name), f"Note: the first one is {first.name}")
    else:
        yield Move(Exit("done"), "Note: the list is shown")


def _add_to_cart(task: Task, page: Observation) -> Script:
    page = yield from _open_product(page, str(task.param("product")))
    if task.param("quantity") != 1:
        page = yield _type(page, "Quantity", str(task.param("quantity")))
    page = yield _click(page, "button", "Add to Cart")
    yield Move(Exit("done"), "Note: it is in the cart")


def _checkout(task: Task, page: Observation) -> Script:
    if page.title == "Pocket Shop":
        cart = next((element for element in page.elements if element.name.startswith("Cart (")), None)
        if cart is None:
            raise ExpertLost(f"no cart on {page.url}")
        page = yield Move(Click(cart.id), _about(cart))
    if page.title == "Cart":
        page = yield _click(page, "link", "Checkout")
    for name in ("Shipping", "Payment"):
        wanted = str(task.param(name.lower()))
        if find(page, "select", name).value != wanted:
            page = yield _select(page, name, wanted)
    page = yield _click(page, "button", "Place Order")
    yield Move(Exit("done"), "Note: the order is placed")


def _write_review(task: Task, page: Observation) -> Script:
    if page.title == task.param("product"):
        page = yield _click(page, "link", "Write a Review")
    page = yield _select(page, "Stars", str(task.param("stars")))
    page = yield _type(page, "Title", str(task.param("title")))
    if text := task.param("text"):
        page = yield _type(page, "Text", str(text))
    page = yield _click(page, "button", "Submit Review")
    yield Move(Exit("done"), "Note: the review is sent")


def _order_history(task: Task, page: Observation) -> Script:
    name, fact = f"Order {task.param('order')}", str(task.param("fact"))
    if page.title != "My Orders":
        page = yield _click(page, "link", "My Orders")
    while seek(page, "link", name) is None:
        page = yield _click(page, "link", "Next")
    if fact in ("payment", "shipping"):
        page = yield _click(page, "link", name)
        answer = labelled(page, fact.capitalize())
        note = f"{fact.capitalize()}: {answer}"
    else:
        row = line_after(page, find(page, "link", name))
        cells = re.fullmatch(r"(?P<date>\w+ \d+, \d{4}), (?P<status>\w+), (?P<total>\S+)", row)
        if cells is None:
            raise ExpertLost(f"cannot read {row!r} on {page.url}")
        answer = cells[fact]
        note = f"{name} {row}"
    yield Move(Exit(answer), f"Note: {note}")


_SCRIPTS: dict[str, Callable[[Task, Observation], Script]] = {
    "shop.find_fact": _find_fact,
    "shop.sort_and_filter": _sort_and_filter,
    "shop.add_to_cart": _add_to_cart,
    "shop.checkout": _checkout,
    "shop.write_review": _write_review,
    "shop.order_history": _order_history,
}

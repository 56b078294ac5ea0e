"""How the shop's questions are done, and the ways through the shop that all scripts share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from clickgrad.tasks.moves import (
    ExpertLost,
    Move,
    Script,
    Way,
    about,
    click,
    fill,
    find,
    finish,
    labelled,
    line_after,
    line_of,
    noted,
    search,
    seek,
    select,
    texts,
)
from clickgrad.types import Click, Element, Observation, Scalar, Task
from clickgrad.worlds.pages import money

# --- ways -----------------------------------------------------------------------------------------------------------


def open_product(page: Observation, name: str) -> Way:
    """To the product's own page, wherever the task starts."""
    if page.title == name:
        return page
    if seek(page, "link", name) is None:
        page = yield search(page, name, f"I need to find {name}")
    return (yield click(page, "link", name, "its own page says more"))


def open_cart(page: Observation) -> Way:
    if page.title == "Cart":
        return page
    cart = next((element for element in page.elements if element.name.startswith("Cart (")), None)
    if cart is None:
        raise ExpertLost(f"no link Cart on {page.url}")
    return (yield Move(Click(cart.id), about(cart), "what I need is in the cart"))


def open_orders(page: Observation) -> Way:
    if page.title == "My Orders":
        return page
    return (yield click(page, "link", "My Orders", "my orders are listed there"))


def open_order(page: Observation, number: object) -> Way:
    """To the order's own page, leafing through the list if need be."""
    name = f"Order {number}"
    if page.title == name:
        return page
    page = yield from open_orders(page)
    while seek(page, "link", name) is None:
        page = yield click(page, "link", "Next", "this page of the list does not have it")
    return (yield click(page, "link", name, "its own page says more"))


def follow(page: Observation, *names: str) -> Way:
    """Through links that are named like the pages they lead to, from wherever on the way the task starts."""
    if page.title in names:
        names = names[names.index(page.title) + 1 :]
    for name in names:
        page = yield click(page, "link", name, f"the way leads through {name}")
    return page


def after(page: Observation, element: Element, role: str, name: str) -> Element:
    """The next element of that role and name below another one, such as the button in the same row."""
    below = page.elements[page.elements.index(element) + 1 :]
    found = next((other for other in below if (other.role, other.name) == (role, name)), None)
    if found is None:
        raise ExpertLost(f"no {role} {name!r} after {element.name!r} on {page.url}")
    return found


def cents(price: str) -> int:
    return int(Decimal(price.removeprefix("$").replace(",", "")) * 100)


# --- products and lists ---------------------------------------------------------------------------------------------


def find_fact(task: Task, page: Observation) -> Script:
    name, fact = str(task.param("product")), str(task.param("fact"))
    if fact == "price":
        page = yield search(page, name, f"I need to find {name}")
        line = line_after(page, find(page, "link", name))
        yield finish(line.partition(", ")[0], f"{name} {line}", "the list already shows the price")
        return
    page = yield from open_product(page, name)
    label = {"brand": "Brand", "color": "Color", "stock": "In stock", "sku": "SKU"}[fact]
    answer = labelled(page, label)
    yield finish(answer, f"{label}: {answer}", "the page names what I was asked for")


def arrange_list(page: Observation, params: Mapping[str, Scalar]) -> Way:
    """The category's list with the settings that are named."""
    category = str(params["category"])
    if page.title != category:
        page = yield click(page, "link", category, f"I need the list of {category} products")
    if brand := params.get("brand"):
        page = yield select(page, "Brand", str(brand), "only this brand was asked for")
    if max_price := params.get("max_price"):
        page = yield fill(page, "Max price", str(max_price), "nothing dearer was asked for")
    if sort := params.get("sort"):
        page = yield select(page, "Sort by", str(sort), "this order puts what I look for first")
    if params.get("color") or params.get("min_price") or params.get("in_stock"):
        page = yield click(page, "button", "More Filters", "the other filters are folded away")
    if color := params.get("color"):
        page = yield select(page, "Color", str(color), "only this color was asked for")
    if min_price := params.get("min_price"):
        page = yield fill(page, "Min price", str(min_price), "nothing cheaper was asked for")
    if params.get("in_stock"):
        page = yield click(page, "checkbox", "In stock only", "sold out ones were not asked for")
    return (yield click(page, "button", "Apply", "the list changes only when I apply the settings"))


def listed(page: Observation) -> list[Element]:
    """The products of a list: the links that are followed by a price."""
    following = (*texts(page)[1:], "")
    links = (element for element in page.elements if element.role == "link")
    return [link for link in links if following[line_of(page, link)].startswith("$")]


def first_listed(page: Observation) -> Element:
    """The first product of a list that has been put in order."""
    apply = page.elements.index(find(page, "button", "Apply"))
    first = next((element for element in page.elements[apply:] if element.role == "link"), None)
    if first is None:
        raise ExpertLost(f"no link to a product on {page.url}")
    return first


def sort_and_filter(task: Task, page: Observation) -> Script:
    page = yield from arrange_list(page, dict(task.params))
    if not task.param("answers"):
        yield finish("done", "the list is shown")
        return
    first = first_listed(page)
    yield finish(first.name, f"the first one is {first.name}", "in this order the first one is the answer")


def more_filters(task: Task, page: Observation) -> Script:
    page = yield from arrange_list(page, dict(task.params))
    if not task.param("answers"):
        yield finish("done", "the list is shown")
        return
    many = len(listed(page))
    while seek(page, "link", "Next"):
        page = yield noted(click(page, "link", "Next", "the list goes on"), f"{many} products so far")
        many += len(listed(page))
    yield finish(str(many), f"{many} products in the list", "I have counted all of them")


def compare_products(task: Task, page: Observation) -> Script:
    kind = str(task.param("kind"))
    names = [str(value) for name, value in task.params if name.startswith("product")]
    values: dict[str, int] = {}
    for name in names:
        known = ", ".join(f"{seen} {value}" for seen, value in values.items())
        move = search(page, name, f"I need to find {name}")
        page = yield noted(move, known) if known else move
        if kind in ("most", "fewest"):
            page = yield click(page, "link", name, "the stock is on its own page")
            values[name] = int(labelled(page, "In stock"))
        else:
            values[name] = cents(line_after(page, find(page, "link", name)).partition(", ")[0])
    if kind == "sum":
        total = money(sum(values.values()))
        yield finish(total, f"the prices add up to {total}", "I have all the prices")
        return
    best = (max if kind in ("dearest", "most") else min)(values, key=values.__getitem__)
    yield finish(best, f"{best} {values[best]}", "I have compared all of them")


# --- carts, orders, reviews -----------------------------------------------------------------------------------------


def add_to_cart(task: Task, page: Observation) -> Script:
    page = yield from open_product(page, str(task.param("product")))
    if task.param("quantity") != 1:
        page = yield fill(page, "Quantity", str(task.param("quantity")), "more than one is wanted")
    page = yield click(page, "button", "Add to Cart", "this is what I was asked to do")
    yield finish("done", "it is in the cart")


def fill_checkout(task: Task, page: Observation) -> Way:
    """The form as the task wants it, up to the placed order."""
    params = dict(task.params)
    for name in ("Address", "Shipping", "Payment"):
        wanted = params.get(name.lower())
        if wanted and find(page, "select", name).value != wanted:
            page = yield select(page, name, str(wanted), f"{wanted} was asked for")
    return (yield click(page, "button", "Place Order", "everything is as I was asked"))


def checkout(task: Task, page: Observation) -> Script:
    if page.title != "Checkout":
        page = yield from open_cart(page)
        page = yield click(page, "link", "Checkout", "the cart holds what I want to order")
    page = yield from fill_checkout(task, page)
    yield finish("done", "the order is placed")


def write_review(task: Task, page: Observation) -> Script:
    if page.title == task.param("product"):
        page = yield click(page, "link", "Write a Review", "the form is on a page of its own")
    page = yield select(page, "Stars", str(task.param("stars")), "so many stars were asked for")
    page = yield fill(page, "Title", str(task.param("title")), "this title was asked for")
    if text := task.param("text"):
        page = yield fill(page, "Text", str(text), "this text was asked for")
    page = yield click(page, "button", "Submit Review", "the form is complete")
    yield finish("done", "the review is sent")


@dataclass(frozen=True, slots=True)
class Row:
    """An order as the list of orders shows it."""

    link: Element
    text: str
    date: str  # March 4, 2025
    status: str
    total: str

    @property
    def number(self) -> str:
        return self.link.name.removeprefix("Order ")


_ROW = re.compile(r"(?P<date>\w+ \d+, \d{4}), (?P<status>[\w ]+), (?P<total>\S+)")


def rows_on(page: Observation) -> list[Row]:
    links = [one for one in page.elements if one.role == "link" and one.name.startswith("Order ")]
    found = []
    for link in links:
        cells = _ROW.fullmatch(line := line_after(page, link))
        if cells is None:
            raise ExpertLost(f"cannot read {line!r} on {page.url}")
        found.append(Row(link, line, cells["date"], cells["status"], cells["total"]))
    return found


def order_history(task: Task, page: Observation) -> Script:
    name, fact = f"Order {task.param('order')}", str(task.param("fact"))
    if fact in ("payment", "shipping"):
        page = yield from open_order(page, task.param("order"))
        answer = labelled(page, fact.capitalize())
        note = f"{fact.capitalize()}: {answer}"
    else:
        page = yield from open_orders(page)
        while seek(page, "link", name) is None:
            page = yield click(page, "link", "Next", "this page of the list does not have it")
        row = next(row for row in rows_on(page) if row.link.name == name)
        answer = {"date": row.date, "status": row.status, "total": row.total}[fact]
        note = f"{name} {row.text}"
    yield finish(answer, note, "this is what I was asked for")

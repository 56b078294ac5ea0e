"""How changes are done: carts, wish lists, orders, addresses, the account, messages."""

from __future__ import annotations

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
    noted,
    seek,
    select,
)
from clickgrad.tasks.shop.scripts import (
    after,
    arrange_list,
    fill_checkout,
    first_listed,
    follow,
    open_cart,
    open_order,
    open_orders,
    open_product,
    rows_on,
)
from clickgrad.types import Click, Observation, Scalar, Task


def _lines(task: Task, prefix: str) -> list[list[str]]:
    """Parameters such as line0 = "Large Steel Mug=2=Medium", split."""
    return [str(value).split("=") for name, value in task.params if name.startswith(prefix)]


def _press_after(page: Observation, link: str, button: str, why: str) -> Move:
    """The button in the row of a product."""
    element = after(page, find(page, "link", link), "button", button)
    return Move(Click(element.id), about(element), why)


# --- cart and wish list ---------------------------------------------------------------------------------------------


def _apply_coupon(page: Observation, code: Scalar) -> Way:
    page = yield fill(page, "Coupon code", str(code), "this is the code I was given")
    return (yield click(page, "button", "Apply Coupon", "the coupon counts only when it is applied"))


def _set_quantities(task: Task, page: Observation) -> Way:
    for name, quantity in _lines(task, "set"):
        page = yield fill(page, f"Quantity of {name}", quantity, f"{quantity} of them are wanted")
        page = yield _press_after(page, name, "Update", "the new quantity must be saved")
    return page


def cart_edit(task: Task, page: Observation) -> Script:
    params = dict(task.params)
    page = yield from open_cart(page)
    if params.get("no_coupon"):
        page = yield click(page, "button", "Remove Coupon", "this is what I was asked to do")
    page = yield from _set_quantities(task, page)
    if removed := params["remove"]:
        page = yield _press_after(page, str(removed), "Remove", "it was asked to go")
    if code := params["coupon"]:
        page = yield from _apply_coupon(page, code)
    yield finish("done", "the cart is as asked")


def _add_line(page: Observation, name: str, quantity: str, size: str) -> Way:
    page = yield from open_product(page, name)
    if size:
        page = yield select(page, "Size", size, "this size was asked for")
    if quantity != "1":
        page = yield fill(page, "Quantity", quantity, "more than one is wanted")
    return (yield click(page, "button", "Add to Cart", "it belongs in the cart"))


def fill_several(task: Task, page: Observation) -> Script:
    for name, quantity, size in _lines(task, "line"):
        if task.param("target") == "cart":
            page = yield from _add_line(page, name, quantity, size)
        else:
            page = yield from open_product(page, name)
            page = yield click(page, "button", "Add to Wish List", "it belongs on the wish list")
    yield finish("done", "all of them are added")


def wish_list(task: Task, page: Observation) -> Script:
    kind, name = str(task.param("kind")), str(task.param("product"))
    if kind == "add":
        page = yield from open_product(page, name)
        page = yield click(page, "button", "Add to Wish List", "this is what I was asked to do")
        yield finish("done", "it is on the wish list")
        return
    page = yield from follow(page, "Account", "Wish List")
    if kind == "buy":
        page = yield _press_after(page, name, "Choose Size", "it comes in sizes")
        page = yield from _add_line(page, name, str(task.param("quantity")), str(task.param("size")))
        page = yield from follow(page, "Account", "Wish List")
        page = yield _press_after(page, name, "Remove", "it is in the cart now")
    elif kind == "remove":
        page = yield _press_after(page, name, "Remove", "this is what I was asked to do")
    else:
        if kind == "both":
            page = yield _press_after(page, str(task.param("other")), "Remove", "it was asked to go")
        page = yield _press_after(page, name, "Move to Cart", "it belongs in the cart")
    yield finish("done", "the wish list is as asked")


def clear_wish_list(task: Task, page: Observation) -> Script:
    page = yield from follow(page, "Account", "Wish List")
    find(page, "button", "Remove")
    while seek(page, "button", "Remove"):
        page = yield click(page, "button", "Remove", "the list is not empty yet")
    yield finish("done", "the wish list is empty")


# --- orders ---------------------------------------------------------------------------------------------------------


def order_details(task: Task, page: Observation) -> Script:
    page = yield from open_cart(page)
    page = yield from _set_quantities(task, page)
    page = yield from _apply_coupon(page, task.param("coupon"))
    page = yield click(page, "link", "Checkout", "the cart holds what I want to order")
    page = yield from fill_checkout(task, page)
    yield finish("done", "the order is placed")


def buy_product(task: Task, page: Observation) -> Script:
    for name, quantity, size in _lines(task, "line"):
        page = yield from _add_line(page, name, quantity, size)
    if code := task.param("coupon"):
        page = yield from _apply_coupon(page, code)
    page = yield click(page, "link", "Checkout", "the cart holds what I want to order")
    page = yield from fill_checkout(task, page)
    yield finish("done", "the order is placed")


def buy_superlative(task: Task, page: Observation) -> Script:
    for number, (category, brand, sort) in enumerate(_lines(task, "best")):
        if number:
            page = yield click(page, "link", "Home", "the categories are listed there")
        page = yield from arrange_list(page, {"category": category, "brand": brand, "sort": sort})
        first = first_listed(page)
        page = yield Move(Click(first.id), about(first), "in this order the first one is meant")
        page = yield click(page, "button", "Add to Cart", "I want to buy it")
    page = yield click(page, "link", "Checkout", "the cart holds what I want to order")
    page = yield from fill_checkout(task, page)
    yield finish("done", "the order is placed")


def _cancel_all(page: Observation) -> Script:
    """The list is read once: what is Processing is noted and then cancelled one by one."""
    page = yield from open_orders(page)
    waiting = [row.link.name for row in rows_on(page) if row.status == "Processing"]
    for number, name in enumerate(waiting):
        page = yield from open_orders(page)
        note = f"still to cancel {', '.join(waiting[number:])}"
        page = yield noted(click(page, "link", name, "it is Processing"), note)
        page = yield click(page, "button", "Cancel Order", "this order is to be cancelled")
    yield finish("done", "all of them are cancelled")


def order_actions(task: Task, page: Observation) -> Script:
    if "cancel all" in dict(task.params):
        yield from _cancel_all(page)
        return
    if number := task.param("cancel"):
        page = yield from open_order(page, number)
        page = yield click(page, "button", "Cancel Order", "this order is to be cancelled")
    if number := task.param("reorder"):
        page = yield from open_order(page, number)
        page = yield click(page, "button", "Reorder", "this puts all its items into the cart")
        if task.param("shipping"):
            page = yield click(page, "link", "Checkout", "the cart holds what I want to order")
            page = yield from fill_checkout(task, page)
    yield finish("done", "the orders are as asked")


def return_item(task: Task, page: Observation) -> Script:
    page = yield from open_order(page, task.param("order"))
    for name, quantity, size in _lines(task, "line"):
        page = yield click(page, "link", "Return an Item", "returns are asked for there")
        page = yield select(page, "Item", f"{name}, {size}" if size else name, "this item goes back")
        if quantity != "1":
            page = yield fill(page, "Quantity", quantity, "so many of them go back")
        page = yield select(page, "Reason", str(task.param("reason")), "this is the reason I was given")
        if comment := task.param("comment"):
            page = yield fill(page, "Comment", str(comment), "this comment was asked for")
        page = yield click(page, "button", "Request Return", "the form is complete")
    yield finish("done", "the return is requested")


# --- the customer's own data ----------------------------------------------------------------------------------------


def _fill_fields(task: Task, page: Observation, names: tuple[str, ...]) -> Way:
    """The fields that the task names, in the order of the form."""
    for name in names:
        if value := dict(task.params).get(name):
            page = yield fill(page, name.capitalize(), str(value), f"this {name} was asked for")
    return page


def address_book(task: Task, page: Observation) -> Script:
    kind, label = str(task.param("kind")), task.param("label")
    if kind.startswith("add"):
        if page.title != "New Address":
            page = yield from follow(page, "Account", "Address Book")
            page = yield click(page, "link", "Add an Address", "the form is on a page of its own")
    else:
        page = yield from follow(page, "Account", "Address Book")
    if kind == "edit":
        page = yield click(page, "link", f"Edit {task.param('old')}", "this address is to be changed")
    if kind in ("add", "add default", "edit"):
        page = yield from _fill_fields(task, page, ("label", "street", "city", "postcode"))
        page = yield click(page, "button", "Save Address", "the form is complete")
    if kind == "delete":
        page = yield click(page, "button", f"Delete {label}", "this is what I was asked to do")
    if kind in ("default", "add default"):
        page = yield click(page, "button", f"Make {label} Default", "it is to be the default")
    yield finish("done", "the address book is as asked")


def account_edit(task: Task, page: Observation) -> Script:
    page = yield from follow(page, "Account", "Edit Account")
    page = yield from _fill_fields(task, page, ("name", "email", "phone"))
    if task.param("newsletter") is not None:
        if find(page, "checkbox", "Newsletter").value == ("on" if task.param("newsletter") else "off"):
            raise ExpertLost(f"no change of the newsletter is needed on {page.url}")
        page = yield click(page, "checkbox", "Newsletter", "the newsletter is to change")
    page = yield click(page, "button", "Save Account", "the form is complete")
    yield finish("done", "the account is saved")


def change_password(task: Task, page: Observation) -> Script:
    page = yield from follow(page, "Account", "Change Password")
    page = yield fill(page, "Current password", str(task.param("old")), "the form asks for the old one first")
    page = yield fill(page, "New password", str(task.param("new")), "this is the new one")
    page = yield fill(page, "Repeat new password", str(task.param("new")), "it must be typed twice")
    page = yield click(page, "button", "Save Password", "the form is complete")
    yield finish("done", "the password is changed")


def contact(task: Task, page: Observation) -> Script:
    params = dict(task.params)
    for name, button in (("subscribe", "Subscribe"), ("leave", "Unsubscribe")):
        if email := params[name]:
            page = yield from follow(page, "Help", "Newsletter")
            page = yield fill(page, "Email", str(email), "this address was given")
            page = yield click(page, "button", button, "this is what I was asked to do")
    if params["subject"]:
        page = yield from follow(page, "Help", "Contact")
        if params["email"]:
            page = yield fill(page, "Email", str(params["email"]), "the answer is to go there")
        page = yield select(page, "Subject", str(params["subject"]), "this subject was asked for")
        page = yield fill(page, "Message", str(params["text"]), "this is the text I was given")
        page = yield click(page, "button", "Send Message", "the form is complete")
    yield finish("done", "the shop knows it now")

"""The customer's orders: list, detail, cancel, order again, send an item back."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.pages import NOT_FOUND, Refusal, parse_count, redirect
from clickgrad.worlds.shop.cart import left_to_buy, put_in_cart
from clickgrad.worlds.shop.forms import length_error, wrong
from clickgrad.worlds.shop.listing import PAGE_SIZE, pager
from clickgrad.worlds.shop.pages import Visit, render
from clickgrad.worlds.shop.rows import Order, OrderItem, Product, Shipment
from clickgrad.worlds.shop.words import RETURN_REASONS
from clickgrad.worlds.site import NOW

MAX_COMMENT = 300


@dataclass(frozen=True, slots=True)
class OrderLine:
    item: OrderItem
    product: Product
    sent_back: int  # pieces in returns that were not refused

    @property
    def name(self) -> str:
        return f"{self.product.name}, {self.item.size}" if self.item.size else self.product.name

    @property
    def total_cents(self) -> int:
        return self.item.quantity * self.item.price_cents

    @property
    def returnable(self) -> int:
        return self.item.quantity - self.sent_back


def orders(visit: Visit) -> Response:
    customer = visit.require_user()
    total = visit.db.execute("SELECT COUNT(*) FROM orders WHERE customer_id = ?", (customer.id,)).fetchone()[0]
    pages = pager("/orders", {"page": visit.query.get("page", "")}, total)
    rows = visit.db.execute(
        "SELECT * FROM orders WHERE customer_id = ? ORDER BY created DESC, id DESC LIMIT ? OFFSET ?",
        (customer.id, PAGE_SIZE, pages.offset),
    )
    return render(visit, "orders.html", orders=[Order(*row) for row in rows], pager=pages)


def order(visit: Visit) -> Response:
    found = _own_order(visit)
    lines = _lines(visit.db, found)
    row = visit.db.execute("SELECT * FROM shipments WHERE order_id = ? ORDER BY id DESC", (found.id,)).fetchone()
    shipment = Shipment(*row) if row else None
    can_return = found.status == "Delivered" and any(line.returnable > 0 for line in lines)
    notice = next((text for name, text in _NOTICES.items() if visit.query.get(name) == "1"), "")
    values = {"lines": lines, "shipment": shipment, "can_return": can_return, "notice": notice}
    return render(visit, "order.html", 200, order=found, **values)


_NOTICES = {
    "placed": "Thank you. Your order is placed.",
    "cancelled": "The order is cancelled.",
    "returned": "Your return is requested.",
}


def cancel(visit: Visit) -> Response:
    found = _own_order(visit)
    if found.status != "Processing":
        raise Refusal(422, "Only an order that is Processing can be cancelled.")
    visit.db.execute("UPDATE orders SET status = 'Cancelled' WHERE id = ?", (found.id,))
    return redirect(f"/orders/{found.id}?cancelled=1")


def reorder(visit: Visit) -> Response:
    """All its items go into the cart, as many as were bought."""
    customer, found = visit.require_user(), _own_order(visit)
    for line in _lines(visit.db, found):
        product, quantity = line.product, line.item.quantity
        if not product.enabled or left_to_buy(visit.db, customer, product) < quantity:
            raise Refusal(422, f"There are not enough of {product.name} left. Nothing was added to your cart.")
        put_in_cart(visit.db, customer, product.id, line.item.size, quantity)
    return redirect("/cart")


@dataclass(frozen=True, slots=True)
class ReturnDraft:
    item: str = ""
    quantity: str = "1"
    reason: str = ""
    comment: str = ""


def return_form(visit: Visit) -> Response:
    found = _delivered(visit)
    return _return_page(visit, found, ReturnDraft(), {})


def request_return(visit: Visit) -> Response:
    found = _delivered(visit)
    draft = ReturnDraft(*(visit.typed(name) for name in ("item", "quantity", "reason", "comment")))
    line = next((line for line in _lines(visit.db, found) if str(line.item.id) == draft.item), None)
    most = line.returnable if line else 0
    quantity = parse_count(draft.quantity)
    fits = quantity is not None and 1 <= quantity <= most
    errors = wrong(
        item="" if most else "Choose an item.",
        quantity="" if fits or not most else f"Enter a number from 1 to {most}.",
        reason="" if draft.reason in RETURN_REASONS else "Choose a reason.",
        comment=length_error(draft.comment, MAX_COMMENT),
    )
    if errors or line is None:
        return _return_page(visit, found, draft, errors)
    visit.db.execute(
        "INSERT INTO returns (order_item_id, quantity, reason, comment, status, created)"
        " VALUES (?, ?, ?, ?, 'Requested', ?)",
        (line.item.id, quantity, draft.reason, draft.comment, NOW.isoformat(sep=" ", timespec="minutes")),
    )
    return redirect(f"/orders/{found.id}?returned=1")


def _return_page(visit: Visit, found: Order, draft: ReturnDraft, errors: dict[str, str]) -> Response:
    lines = [line for line in _lines(visit.db, found) if line.returnable > 0]
    values = {"order": found, "lines": lines, "draft": draft, "errors": errors, "reasons": RETURN_REASONS}
    return render(visit, "return.html", 422 if errors else 200, **values)


def _delivered(visit: Visit) -> Order:
    found = _own_order(visit)
    if found.status != "Delivered":
        raise Refusal(422, "Only items of a Delivered order can be returned.")
    return found


def _own_order(visit: Visit) -> Order:
    customer = visit.require_user()
    row = visit.db.execute("SELECT * FROM orders WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    found = Order(*row)
    if found.customer_id != customer.id:
        raise Refusal(403, "This order belongs to another customer.")
    return found


def _lines(db: sqlite3.Connection, found: Order) -> list[OrderLine]:
    rows = db.execute(
        "SELECT i.*, p.*, (SELECT COALESCE(SUM(r.quantity), 0) FROM returns r"
        " WHERE r.order_item_id = i.id AND r.status != 'Refused')"
        " FROM order_items i JOIN products p ON p.id = i.product_id WHERE i.order_id = ? ORDER BY i.id",
        (found.id,),
    )
    return [OrderLine(OrderItem(*row[:6]), Product(*row[6:-1]), row[-1]) for row in rows]

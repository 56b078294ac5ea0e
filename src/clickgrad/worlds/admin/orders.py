"""Orders: the list, an order with its items, notes and shipments, and what may be done with it."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from starlette.responses import Response

from clickgrad.worlds.admin.forms import Form
from clickgrad.worlds.admin.grid import Filter, chosen, cut, read_period
from clickgrad.worlds.admin.pages import Visit, detail, render
from clickgrad.worlds.pages import NOT_FOUND, Refusal
from clickgrad.worlds.shop.content import CARRIERS
from clickgrad.worlds.shop.rows import Customer, Order, Shipment
from clickgrad.worlds.site import NOW

STATUSES = ("Processing", "On Hold", "Shipped", "Delivered", "Cancelled")
SORTS = {"newest": "Newest", "oldest": "Oldest", "total_desc": "Highest total", "total_asc": "Lowest total"}
_ORDER = {
    "newest": "ORDER BY o.created DESC, o.id DESC",
    "oldest": "ORDER BY o.created, o.id",
    "total_desc": "ORDER BY o.total_cents DESC, o.id",
    "total_asc": "ORDER BY o.total_cents, o.id",
}
# action of the address -> (statuses it can be taken in, the status after it, the notice)
_STEPS = {
    "hold": (("Processing",), "On Hold", "held"),
    "unhold": (("On Hold",), "Processing", "released"),
    "cancel": (("Processing", "On Hold"), "Cancelled", "cancelled"),
    "deliver": (("Shipped",), "Delivered", "delivered"),
}
ORDER_ROWS = (
    "SELECT o.id, o.created, c.name, o.status, o.total_cents FROM orders o JOIN customers c ON c.id = o.customer_id"
)
MAX_NOTE = 500
MAX_TRACKING = 40


class OrderRow(NamedTuple):
    id: int
    created: str
    customer: str
    status: str
    total_cents: int


class Line(NamedTuple):
    """An item of an order."""

    product: str
    size: str
    quantity: int
    price_cents: int


class Note(NamedTuple):
    created: str
    author: str
    text: str
    notify: bool


def orders(visit: Visit) -> Response:
    search, period = visit.query.get("q", "").strip(), read_period(visit)
    status = chosen(visit, "status", STATUSES.__contains__)
    sort = chosen(visit, "sort", SORTS, "newest")
    wanted = Filter()
    wanted.words(search, "'order ' || o.id || ' ' || c.name || ' ' || c.email")
    wanted.days(period, "o.created")
    if status:
        wanted.add("o.status = ?", status)
    grid = cut(visit, OrderRow, ORDER_ROWS, wanted, _ORDER[sort])
    values = {"search": search, "state": status, "statuses": STATUSES, "period": period, "sort": sort, "sorts": SORTS}
    return render(visit, "orders.html", 200, grid=grid, **values)


def order(visit: Visit) -> Response:
    found = _find(visit)
    lines = visit.db.execute(
        "SELECT p.name, i.size, i.quantity, i.price_cents FROM order_items i"
        " JOIN products p ON p.id = i.product_id WHERE i.order_id = ? ORDER BY i.id",
        (found.id,),
    )
    notes = visit.db.execute(
        "SELECT n.created, COALESCE(s.name, 'Shop'), n.text, n.notify FROM order_notes n"
        " LEFT JOIN staff s ON s.id = n.staff_id WHERE n.order_id = ? ORDER BY n.created DESC, n.id DESC",
        (found.id,),
    )
    shipments = visit.db.execute("SELECT * FROM shipments WHERE order_id = ? ORDER BY id", (found.id,))
    return render(
        visit,
        "order.html",
        order=found,
        customer=find_customer(visit.db, found.customer_id),
        lines=[Line(*row) for row in lines],
        notes=[Note(*row) for row in notes],
        shipments=[Shipment(*row) for row in shipments],
        steps=[step for step, (before, _, _) in _STEPS.items() if found.status in before],
    )


def step(visit: Visit) -> Response:
    """Hold, unhold, cancel or deliver."""
    found = _find(visit)
    if visit.path["step"] not in _STEPS:
        raise NOT_FOUND
    before, after, done = _STEPS[visit.path["step"]]
    if found.status not in before:
        raise Refusal(409, f"This cannot be done: the order is {found.status}.")
    visit.db.execute("UPDATE orders SET status = ? WHERE id = ?", (after, found.id))
    return detail(visit, f"/orders/{found.id}", done)


def ship_form(visit: Visit) -> Response:
    return render(visit, "ship.html", order=_shippable(visit), carriers=list(CARRIERS), form=Form({}))


def ship(visit: Visit) -> Response:
    found, form = _shippable(visit), Form(visit.form)
    carrier = form.choice("carrier", {name: name for name in CARRIERS}, "Choose a carrier.", "")
    tracking = form.line("tracking", "Enter the tracking number.", MAX_TRACKING)
    if form.errors:
        return render(visit, "ship.html", 422, order=found, carriers=list(CARRIERS), form=form)
    visit.db.execute(
        "INSERT INTO shipments (order_id, carrier, tracking, created) VALUES (?, ?, ?, ?)",
        (found.id, carrier, tracking, _now()),
    )
    visit.db.execute("UPDATE orders SET status = 'Shipped' WHERE id = ?", (found.id,))
    return detail(visit, f"/orders/{found.id}", "shipped")


def note_form(visit: Visit) -> Response:
    return render(visit, "note.html", order=_find(visit), form=Form({}))


def add_note(visit: Visit) -> Response:
    found, form = _find(visit), Form(visit.form)
    text = form.text("text", "Enter the note.", MAX_NOTE)
    if form.errors:
        return render(visit, "note.html", 422, order=found, form=form)
    visit.db.execute(
        "INSERT INTO order_notes (order_id, staff_id, text, notify, created) VALUES (?, ?, ?, ?, ?)",
        (found.id, visit.require_user().id, text, form.ticked("notify"), _now()),
    )
    return detail(visit, f"/orders/{found.id}", "noted")


def find_customer(db: sqlite3.Connection, customer_id: int) -> Customer:
    row = db.execute("SELECT * FROM customers WHERE id = ?", (customer_id,)).fetchone()
    if row is None:
        raise NOT_FOUND
    return Customer(*row)


def _find(visit: Visit) -> Order:
    row = visit.db.execute("SELECT * FROM orders WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return Order(*row)


def _shippable(visit: Visit) -> Order:
    found = _find(visit)
    if found.status != "Processing":
        raise Refusal(409, f"This order cannot be shipped: it is {found.status}.")
    return found


def _now() -> str:
    return NOW.isoformat(sep=" ", timespec="minutes")

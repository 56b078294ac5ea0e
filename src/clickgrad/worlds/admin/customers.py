"""Customers, newsletter subscribers and the messages that came in through the contact form."""

from __future__ import annotations

import re
from typing import NamedTuple

from starlette.responses import Response

from clickgrad.worlds.admin.forms import Form
from clickgrad.worlds.admin.grid import Filter, chosen, cut
from clickgrad.worlds.admin.orders import OrderRow, find_customer
from clickgrad.worlds.admin.pages import Visit, detail, leave, render
from clickgrad.worlds.admin.settings import EMAIL, EMAIL_ERROR
from clickgrad.worlds.pages import NOT_FOUND, redirect
from clickgrad.worlds.shop.rows import ContactMessage, Customer, Subscriber
from clickgrad.worlds.site import NOW

GROUPS = ("General", "Wholesale", "VIP")
SORTS = {"name": "Name", "newest": "Newest", "orders": "Most orders"}
_ORDER = {
    "name": "ORDER BY c.name, c.id",
    "newest": "ORDER BY c.created DESC, c.id DESC",
    "orders": "ORDER BY orders DESC, c.name",
}
_PHONE = re.compile(r"[0-9+][0-9 -]{2,19}")
_PHONE_ERROR = "Enter a phone number such as 555-0100."
LAST_ORDERS = 4


class CustomerRow(NamedTuple):
    id: int
    name: str
    email: str
    customer_group: str
    orders: int


def customers(visit: Visit) -> Response:
    search, group = visit.query.get("q", "").strip(), chosen(visit, "group", GROUPS.__contains__)
    sort = chosen(visit, "sort", SORTS, "name")
    wanted = Filter()
    wanted.words(search, "c.name || ' ' || c.email || ' ' || c.phone")
    if group:
        wanted.add("c.customer_group = ?", group)
    counted = "(SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id) AS orders"
    select = f"SELECT c.id, c.name, c.email, c.customer_group, {counted} FROM customers c"
    grid = cut(visit, CustomerRow, select, wanted, _ORDER[sort])
    values = {"search": search, "group": group, "groups": GROUPS, "sort": sort, "sorts": SORTS}
    return render(visit, "customers.html", 200, grid=grid, **values)


def customer(visit: Visit) -> Response:
    found = find_customer(visit.db, visit.path_id())
    typed = {"name": found.name, "phone": found.phone, "group": found.customer_group}
    return _customer_page(visit, found, Form(typed))


def save(visit: Visit) -> Response:
    found, form = find_customer(visit.db, visit.path_id()), Form(visit.form)
    name = form.line("name", "Enter the name.")
    phone = form.matching("phone", _PHONE, _PHONE_ERROR)
    group = form.choice("group", {group: group for group in GROUPS}, "Choose a group.", "")
    if form.errors:
        return _customer_page(visit, found, form)
    visit.db.execute(
        "UPDATE customers SET name = ?, phone = ?, customer_group = ? WHERE id = ?", (name, phone, group, found.id)
    )
    return detail(visit, f"/customers/{found.id}", "saved")


def _customer_page(visit: Visit, found: Customer, form: Form) -> Response:
    count, spent = visit.db.execute(
        "SELECT COUNT(*), COALESCE(SUM(total_cents) FILTER (WHERE status <> 'Cancelled'), 0)"
        " FROM orders WHERE customer_id = ?",
        (found.id,),
    ).fetchone()
    rows = visit.db.execute(
        "SELECT id, created, '', status, total_cents FROM orders WHERE customer_id = ?"
        " ORDER BY created DESC, id DESC LIMIT ?",
        (found.id, LAST_ORDERS),
    )
    values = {"order_count": count, "spent": spent, "orders": [OrderRow(*row) for row in rows]}
    return render(visit, "customer.html", 422 if form.errors else 200, customer=found, form=form, **values)


def newsletter(visit: Visit) -> Response:
    return _newsletter_page(visit, Form({}))


def add_subscriber(visit: Visit) -> Response:
    form = Form(visit.form)
    email = form.matching("email", EMAIL, EMAIL_ERROR).lower()
    known = visit.db.execute("SELECT 1 FROM subscribers WHERE email = ?", (email,)).fetchone()
    form.check("email", lambda: known is None, "This address already gets the newsletter.")
    if form.errors:
        return _newsletter_page(visit, form)
    visit.db.execute("INSERT INTO subscribers (email, created) VALUES (?, ?)", (email, NOW.date().isoformat()))
    return redirect("/newsletter?done=added")


def subscriber(visit: Visit) -> Response:
    return render(visit, "subscriber.html", subscriber=_find_subscriber(visit))


def remove_subscriber(visit: Visit) -> Response:
    visit.db.execute("DELETE FROM subscribers WHERE id = ?", (_find_subscriber(visit).id,))
    return leave(visit, "/newsletter", "removed")


def _newsletter_page(visit: Visit, form: Form) -> Response:
    search, wanted = visit.query.get("q", "").strip(), Filter()
    wanted.words(search, "email")
    grid = cut(visit, Subscriber, "SELECT * FROM subscribers", wanted, "ORDER BY email")
    return render(visit, "newsletter.html", 422 if form.errors else 200, grid=grid, search=search, form=form)


def _find_subscriber(visit: Visit) -> Subscriber:
    row = visit.db.execute("SELECT * FROM subscribers WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return Subscriber(*row)


def messages(visit: Visit) -> Response:
    search, wanted = visit.query.get("q", "").strip(), Filter()
    wanted.words(search, "subject || ' ' || email || ' ' || text")
    grid = cut(visit, ContactMessage, "SELECT * FROM contact_messages", wanted, "ORDER BY created DESC, id DESC")
    return render(visit, "messages.html", grid=grid, search=search)


def message(visit: Visit) -> Response:
    row = visit.db.execute("SELECT * FROM contact_messages WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return render(visit, "message.html", message=ContactMessage(*row))

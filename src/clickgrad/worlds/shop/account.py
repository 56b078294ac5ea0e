"""The customer's own pages: log in and out, account, order history."""

from __future__ import annotations

from starlette.responses import Response

from clickgrad.worlds.shop.data import Order
from clickgrad.worlds.shop.listing import PAGE_SIZE
from clickgrad.worlds.shop.visit import NOT_FOUND, Refusal, Visit, parse_count, redirect, render
from clickgrad.worlds.site import SESSION_COOKIE, sign_session


def login_form(visit: Visit) -> Response:
    return render(visit, "login.html", email="", next=_safe_next(visit.query.get("next", "")), error="")


def login(visit: Visit) -> Response:
    email, password = visit.form.get("email", "").strip(), visit.form.get("password", "")
    target = _safe_next(visit.form.get("next", ""))
    row = visit.db.execute(
        "SELECT id FROM customers WHERE email = ? AND password = ?", (email.lower(), password)
    ).fetchone()
    if row is None:
        error = "The email or the password is wrong."
        return render(visit, "login.html", 422, email=email, next=target, error=error)
    response = redirect(target)
    response.set_cookie(SESSION_COOKIE, sign_session("shop", row[0]), httponly=True, samesite="lax")
    return response


def logout(_: Visit) -> Response:
    response = redirect("/")
    # An empty session cookie, not an expired one: the Expires header would carry the real time.
    response.set_cookie(SESSION_COOKIE, "", httponly=True, samesite="lax")
    return response


def account(visit: Visit) -> Response:
    visit.require_customer()
    return render(visit, "account.html")


def orders(visit: Visit) -> Response:
    customer = visit.require_customer()
    total = visit.db.execute("SELECT COUNT(*) FROM orders WHERE customer_id = ?", (customer.id,)).fetchone()[0]
    pages = max(1, -(-total // PAGE_SIZE))
    page = min(max(parse_count(visit.query.get("page", "")) or 1, 1), pages)
    rows = visit.db.execute(
        "SELECT * FROM orders WHERE customer_id = ? ORDER BY created DESC, id DESC LIMIT ? OFFSET ?",
        (customer.id, PAGE_SIZE, (page - 1) * PAGE_SIZE),
    )
    return render(visit, "orders.html", orders=[Order(*row) for row in rows], page=page, pages=pages)


def order(visit: Visit) -> Response:
    customer = visit.require_customer()
    row = visit.db.execute("SELECT * FROM orders WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    found = Order(*row)
    if found.customer_id != customer.id:
        raise Refusal(403, "This order belongs to another customer.")
    items = visit.db.execute(
        "SELECT p.id, p.name, i.quantity, i.quantity * i.price_cents FROM order_items i"
        " JOIN products p ON p.id = i.product_id WHERE i.order_id = ? ORDER BY i.id",
        (found.id,),
    ).fetchall()
    return render(visit, "order.html", order=found, items=items, placed=visit.query.get("placed") == "1")


def _safe_next(path: str) -> str:
    """Only paths of this site: `//host` and `/\\host` would lead elsewhere."""
    local = path.startswith("/") and path[1:2] not in ("/", "\\") and path.isprintable() and path.isascii()
    return path if local else "/"

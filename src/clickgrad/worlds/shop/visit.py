"""One request to the shop: who asks, for what, on which database, and how the answer is drawn.

Handlers are plain functions from a `Visit` to a response. They run inside one transaction of the visitor's world; a
`Refusal` undoes it and becomes an error page.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from urllib.parse import parse_qsl, quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from clickgrad.worlds.shop.data import Customer
from clickgrad.worlds.site import SESSION_COOKIE, read_session
from clickgrad.worlds.world import World

MAX_FORM_BYTES = 64_000
MAX_FORM_FIELDS = 50
MAX_ID = 2**31


class Refusal(Exception):
    """The request cannot be served; the visitor is told why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class LoginNeeded(Exception):
    """The page is only for customers."""


NOT_FOUND = Refusal(404, "This page does not exist.")


@dataclass(frozen=True, slots=True)
class Visit:
    db: sqlite3.Connection
    customer: Customer | None
    url: str  # path and query
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]

    def require_customer(self) -> Customer:
        if self.customer is None:
            raise LoginNeeded
        return self.customer

    def path_id(self) -> int:
        """The `{id}` of the route; a page with a malformed id does not exist."""
        number = parse_count(self.path["id"])
        if number is None:
            raise NOT_FOUND
        return number


def endpoint(handler: Callable[[Visit], Response]) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        try:
            form = await _read_form(request) if request.method == "POST" else {}
            return _in_transaction(request, form, handler)
        except LoginNeeded:
            came_from = _url(request) if request.method == "GET" else "/"
            return redirect(f"/login?next={quote(came_from, safe='')}")
        except Refusal as refusal:
            status, message = refusal.status, refusal.message
            return _in_transaction(request, {}, lambda visit: render(visit, "error.html", status, message=message))

    return serve


def render(visit: Visit, template: str, status: int = 200, **values: object) -> Response:
    cart_count = 0
    if visit.customer is not None:
        counted = visit.db.execute(
            "SELECT COALESCE(SUM(quantity), 0) FROM cart_items WHERE customer_id = ?", (visit.customer.id,)
        )
        cart_count = counted.fetchone()[0]
    page = _TEMPLATES.get_template(template).render(customer=visit.customer, cart_count=cart_count, **values)
    # no-store: going back shows the world as it is, not a page from the browser's memory.
    return HTMLResponse(page, status, headers={"cache-control": "no-store"})


def redirect(path: str) -> Response:
    return RedirectResponse(path, 303)


def parse_count(text: str) -> int | None:
    """A plain whole number, or None for anything else."""
    text = text.strip()
    if not (text.isascii() and text.isdecimal()) or len(text) > 10:
        return None
    return int(text) if int(text) < MAX_ID else None


def money(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def stars(rating: float) -> str:
    number = f"{rating:.1f}".removesuffix(".0")
    return f"{number} star" if number == "1" else f"{number} stars"


def day(stamp: str) -> str:
    """2025-03-04 09:12 -> March 4, 2025."""
    when = date.fromisoformat(stamp[:10])
    return f"{_MONTHS[when.month - 1]} {when.day}, {when.year}"


def _in_transaction(request: Request, form: Mapping[str, str], handler: Callable[[Visit], Response]) -> Response:
    world: World = request.scope["world"]
    with world.transaction() as db:
        customer = _customer(db, request.cookies.get(SESSION_COOKIE, ""))
        return handler(Visit(db, customer, _url(request), request.path_params, dict(request.query_params), form))


def _url(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def _customer(db: sqlite3.Connection, cookie: str) -> Customer | None:
    row = db.execute("SELECT * FROM customers WHERE id = ?", (read_session("shop", cookie),)).fetchone()
    return None if row is None else Customer(*row)


async def _read_form(request: Request) -> dict[str, str]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            raise Refusal(413, "The form is too large.")
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS))
    except ValueError:
        raise Refusal(400, "The form could not be read.") from None


# Spelled out because `calendar.month_name` follows the machine's locale.
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_TEMPLATES.filters.update(money=money, stars=stars, day=day)

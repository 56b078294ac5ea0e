"""The shop's look: what every page shows, and how the site writes ratings and draws its products."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from clickgrad.worlds import pages
from clickgrad.worlds.pages import Pages
from clickgrad.worlds.shop.pictures import picture
from clickgrad.worlds.shop.rows import Customer

Visit = pages.Visit[Customer]


def stars(rating: float) -> str:
    number = f"{rating:.1f}".removesuffix(".0")
    return f"{number} star" if number == "1" else f"{number} stars"


def _find_customer(db: sqlite3.Connection, customer_id: int) -> Customer | None:
    row = db.execute("SELECT * FROM customers WHERE id = ?", (customer_id,)).fetchone()
    return None if row is None else Customer(*row)


def _frame(visit: Visit) -> Mapping[str, object]:
    if visit.user is None:
        return {"cart_count": 0}
    counted = visit.db.execute(
        "SELECT COALESCE(SUM(quantity), 0) FROM cart_items WHERE customer_id = ?", (visit.user.id,)
    )
    return {"cart_count": counted.fetchone()[0]}


PAGES = Pages("shop", Path(__file__).parent, _find_customer, _frame)
PAGES.templates.filters["stars"] = stars
PAGES.templates.globals["picture"] = picture
render = PAGES.render

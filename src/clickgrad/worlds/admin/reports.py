"""The dashboard and the reports: what was sold, searched for, bought and reviewed. Cancelled orders do not count."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from starlette.responses import Response

from clickgrad.worlds.admin.grid import Filter, Period, chosen, cut, read_period
from clickgrad.worlds.admin.orders import ORDER_ROWS, OrderRow
from clickgrad.worlds.admin.pages import Visit, render
from clickgrad.worlds.admin.settings import low_stock_limit
from clickgrad.worlds.pages import day
from clickgrad.worlds.shop.rows import SearchTerm

GROUPINGS = {"month": "Month", "status": "Status", "payment": "Payment", "shipping": "Shipping"}
TERM_SORTS = {"uses": "Most used", "results": "Most results", "recent": "Last used"}
_GROUPED_BY = {
    "month": "substr(o.created, 1, 7)",
    "status": "o.status",
    "payment": "o.payment_method",
    "shipping": "o.shipping_method",
}
_TERM_ORDER = {
    "uses": "ORDER BY uses DESC, term",
    "results": "ORDER BY results DESC, term",
    "recent": "ORDER BY last_used DESC, term",
}
_SOLD = (
    "SELECT p.name, SUM(i.quantity) AS sold, SUM(i.quantity * i.price_cents) AS cents FROM order_items i"
    " JOIN orders o ON o.id = i.order_id JOIN products p ON p.id = i.product_id"
)
_BUYERS = "SELECT c.name, COUNT(*) AS orders, SUM(o.total_cents) FROM orders o JOIN customers c ON c.id = o.customer_id"
_BY_MONTH = (
    "SELECT substr(created, 1, 7) AS month, COUNT(*), SUM(total_cents) FROM orders WHERE status <> 'Cancelled'"
    " GROUP BY month ORDER BY month DESC LIMIT ?"
)
CHART_MONTHS = 12
REPORT_SIZE = 8
DASHBOARD_ROWS = 4


class Sold(NamedTuple):
    name: str
    pieces: int
    cents: int


class Sales(NamedTuple):
    name: str  # of the month, status, ...
    orders: int
    cents: int


class Stocked(NamedTuple):
    name: str
    stock: int


class Reviewed(NamedTuple):
    name: str
    reviews: int
    stars: float


def dashboard(visit: Visit) -> Response:
    orders, cents = visit.db.execute(
        "SELECT COUNT(*), COALESCE(SUM(total_cents), 0) FROM orders WHERE status <> 'Cancelled'"
    ).fetchone()
    pending = visit.db.execute("SELECT COUNT(*) FROM reviews WHERE status = 'Pending'").fetchone()[0]
    last = visit.db.execute(f"{ORDER_ROWS} ORDER BY o.created DESC, o.id DESC LIMIT ?", (DASHBOARD_ROWS,))
    sold = visit.db.execute(
        f"{_SOLD} WHERE o.status <> 'Cancelled' GROUP BY p.id ORDER BY sold DESC, p.name LIMIT ?", (DASHBOARD_ROWS,)
    )
    terms = visit.db.execute(f"SELECT * FROM search_terms {_TERM_ORDER['uses']} LIMIT ?", (DASHBOARD_ROWS,))
    months = [_month_sales(*row) for row in visit.db.execute(_BY_MONTH, (CHART_MONTHS,))][::-1]
    return render(
        visit,
        "dashboard.html",
        orders=orders,
        lifetime_cents=cents,
        average_cents=round(cents / orders) if orders else 0,
        pending=pending,
        last_orders=[OrderRow(*row) for row in last],
        bestsellers=[Sold(*row) for row in sold],
        terms=[SearchTerm(*row) for row in terms],
        months=months,
        most_cents=max((month.cents for month in months), default=1),
    )


def reports(visit: Visit) -> Response:
    return render(visit, "reports.html")


def bestsellers(visit: Visit) -> Response:
    categories = dict(visit.db.execute("SELECT slug, name FROM categories ORDER BY name"))
    category, (period, wanted) = chosen(visit, "category", categories), _counting_orders(visit)
    if category:
        wanted.add("p.category_id = (SELECT id FROM categories WHERE slug = ?)", category)
    grid = cut(visit, Sold, _SOLD, wanted, "GROUP BY p.id ORDER BY sold DESC, p.name", REPORT_SIZE)
    values = {"period": period, "category": category, "categories": categories}
    return render(visit, "report_bestsellers.html", 200, grid=grid, **values)


def sales(visit: Visit) -> Response:
    grouping, (period, wanted) = chosen(visit, "by", GROUPINGS, "month"), _counting_orders(visit)
    by = _GROUPED_BY[grouping]
    select = f"SELECT {by} AS part, COUNT(*), SUM(o.total_cents) AS cents FROM orders o"
    order = "part DESC" if grouping == "month" else "cents DESC, part"
    make: Callable[..., Sales] = _month_sales if grouping == "month" else Sales
    grid = cut(visit, make, select, wanted, f"GROUP BY {by} ORDER BY {order}", REPORT_SIZE)
    orders, cents = visit.db.execute(
        f"SELECT COUNT(*), COALESCE(SUM(o.total_cents), 0) FROM orders o WHERE {wanted.where}", wanted.params
    ).fetchone()
    values = {"period": period, "by": grouping, "groupings": GROUPINGS, "orders": orders, "cents": cents}
    return render(visit, "report_sales.html", 200, grid=grid, **values)


def search_terms(visit: Visit) -> Response:
    search, wanted = visit.query.get("q", "").strip(), Filter()
    sort = chosen(visit, "sort", TERM_SORTS, "uses")
    wanted.words(search, "term")
    grid = cut(visit, SearchTerm, "SELECT * FROM search_terms", wanted, _TERM_ORDER[sort], REPORT_SIZE)
    return render(visit, "report_terms.html", grid=grid, search=search, sort=sort, sorts=TERM_SORTS)


def customers(visit: Visit) -> Response:
    period, wanted = _counting_orders(visit)
    grid = cut(visit, Sales, _BUYERS, wanted, "GROUP BY c.id ORDER BY orders DESC, c.name", REPORT_SIZE)
    return render(visit, "report_customers.html", grid=grid, period=period)


def low_stock(visit: Visit) -> Response:
    limit, wanted = low_stock_limit(visit.db), Filter()
    wanted.add("p.enabled AND p.stock <= ?", limit)
    select = "SELECT p.name, p.stock FROM products p"
    grid = cut(visit, Stocked, select, wanted, "ORDER BY p.stock, p.name", REPORT_SIZE)
    return render(visit, "report_stock.html", grid=grid, limit=limit)


def reviews(visit: Visit) -> Response:
    search, wanted = visit.query.get("q", "").strip(), Filter()
    wanted.words(search, "p.name")
    select = "SELECT p.name, COUNT(*) AS reviews, AVG(r.stars) FROM reviews r JOIN products p ON p.id = r.product_id"
    grid = cut(visit, Reviewed, select, wanted, "GROUP BY p.id ORDER BY reviews DESC, p.name", REPORT_SIZE)
    return render(visit, "report_reviews.html", grid=grid, search=search)


def _counting_orders(visit: Visit) -> tuple[Period, Filter]:
    """The period asked for, and the orders of it that count."""
    period, wanted = read_period(visit), Filter()
    wanted.add("o.status <> 'Cancelled'")
    wanted.days(period, "o.created")
    return period, wanted


def _month_sales(month: str, orders: int, cents: int) -> Sales:
    name, _, year = day(f"{month}-01").split()
    return Sales(f"{name} {year}", orders, cents)

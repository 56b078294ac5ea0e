"""A list of products as a visitor asked for it: which ones, in what order, which page."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from urllib.parse import urlencode

from clickgrad.types import Scalar
from clickgrad.worlds.pages import parse_count
from clickgrad.worlds.shop.rows import Product

PAGE_SIZE = 6
SORTS = {"name": "Name", "price_asc": "Price: low to high", "price_desc": "Price: high to low", "rating": "Rating"}

RATED = (
    "SELECT p.*, (SELECT AVG(r.stars) FROM reviews r WHERE r.product_id = p.id AND r.status = 'Approved') AS rating"
    " FROM products p"
)
_ORDER = {
    "name": "p.name",
    "price_asc": "p.price_cents, p.name",
    "price_desc": "p.price_cents DESC, p.name",
    "rating": "rating DESC, p.name",
}
_KEPT = ("q", "sort", "brand", "max", "min", "color", "stock")  # from page to page


@dataclass(frozen=True, slots=True)
class RatedProduct:
    product: Product
    rating: float | None  # the mean of its approved reviews


@dataclass(frozen=True, slots=True)
class Filters:
    """As asked for; prices as typed."""

    sort: str
    brand: str
    color: str
    in_stock: bool
    max_price: str
    min_price: str
    errors: Mapping[str, str]

    @property
    def more(self) -> bool:
        """Whether any of those that are folded away is in use."""
        return bool(self.color or self.in_stock or self.min_price)


@dataclass(frozen=True, slots=True)
class Pager:
    page: int
    pages: int
    previous_url: str
    next_url: str

    @property
    def offset(self) -> int:
        return (self.page - 1) * PAGE_SIZE


@dataclass(frozen=True, slots=True)
class Listing:
    items: tuple[RatedProduct, ...]
    brands: tuple[str, ...]
    colors: tuple[str, ...]
    filters: Filters
    pager: Pager


def rated(row: tuple[Scalar, ...]) -> RatedProduct:
    *fields, rating = row
    return RatedProduct(Product(*fields), rating)  # type: ignore[arg-type]  # SELECT p.* has the columns of Product


def pager(path: str, query: Mapping[str, str], total: int) -> Pager:
    pages = max(1, -(-total // PAGE_SIZE))
    page = min(max(parse_count(query.get("page", "")) or 1, 1), pages)
    kept = {name: query[name] for name in _KEPT if query.get(name)}

    def url(number: int) -> str:
        return f"{path}?{urlencode(kept | {'page': str(number)})}" if 1 <= number <= pages else ""

    return Pager(page, pages, url(page - 1), url(page + 1))


def list_products(
    db: sqlite3.Connection, path: str, query: Mapping[str, str], where: str, params: tuple[Scalar, ...]
) -> Listing:
    """The products that match `where`, narrowed, ordered and cut into pages as `query` says."""
    where = f"p.enabled AND {where}"
    brands, colors = (
        tuple(row[0] for row in db.execute(f"SELECT DISTINCT {name} FROM products p WHERE {where} ORDER BY 1", params))
        for name in ("brand", "color")
    )
    filters = _read_filters(query, brands, colors)
    where, params = _narrow(filters, where, params)
    total = db.execute(f"SELECT COUNT(*) FROM products p WHERE {where}", params).fetchone()[0]
    pages = pager(path, query, total)
    page_rows = f"{RATED} WHERE {where} ORDER BY {_ORDER[filters.sort]} LIMIT ? OFFSET ?"
    rows = db.execute(page_rows, (*params, PAGE_SIZE, pages.offset))
    return Listing(tuple(rated(row) for row in rows), brands, colors, filters, pages)


def _read_filters(query: Mapping[str, str], brands: tuple[str, ...], colors: tuple[str, ...]) -> Filters:
    def one_of(name: str, known: tuple[str, ...]) -> str:
        return query[name] if query.get(name) in known else ""

    prices = {name: query.get(name, "").strip() for name in ("max", "min")}
    errors = {
        name: "Enter a price such as 25." for name, typed in prices.items() if typed and _parse_price(typed) is None
    }
    return Filters(
        sort=one_of("sort", tuple(SORTS)) or "name",
        brand=one_of("brand", brands),
        color=one_of("color", colors),
        in_stock=query.get("stock") == "1",
        max_price=prices["max"],
        min_price=prices["min"],
        errors=errors,
    )


def _narrow(filters: Filters, where: str, params: tuple[Scalar, ...]) -> tuple[str, tuple[Scalar, ...]]:
    wanted: list[tuple[str, Scalar]] = [
        ("p.brand = ?", filters.brand or None),
        ("p.color = ?", filters.color or None),
        ("p.price_cents <= ?", _parse_price(filters.max_price)),
        ("p.price_cents >= ?", _parse_price(filters.min_price)),
        ("p.stock >= ?", 1 if filters.in_stock else None),
    ]
    asked = [(condition, value) for condition, value in wanted if value is not None]
    return " AND ".join([where, *(condition for condition, _ in asked)]), (*params, *(value for _, value in asked))


def _parse_price(text: str) -> int | None:
    """Cents; None for anything that is not a price."""
    try:
        price = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        return None
    return int(price * 100) if price.is_finite() and 0 <= price < 1_000_000 else None

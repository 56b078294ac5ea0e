"""A list of products as a visitor asked for it: which ones, in what order, which page."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from urllib.parse import urlencode

from clickgrad.types import Scalar
from clickgrad.worlds.shop.data import Product
from clickgrad.worlds.shop.visit import parse_count

PAGE_SIZE = 6
SORTS = {"name": "Name", "price_asc": "Price: low to high", "price_desc": "Price: high to low", "rating": "Rating"}

RATED = "SELECT p.*, (SELECT AVG(r.stars) FROM reviews r WHERE r.product_id = p.id) AS rating FROM products p"
_ORDER = {
    "name": "p.name",
    "price_asc": "p.price_cents, p.name",
    "price_desc": "p.price_cents DESC, p.name",
    "rating": "rating DESC, p.name",
}


@dataclass(frozen=True, slots=True)
class RatedProduct:
    product: Product
    rating: float | None  # the mean of its reviews


@dataclass(frozen=True, slots=True)
class Listing:
    items: tuple[RatedProduct, ...]
    total: int
    page: int
    pages: int
    brands: tuple[str, ...]
    sort: str
    brand: str
    max_price: str  # as typed
    max_price_error: str
    previous_url: str
    next_url: str


def rated(row: tuple[Scalar, ...]) -> RatedProduct:
    *fields, rating = row
    return RatedProduct(Product(*fields), rating)  # type: ignore[arg-type]  # SELECT p.* has the columns of Product


def list_products(
    db: sqlite3.Connection, path: str, query: Mapping[str, str], where: str, params: tuple[Scalar, ...]
) -> Listing:
    """The products that match `where`, narrowed, ordered and cut into pages as `query` says."""
    brands = tuple(
        row[0] for row in db.execute(f"SELECT DISTINCT brand FROM products p WHERE {where} ORDER BY brand", params)
    )
    sort = query.get("sort", "") if query.get("sort") in SORTS else "name"
    brand = query.get("brand", "") if query.get("brand") in brands else ""
    max_price = query.get("max", "").strip()
    max_cents = _parse_price(max_price)
    if brand:
        where, params = f"{where} AND p.brand = ?", (*params, brand)
    if max_cents is not None:
        where, params = f"{where} AND p.price_cents <= ?", (*params, max_cents)
    total = db.execute(f"SELECT COUNT(*) FROM products p WHERE {where}", params).fetchone()[0]
    pages = max(1, -(-total // PAGE_SIZE))
    page = min(max(parse_count(query.get("page", "")) or 1, 1), pages)
    page_rows = f"{RATED} WHERE {where} ORDER BY {_ORDER[sort]} LIMIT ? OFFSET ?"
    rows = db.execute(page_rows, (*params, PAGE_SIZE, (page - 1) * PAGE_SIZE))
    return Listing(
        items=tuple(rated(row) for row in rows),
        total=total,
        page=page,
        pages=pages,
        brands=brands,
        sort=sort,
        brand=brand,
        max_price=max_price,
        max_price_error="Enter a price such as 25." if max_price and max_cents is None else "",
        previous_url=_page_url(path, query, page - 1) if page > 1 else "",
        next_url=_page_url(path, query, page + 1) if page < pages else "",
    )


def _parse_price(text: str) -> int | None:
    """Cents; None for anything that is not a price."""
    try:
        price = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        return None
    return int(price * 100) if price.is_finite() and 0 <= price < 1_000_000 else None


def _page_url(path: str, query: Mapping[str, str], page: int) -> str:
    kept = {name: query[name] for name in ("q", "sort", "brand", "max") if query.get(name)}
    return f"{path}?{urlencode(kept | {'page': str(page)})}"

"""Products: the list, and the forms by which they are changed and added."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response

from clickgrad.worlds.admin.forms import MAX_STOCK, Form, plain_price
from clickgrad.worlds.admin.grid import Filter, chosen, cut
from clickgrad.worlds.admin.pages import Visit, detail, render
from clickgrad.worlds.admin.settings import low_stock_limit
from clickgrad.worlds.pages import NOT_FOUND
from clickgrad.worlds.shop.rows import Product
from clickgrad.worlds.site import NOW

SHOWS = {"enabled": "Enabled", "disabled": "Disabled", "low": "Low stock"}
SORTS = {
    "name": "Name",
    "price_asc": "Price: low to high",
    "price_desc": "Price: high to low",
    "stock_asc": "Stock: low to high",
}
_ORDER = {
    "name": "ORDER BY p.name",
    "price_asc": "ORDER BY p.price_cents, p.name",
    "price_desc": "ORDER BY p.price_cents DESC, p.name",
    "stock_asc": "ORDER BY p.stock, p.name",
}
_SKU = re.compile(r"[A-Z0-9][A-Z0-9-]{1,19}")
_SKU_ERROR = "Use 2 to 20 capital letters, digits and hyphens."


class ProductRow(NamedTuple):
    id: int
    name: str
    brand: str
    price_cents: int
    stock: int
    enabled: bool


def products(visit: Visit) -> Response:
    search = visit.query.get("q", "").strip()
    categories = dict(visit.db.execute("SELECT slug, name FROM categories ORDER BY name"))
    category, show = chosen(visit, "category", categories), chosen(visit, "show", SHOWS)
    sort = chosen(visit, "sort", SORTS, "name")
    wanted = Filter()
    wanted.words(search, "p.name || ' ' || p.brand || ' ' || p.sku")
    if category:
        wanted.add("p.category_id = (SELECT id FROM categories WHERE slug = ?)", category)
    if show == "low":
        wanted.add("p.enabled AND p.stock <= ?", low_stock_limit(visit.db))
    elif show:
        wanted.add("p.enabled = ?", show == "enabled")
    select = "SELECT p.id, p.name, p.brand, p.price_cents, p.stock, p.enabled FROM products p"
    grid = cut(visit, ProductRow, select, wanted, _ORDER[sort])
    values = {"search": search, "category": category, "categories": categories, "show": show, "shows": SHOWS}
    return render(visit, "products.html", 200, grid=grid, sort=sort, sorts=SORTS, **values)


def product(visit: Visit) -> Response:
    found = _find(visit)
    return _edit_page(visit, found, Form(_typed(found)))


def save(visit: Visit) -> Response:
    found, form = _find(visit), Form(visit.form)
    values = _common_values(visit, form, found.id)
    if form.errors:
        return _edit_page(visit, found, form)
    changes = ", ".join(f"{name} = :{name}" for name in values)
    visit.db.execute(f"UPDATE products SET {changes} WHERE id = :id", values | {"id": found.id})
    return detail(visit, f"/products/{found.id}", "saved")


def new_form(visit: Visit) -> Response:
    return _new_page(visit, Form({"enabled": "1", "stock": "0"}))


def create(visit: Visit) -> Response:
    form = Form(visit.form)
    values = _common_values(visit, form, 0)
    categories = {name: id_ for id_, name in visit.db.execute("SELECT id, name FROM categories")}
    values |= {
        "category_id": form.choice("category", categories, "Choose a category.", 0),
        "brand": form.line("brand", "Enter the brand."),
        "sku": form.matching("sku", _SKU, _SKU_ERROR),
        "created": NOW.date().isoformat(),
    }
    form.check("sku", lambda: not _taken(visit, "sku", str(values["sku"]), 0), "Another product has this SKU.")
    if form.errors:
        return _new_page(visit, form)
    places = ", ".join(f":{name}" for name in values)
    product_id = visit.db.execute(f"INSERT INTO products ({', '.join(values)}) VALUES ({places})", values).lastrowid
    return detail(visit, f"/products/{product_id}", "created")


def _common_values(visit: Visit, form: Form, product_id: int) -> dict[str, str | int | bool]:
    """What both forms ask for, by column."""
    name = form.line("name", "Enter the name.")
    form.check("name", lambda: not _taken(visit, "name", name, product_id), "Another product has this name.")
    sizes = [size.strip() for size in form.text("sizes", limit=80).split(",")]
    named = sizes == [""] or all(size.isprintable() and size for size in sizes)
    form.check("sizes", lambda: named, "Separate the sizes by commas.")
    return {
        "name": name,
        "price_cents": form.price("price"),
        "stock": form.count("stock", 0, MAX_STOCK),
        "color": form.line("color", "Enter the color.", 30),
        "sizes": ",".join(sizes),
        "description": form.text("description", "Enter a description.", 500),
        "featured": form.ticked("featured"),
        "enabled": form.ticked("enabled"),
    }


def _typed(product: Product) -> Mapping[str, str]:
    """The form as it opens."""
    return {
        "name": product.name,
        "price": plain_price(product.price_cents),
        "stock": str(product.stock),
        "color": product.color,
        "sizes": product.sizes,
        "description": product.description,
        "featured": str(int(product.featured)),
        "enabled": str(int(product.enabled)),
    }


def _edit_page(visit: Visit, found: Product, form: Form) -> Response:
    category = visit.db.execute("SELECT name FROM categories WHERE id = ?", (found.category_id,)).fetchone()[0]
    return render(visit, "product.html", 422 if form.errors else 200, product=found, category=category, form=form)


def _new_page(visit: Visit, form: Form) -> Response:
    categories = [row[0] for row in visit.db.execute("SELECT name FROM categories ORDER BY name")]
    return render(visit, "product_new.html", 422 if form.errors else 200, categories=categories, form=form)


def _taken(visit: Visit, column: str, value: str, own_id: int) -> bool:
    row = visit.db.execute(f"SELECT 1 FROM products WHERE {column} = ? AND id <> ?", (value, own_id)).fetchone()
    return row is not None


def _find(visit: Visit) -> Product:
    row = visit.db.execute("SELECT * FROM products WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return Product(*row)

"""Looking around: home, category and search lists, suggestions while typing, product pages."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from clickgrad.worlds.pages import NOT_FOUND
from clickgrad.worlds.shop.listing import RATED, SORTS, RatedProduct, list_products, rated
from clickgrad.worlds.shop.pages import Visit, render
from clickgrad.worlds.shop.pictures import CATEGORY_ICONS, SHELF
from clickgrad.worlds.shop.rows import Review

MAX_SEARCH_WORDS = 10
SUGGESTIONS = 6
REVIEWS_SHOWN = 3  # beside the product; the others have a page of their own


def home(visit: Visit) -> Response:
    categories = visit.db.execute("SELECT slug, name FROM categories ORDER BY name").fetchall()
    featured = visit.db.execute(f"{RATED} WHERE p.featured AND p.enabled ORDER BY p.id LIMIT 6")
    items = [rated(row) for row in featured]
    return render(visit, "home.html", categories=categories, featured=items, icons=CATEGORY_ICONS, shelf=SHELF)


def category(visit: Visit) -> Response:
    row = visit.db.execute("SELECT id, name FROM categories WHERE slug = ?", (visit.path["slug"],)).fetchone()
    if row is None:
        raise NOT_FOUND
    path = f"/category/{visit.path['slug']}"
    listing = list_products(visit.db, path, visit.query, "p.category_id = ?", (row[0],))
    return render(visit, "list.html", heading=row[1], search="", path=path, listing=listing, sorts=SORTS)


def search(visit: Visit) -> Response:
    text = visit.query.get("q", "").strip()
    where, words = _matching(text)
    listing = list_products(visit.db, "/search", visit.query, where, words)
    heading = f"Results for {text}" if text else "Type what you are looking for."
    return render(visit, "list.html", heading=heading, search=text, path="/search", listing=listing, sorts=SORTS)


def suggest(visit: Visit) -> Response:
    """Names of products for the list under the search field."""
    where, words = _matching(visit.query.get("q", ""))
    found = visit.db.execute(
        f"SELECT p.name FROM products p WHERE p.enabled AND {where} ORDER BY p.name LIMIT ?", (*words, SUGGESTIONS)
    )
    return JSONResponse([name for (name,) in found], headers={"cache-control": "no-store"})


def _matching(text: str) -> tuple[str, tuple[str, ...]]:
    """The condition for products whose name, brand or color has every word of the text, and its parameters."""
    words = tuple(word.lower() for word in text.split()[:MAX_SEARCH_WORDS])
    has_word = "instr(lower(p.name || ' ' || p.brand || ' ' || p.color), ?) > 0"
    return " AND ".join([has_word] * len(words)) or "0", words


def product(visit: Visit) -> Response:
    return product_page(visit, find_product(visit, visit.path_id()))


def product_page(
    visit: Visit, item: RatedProduct, quantity: str = "1", size: str = "", errors: dict[str, str] | None = None
) -> Response:
    rows = visit.db.execute(
        "SELECT * FROM reviews WHERE product_id = ? AND status = 'Approved' ORDER BY created DESC, id DESC",
        (item.product.id,),
    )
    reviews = [Review(*row) for row in rows]
    values = {
        "item": item,
        "reviews": reviews[:REVIEWS_SHOWN],
        "review_count": len(reviews),
        "quantity": quantity,
        "size": size,
        "errors": errors or {},
        "reviewed": visit.query.get("reviewed") == "1",
        "wished": visit.user is not None and _is_wished(visit, visit.user.id, item.product.id),
    }
    return render(visit, "product.html", 422 if errors else 200, **values)


def find_product(visit: Visit, product_id: int) -> RatedProduct:
    row = visit.db.execute(f"{RATED} WHERE p.id = ? AND p.enabled", (product_id,)).fetchone()
    if row is None:
        raise NOT_FOUND
    return rated(row)


def _is_wished(visit: Visit, customer_id: int, product_id: int) -> bool:
    found = visit.db.execute(
        "SELECT 1 FROM wish_items WHERE customer_id = ? AND product_id = ?", (customer_id, product_id)
    )
    return found.fetchone() is not None

"""Looking around: home, category and search lists, product pages, and writing a review."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.shop.data import Review
from clickgrad.worlds.shop.listing import RATED, SORTS, RatedProduct, list_products, rated
from clickgrad.worlds.shop.visit import NOT_FOUND, Visit, parse_count, redirect, render
from clickgrad.worlds.site import NOW

MAX_SEARCH_WORDS = 10
MAX_TITLE = 80
MAX_TEXT = 1000


def home(visit: Visit) -> Response:
    categories = visit.db.execute("SELECT slug, name FROM categories ORDER BY name").fetchall()
    featured = visit.db.execute(f"{RATED} WHERE p.featured ORDER BY p.id")
    return render(visit, "home.html", categories=categories, featured=[rated(row) for row in featured])


def category(visit: Visit) -> Response:
    row = visit.db.execute("SELECT id, name FROM categories WHERE slug = ?", (visit.path["slug"],)).fetchone()
    if row is None:
        raise NOT_FOUND
    path = f"/category/{visit.path['slug']}"
    listing = list_products(visit.db, path, visit.query, "p.category_id = ?", (row[0],))
    return render(visit, "list.html", heading=row[1], search="", path=path, listing=listing, sorts=SORTS)


def search(visit: Visit) -> Response:
    """Products whose name, brand or color has every word of the query."""
    text = visit.query.get("q", "").strip()
    words = text.split()[:MAX_SEARCH_WORDS]
    where = " AND ".join(["instr(lower(p.name || ' ' || p.brand || ' ' || p.color), ?) > 0"] * len(words)) or "0"
    listing = list_products(visit.db, "/search", visit.query, where, tuple(word.lower() for word in words))
    heading = f"Results for {text}" if text else "Type what you are looking for."
    return render(visit, "list.html", heading=heading, search=text, path="/search", listing=listing, sorts=SORTS)


def product(visit: Visit) -> Response:
    return product_page(visit, _find_product(visit))


def product_page(visit: Visit, item: RatedProduct, quantity: str = "1", error: str = "") -> Response:
    rows = visit.db.execute(
        "SELECT * FROM reviews WHERE product_id = ? ORDER BY created DESC, id DESC", (item.product.id,)
    )
    reviews = [Review(*row) for row in rows]
    values = {"item": item, "reviews": reviews, "quantity": quantity, "error": error}
    return render(visit, "product.html", 422 if error else 200, **values)


@dataclass(frozen=True, slots=True)
class ReviewDraft:
    stars: str = ""
    title: str = ""
    text: str = ""

    def errors(self) -> dict[str, str]:
        """Field -> what is wrong with it."""
        found = {}
        if self.stars not in {"1", "2", "3", "4", "5"}:
            found["stars"] = "Choose from 1 to 5 stars."
        if not self.title:
            found["title"] = "Enter a title."
        elif len(self.title) > MAX_TITLE:
            found["title"] = f"Use at most {MAX_TITLE} characters."
        if len(self.text) > MAX_TEXT:
            found["text"] = f"Use at most {MAX_TEXT} characters."
        return found


def review_form(visit: Visit) -> Response:
    visit.require_customer()
    item = _find_product(visit)
    return render(visit, "review.html", product=item.product, draft=ReviewDraft(), errors={})


def write_review(visit: Visit) -> Response:
    customer = visit.require_customer()
    product = _find_product(visit).product
    draft = ReviewDraft(*(visit.form.get(name, "").strip() for name in ("stars", "title", "text")))
    errors = draft.errors()
    if errors:
        return render(visit, "review.html", 422, product=product, draft=draft, errors=errors)
    nickname = customer.name.split()[0]
    visit.db.execute(
        "INSERT INTO reviews (product_id, customer_id, nickname, stars, title, text, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (product.id, customer.id, nickname, int(draft.stars), draft.title, draft.text, NOW.date().isoformat()),
    )
    return redirect(f"/product/{product.id}")


def find_product(visit: Visit, product_id: int) -> RatedProduct:
    row = visit.db.execute(f"{RATED} WHERE p.id = ?", (product_id,)).fetchone()
    if row is None:
        raise NOT_FOUND
    return rated(row)


def _find_product(visit: Visit) -> RatedProduct:
    return find_product(visit, visit.path_id())


def parse_quantity(text: str, stock: int) -> int | str:
    """How many to buy, or what is wrong with the number."""
    if stock == 0:
        return "No more of this product are left."
    quantity = parse_count(text)
    if quantity is None or not 1 <= quantity <= stock:
        return f"Enter a number from 1 to {stock}."
    return quantity

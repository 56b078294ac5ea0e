"""All reviews of a product, and writing one. The shop shows approved reviews only; a new one waits for approval."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.pages import redirect
from clickgrad.worlds.shop.browse import find_product
from clickgrad.worlds.shop.forms import MAX_TEXT, length_error, line_error, wrong
from clickgrad.worlds.shop.listing import PAGE_SIZE, pager
from clickgrad.worlds.shop.pages import Visit, render
from clickgrad.worlds.shop.rows import Review
from clickgrad.worlds.site import NOW

REVIEW_SORTS = {"newest": "Newest", "highest": "Highest rating", "lowest": "Lowest rating"}
_ORDER = {
    "newest": "created DESC, id DESC",
    "highest": "stars DESC, created DESC, id DESC",
    "lowest": "stars, created DESC, id DESC",
}


def reviews(visit: Visit) -> Response:
    item = find_product(visit, visit.path_id())
    sort = visit.query.get("sort", "")
    sort = sort if sort in REVIEW_SORTS else "newest"
    shown = "FROM reviews WHERE product_id = ? AND status = 'Approved'"
    total = visit.db.execute(f"SELECT COUNT(*) {shown}", (item.product.id,)).fetchone()[0]
    path = f"/product/{item.product.id}/reviews"
    pages = pager(path, visit.query, total)
    rows = visit.db.execute(
        f"SELECT * {shown} ORDER BY {_ORDER[sort]} LIMIT ? OFFSET ?", (item.product.id, PAGE_SIZE, pages.offset)
    )
    values = {"reviews": [Review(*row) for row in rows], "total": total, "pager": pages}
    return render(visit, "reviews.html", item=item, path=path, sort=sort, sorts=REVIEW_SORTS, **values)


@dataclass(frozen=True, slots=True)
class ReviewDraft:
    stars: str = ""
    title: str = ""
    text: str = ""

    def errors(self) -> dict[str, str]:
        """Field -> what is wrong with it."""
        return wrong(
            stars="" if self.stars in {"1", "2", "3", "4", "5"} else "Choose from 1 to 5 stars.",
            title=line_error(self.title, "a title"),
            text=length_error(self.text, MAX_TEXT),
        )


def review_form(visit: Visit) -> Response:
    visit.require_user()
    item = find_product(visit, visit.path_id())
    return render(visit, "review.html", product=item.product, draft=ReviewDraft(), errors={})


def write_review(visit: Visit) -> Response:
    customer = visit.require_user()
    product = find_product(visit, visit.path_id()).product
    draft = ReviewDraft(*(visit.typed(name) for name in ("stars", "title", "text")))
    errors = draft.errors()
    if errors:
        return render(visit, "review.html", 422, product=product, draft=draft, errors=errors)
    nickname = customer.name.partition(" ")[0]
    visit.db.execute(
        "INSERT INTO reviews (product_id, customer_id, nickname, stars, title, text, created, status)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 'Pending')",
        (product.id, customer.id, nickname, int(draft.stars), draft.title, draft.text, NOW.date().isoformat()),
    )
    return redirect(f"/product/{product.id}?reviewed=1")

"""What customers hand in and staff decides on: reviews and returns."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from clickgrad.worlds.admin.grid import Filter, Grid, chosen, cut
from clickgrad.worlds.admin.pages import Visit, detail, leave, render
from clickgrad.worlds.pages import NOT_FOUND, Refusal

REVIEW_STATUSES = ("Pending", "Approved", "Rejected")
RETURN_STATUSES = ("Requested", "Approved", "Refused")
STARS = ("1", "2", "3", "4", "5")
# action of the address -> (the status after it, the notice)
_REVIEW_STEPS = {"approve": ("Approved", "approved"), "reject": ("Rejected", "rejected")}
_RETURN_STEPS = {"approve": ("Approved", "approved"), "refuse": ("Refused", "refused")}
_REVIEWS = (
    "SELECT r.id, p.name, c.name, r.nickname, r.stars, r.title, r.text, r.created, r.status FROM reviews r"
    " JOIN products p ON p.id = r.product_id JOIN customers c ON c.id = r.customer_id"
)
_RETURNS = (
    "SELECT r.id, i.order_id, p.name, c.name, r.quantity, r.reason, r.comment, r.status, r.created FROM returns r"
    " JOIN order_items i ON i.id = r.order_item_id JOIN products p ON p.id = i.product_id"
    " JOIN orders o ON o.id = i.order_id JOIN customers c ON c.id = o.customer_id"
)


class ReviewRow(NamedTuple):
    id: int
    product: str
    customer: str
    nickname: str
    stars: int
    title: str
    text: str
    created: str
    status: str


class ReturnRow(NamedTuple):
    id: int
    order_id: int
    product: str
    customer: str
    quantity: int
    reason: str
    comment: str
    status: str
    created: str


def reviews(visit: Visit) -> Response:
    """Those that wait for a decision come first."""
    search = visit.query.get("q", "").strip()
    status = chosen(visit, "status", REVIEW_STATUSES.__contains__)
    stars = chosen(visit, "stars", STARS.__contains__)
    wanted = Filter()
    wanted.words(search, "p.name || ' ' || c.name || ' ' || r.title || ' ' || r.text")
    if status:
        wanted.add("r.status = ?", status)
    if stars:
        wanted.add("r.stars = ?", int(stars))
    order = "ORDER BY r.status = 'Pending' DESC, r.created DESC, r.id DESC"
    grid = cut(visit, ReviewRow, _REVIEWS, wanted, order)
    values = {"search": search, "state": status, "statuses": REVIEW_STATUSES, "stars": stars, "all_stars": STARS}
    return render(visit, "reviews.html", 200, grid=grid, **values)


def review(visit: Visit) -> Response:
    return render(visit, "review.html", review=_find_review(visit))


def review_step(visit: Visit) -> Response:
    found = _find_review(visit)
    if visit.path["step"] not in _REVIEW_STEPS:
        raise NOT_FOUND
    after, done = _REVIEW_STEPS[visit.path["step"]]
    visit.db.execute("UPDATE reviews SET status = ? WHERE id = ?", (after, found.id))
    return detail(visit, f"/reviews/{found.id}", done)


def delete_form(visit: Visit) -> Response:
    return render(visit, "review_delete.html", review=_find_review(visit))


def delete_review(visit: Visit) -> Response:
    visit.db.execute("DELETE FROM reviews WHERE id = ?", (_find_review(visit).id,))
    return leave(visit, "/reviews", "deleted")


def returns(visit: Visit) -> Response:
    search = visit.query.get("q", "").strip()
    status = chosen(visit, "status", RETURN_STATUSES.__contains__)
    wanted = Filter()
    wanted.words(search, "'order ' || i.order_id || ' ' || p.name || ' ' || c.name")
    if status:
        wanted.add("r.status = ?", status)
    order = "ORDER BY r.status = 'Requested' DESC, r.created DESC, r.id DESC"
    grid: Grid[ReturnRow] = cut(visit, ReturnRow, _RETURNS, wanted, order)
    return render(visit, "returns.html", grid=grid, search=search, state=status, statuses=RETURN_STATUSES)


def return_(visit: Visit) -> Response:
    return render(visit, "return.html", item=_find_return(visit))


def return_step(visit: Visit) -> Response:
    found = _find_return(visit)
    if visit.path["step"] not in _RETURN_STEPS:
        raise NOT_FOUND
    if found.status != "Requested":
        raise Refusal(409, f"This return is already {found.status}.")
    after, done = _RETURN_STEPS[visit.path["step"]]
    visit.db.execute("UPDATE returns SET status = ? WHERE id = ?", (after, found.id))
    return detail(visit, f"/returns/{found.id}", done)


def _find_review(visit: Visit) -> ReviewRow:
    row = visit.db.execute(f"{_REVIEWS} WHERE r.id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return ReviewRow(*row)


def _find_return(visit: Visit) -> ReturnRow:
    row = visit.db.execute(f"{_RETURNS} WHERE r.id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return ReturnRow(*row)

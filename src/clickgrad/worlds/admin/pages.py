"""The back office's look: what every page shows, who may see it, and how it writes what it lists."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlencode

from starlette.responses import Response

from clickgrad.worlds import pages
from clickgrad.worlds.pages import Pages, Refusal, money, redirect, safe_next
from clickgrad.worlds.shop.rows import Promotion, Staff

Visit = pages.Visit[Staff]

# What a page says after an action that led to it; the address carries the key.
NOTICES = {
    "saved": "Your changes are saved.",
    "created": "It is saved.",
    "deleted": "It is deleted.",
    "held": "The order is on hold.",
    "released": "The order is no longer on hold.",
    "cancelled": "The order is cancelled.",
    "delivered": "The order is delivered.",
    "shipped": "The shipment is saved.",
    "noted": "The note is saved.",
    "approved": "It is approved.",
    "rejected": "It is rejected.",
    "refused": "It is refused.",
    "added": "The subscriber is added.",
    "removed": "The subscriber is removed.",
}


def off(promotion: Promotion) -> str:
    """What a promotion takes off: 10% off, $5.00 off, Free shipping."""
    if promotion.kind == "Free shipping":
        return promotion.kind
    return f"{promotion.amount}% off" if promotion.kind == "Percent" else f"{money(promotion.amount)} off"


def thousands(number: int) -> str:
    return f"{number:,}"


def twice(options: Iterable[str]) -> list[tuple[str, str]]:
    """For a select whose values are what it shows."""
    return [(option, option) for option in options]


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def require_owner(visit: Visit) -> Staff:
    """What changes how the whole shop works is not for everybody on the staff."""
    staff = visit.require_user()
    if staff.role not in ("Owner", "Manager"):
        raise Refusal(403, "Only owners and managers may do this.")
    return staff


def detail(visit: Visit, path: str, done: str) -> Response:
    """To an object's own page, which says what was done and still knows the list the visitor came from."""
    back = visit.query.get("back", "")
    return redirect(f"{path}?{urlencode({'done': done} | ({'back': back} if back else {}))}")


def leave(visit: Visit, path: str, done: str) -> Response:
    """Back to the list the visitor came from, or to `path`, which says what was done."""
    target = safe_next(visit.query.get("back", "") or path)
    return redirect(f"{target}{'&' if '?' in target else '?'}done={done}")


def _find_staff(db: sqlite3.Connection, staff_id: int) -> Staff | None:
    row = db.execute("SELECT * FROM staff WHERE id = ?", (staff_id,)).fetchone()
    return None if row is None else Staff(*row)


def _frame(visit: Visit) -> Mapping[str, object]:
    path = visit.url.partition("?")[0]
    back = visit.query.get("back", "")
    return {
        "section": "/" + path.split("/")[1],
        "notice": NOTICES.get(visit.query.get("done", ""), ""),
        "back": safe_next(back) if back else "",
        "back_query": f"?{urlencode({'back': back})}" if back else "",
    }


PAGES = Pages("admin", Path(__file__).parent, _find_staff, _frame)
PAGES.templates.filters.update(off=off, count=count, thousands=thousands, twice=twice)
render = PAGES.render

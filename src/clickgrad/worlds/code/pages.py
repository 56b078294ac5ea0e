"""The look of the code site: what every page shows, and how the site writes counts and lists."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from clickgrad.worlds import pages
from clickgrad.worlds.code.rows import User
from clickgrad.worlds.pages import Pages
from clickgrad.worlds.site import NOW

Visit = pages.Visit[User]

# When everything that visitors do happens.
STAMP = NOW.isoformat(sep=" ", timespec="minutes")
TODAY = STAMP[:10]


def count(number: int, noun: str) -> str:
    """1 star, 2 stars, 1 branch, 2 branches."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}es" if noun.endswith("ch") else f"{number} {noun}s"


def _find_user(db: sqlite3.Connection, user_id: int) -> User | None:
    row = db.execute("SELECT * FROM code_users WHERE id = ?", (user_id,)).fetchone()
    return None if row is None else User(*row)


def _frame(_: Visit) -> Mapping[str, object]:
    return {}


PAGES = Pages("code", Path(__file__).parent, _find_user, _frame)
PAGES.templates.filters["count"] = count
render = PAGES.render

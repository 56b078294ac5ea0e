"""The forum's look: who its users are, and how the site writes ages, scores and counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from clickgrad.worlds import pages
from clickgrad.worlds.forum.data import User
from clickgrad.worlds.pages import Pages, parse_count
from clickgrad.worlds.site import NOW

Visit = pages.Visit[User]


def stamp() -> str:
    """The moment as it is written into new rows."""
    return NOW.isoformat(sep=" ", timespec="minutes")


def age(created: str) -> str:
    """3 days ago: of the two largest units only the larger."""
    minutes = int((NOW - datetime.fromisoformat(created)).total_seconds()) // 60
    for unit, length in (("year", 525_600), ("month", 43_200), ("day", 1440), ("hour", 60), ("minute", 1)):
        if minutes >= length:
            return f"{counted(minutes // length, unit)} ago"
    return "just now"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def hue(forum: str) -> str:
    """The class that colors a forum's badge."""
    return f"hue-{sum(map(ord, forum)) % 6}"


def lines(text: str) -> str:
    """Typed text as it is stored: browsers send line breaks as two characters."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def length_error(text: str, limit: int, missing: str = "") -> str:
    """What is wrong with a text; `missing` is said when it must not be empty."""
    if len(text) > limit:
        return f"Use at most {limit} characters."
    return "" if text else missing


def page_number(query: Mapping[str, str], pages_in_all: int) -> int:
    """The page asked for, or the nearest there is."""
    return min(max(parse_count(query.get("page", "")) or 1, 1), pages_in_all)


def _find_user(db: sqlite3.Connection, user_id: int) -> User | None:
    row = db.execute("SELECT * FROM forum_users WHERE id = ?", (user_id,)).fetchone()
    return None if row is None else User(*row)


def _frame(_: Visit) -> Mapping[str, object]:
    return {}


PAGES = Pages("forum", Path(__file__).parent, _find_user, _frame)
PAGES.templates.filters.update(age=age, counted=counted, hue=hue)
render = PAGES.render

"""The map's look: what every page shows, how the site writes distances and times, and the drawn map beside the text."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from markupsafe import Markup

from clickgrad.worlds import pages
from clickgrad.worlds.map.data import Place, User
from clickgrad.worlds.map.drawing import Pin, draw
from clickgrad.worlds.map.geometry import Point
from clickgrad.worlds.map.view import WHOLE, View
from clickgrad.worlds.pages import NOT_FOUND, Pages, parse_count

Visit = pages.Visit[User]

PAGE_SIZE = 8


@dataclass(frozen=True, slots=True)
class Panel:
    """The drawn map of a page. With controls it can be moved and zoomed; without, a link leads to where it can."""

    svg: Markup
    view: View
    controls: bool = False


@dataclass(frozen=True, slots=True)
class Paging:
    page: int
    pages: int
    previous_url: str
    next_url: str

    @property
    def offset(self) -> int:
        return (self.page - 1) * PAGE_SIZE


def length(meters: float) -> str:
    """850 m, 3.4 km. Short ways are rounded to ten meters."""
    short = round(meters / 10) * 10
    return f"{short} m" if short < 1000 else f"{meters / 1000:.1f} km"


def duration(minutes: int) -> str:
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def one_line(text: str) -> str:
    return " ".join(text.split())


def seed_of(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT seed FROM map_regions WHERE id = 1").fetchone()[0])


def panel(
    visit: Visit,
    view: View,
    pins: Sequence[Pin] = (),
    *,
    line: Sequence[Point] = (),
    radius: tuple[Point, int] | None = None,
    controls: bool = False,
) -> Panel:
    # The drawing escapes the names it writes.
    return Panel(Markup(draw(seed_of(visit.db), view, pins, line, radius)), view, controls)


def paging(visit: Visit, path: str, total: int, keep: Sequence[str] = ()) -> Paging:
    """Where the visitor is in a list, and the addresses of the pages beside it; `keep` names what else they hold."""
    count = max(1, -(-total // PAGE_SIZE))
    page = min(max(parse_count(visit.query.get("page", "")) or 1, 1), count)
    kept = {name: visit.query[name] for name in keep if visit.query.get(name)}

    def url(number: int) -> str:
        return f"{path}?{urlencode(kept | {'page': str(number)})}" if 1 <= number <= count else ""

    return Paging(page, count, url(page - 1), url(page + 1))


def find_place(visit: Visit) -> Place:
    """The place of the route's `{id}`."""
    row = visit.db.execute("SELECT * FROM map_places WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return Place(*row)


def _find_user(db: sqlite3.Connection, user_id: int) -> User | None:
    row = db.execute("SELECT * FROM map_users WHERE id = ?", (user_id,)).fetchone()
    return None if row is None else User(*row)


def _frame(visit: Visit) -> Mapping[str, object]:
    """`whole` stands in on pages that have no map of their own."""
    return {"whole": panel(visit, WHOLE)}


PAGES = Pages("map", Path(__file__).parent, _find_user, _frame)
PAGES.templates.filters.update(length=length, duration=duration)
PAGES.templates.globals.update(urlencode=urlencode)
render = PAGES.render

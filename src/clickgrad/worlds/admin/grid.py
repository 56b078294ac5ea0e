"""A list as a visitor asked for it: which rows, in what order, which page. Knows no table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import urlencode

from clickgrad.types import Scalar
from clickgrad.worlds.admin.forms import DATE_ERROR, parse_date
from clickgrad.worlds.admin.pages import Visit
from clickgrad.worlds.pages import parse_count

PAGE_SIZE = 6
MAX_SEARCH_WORDS = 10

Row = TypeVar("Row")


@dataclass(slots=True)
class Filter:
    """Conditions that a row must meet, all of them."""

    conditions: list[str] = field(default_factory=list)
    params: list[Scalar] = field(default_factory=list)

    def add(self, condition: str, *params: Scalar) -> None:
        self.conditions.append(condition)
        self.params.extend(params)

    def words(self, text: str, expression: str) -> None:
        """Every word of the text must occur in the SQL expression."""
        for word in text.lower().split()[:MAX_SEARCH_WORDS]:
            self.add(f"instr(lower({expression}), ?) > 0", word)

    def days(self, period: Period, column: str) -> None:
        if period.first:
            self.add(f"substr({column}, 1, 10) >= ?", period.first)
        if period.last:
            self.add(f"substr({column}, 1, 10) <= ?", period.last)

    @property
    def where(self) -> str:
        return " AND ".join(self.conditions) or "1"


@dataclass(frozen=True, slots=True)
class Period:
    """From one day to another, both included; either may be open. `from_` and `to` are as typed."""

    from_: str
    to: str
    from_error: str
    to_error: str

    @property
    def first(self) -> str:
        return "" if self.from_error else self.from_

    @property
    def last(self) -> str:
        return "" if self.to_error else self.to


def read_period(visit: Visit) -> Period:
    from_, to = (visit.query.get(name, "").strip() for name in ("from", "to"))
    errors = [DATE_ERROR if text and parse_date(text) is None else "" for text in (from_, to)]
    return Period(from_, to, *errors)


def chosen(visit: Visit, name: str, options: Callable[[str], bool] | dict[str, str], default: str = "") -> str:
    """A choice from the address, or the default when there is no such choice."""
    value = visit.query.get(name, "")
    known = value in options if isinstance(options, dict) else options(value)
    return value if known else default


@dataclass(frozen=True, slots=True)
class Grid(Generic[Row]):
    rows: tuple[Row, ...]
    total: int
    page: int
    pages: int
    first_rank: int  # of the first row on this page, counted from 1 over all pages
    previous_url: str
    next_url: str
    back_query: str  # what the rows' links carry so that their pages know the way back; "" for the list as it opens


def cut(
    visit: Visit, make: Callable[..., Row], select: str, wanted: Filter, rest: str, size: int = PAGE_SIZE
) -> Grid[Row]:
    """One page of `select` WHERE `wanted` `rest`; the latter orders, and may group."""
    sql = f"{select} WHERE {wanted.where} {rest}"
    total = visit.db.execute(f"SELECT COUNT(*) FROM ({sql})", wanted.params).fetchone()[0]
    pages = max(1, -(-total // size))
    page = min(max(parse_count(visit.query.get("page", "")) or 1, 1), pages)
    rows = visit.db.execute(f"{sql} LIMIT ? OFFSET ?", (*wanted.params, size, (page - 1) * size))
    here = _page_url(visit, page)
    return Grid(
        rows=tuple(make(*row) for row in rows),
        total=total,
        page=page,
        pages=pages,
        first_rank=(page - 1) * size + 1,
        previous_url=_page_url(visit, page - 1) if page > 1 else "",
        next_url=_page_url(visit, page + 1) if page < pages else "",
        back_query=f"?{urlencode({'back': here})}" if "?" in here else "",
    )


def _page_url(visit: Visit, page: int) -> str:
    kept = {name: value for name, value in visit.query.items() if value and name not in ("page", "done", "back")}
    query = kept | ({"page": str(page)} if page > 1 else {})
    path = visit.url.partition("?")[0]
    return f"{path}?{urlencode(query)}" if query else path

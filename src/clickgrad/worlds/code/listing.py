"""Lists as a visitor asked for them: which rows, in what order, which page. The default of every filter is empty."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from clickgrad.types import Scalar
from clickgrad.worlds.code.pages import Visit
from clickgrad.worlds.code.rows import Issue, Label, MergeRequest, Project
from clickgrad.worlds.pages import parse_count

T = TypeVar("T")

PAGE_SIZE = 6
LONG_PAGE = 8  # of lists with short lines
MAX_SEARCH_WORDS = 10


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: tuple[T, ...]
    total: int
    number: int
    pages: int
    previous_url: str
    next_url: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A dropdown of a list's form: value -> text, and what is chosen."""

    name: str
    label: str
    options: Mapping[str, str]
    chosen: str


@dataclass(frozen=True, slots=True)
class ProjectLine:
    project: Project
    stars: int
    forks: int
    role: str


@dataclass(frozen=True, slots=True)
class IssueLine:
    issue: Issue
    author: str
    assignee: str
    project: str
    path: str
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class RequestLine:
    request: MergeRequest
    author: str
    assignee: str
    reviewer: str
    project: str
    path: str


def paged(
    visit: Visit, sql: str, params: Sequence[Scalar], make: Callable[[tuple[Any, ...]], T], size: int = PAGE_SIZE
) -> Page[T]:
    """One page of what `sql` selects; `page` in the address says which."""
    total = visit.db.execute(f"SELECT COUNT(*) FROM ({sql})", params).fetchone()[0]
    pages = max(1, -(-total // size))
    number = min(max(parse_count(visit.query.get("page", "")) or 1, 1), pages)
    rows = visit.db.execute(f"{sql} LIMIT ? OFFSET ?", (*params, size, (number - 1) * size)).fetchall()
    return Page(
        items=tuple(make(row) for row in rows),
        total=total,
        number=number,
        pages=pages,
        previous_url=page_url(visit, number - 1) if number > 1 else "",
        next_url=page_url(visit, number + 1) if number < pages else "",
    )


def page_url(visit: Visit, number: int) -> str:
    """The same list at another page. The first page has no number, so that a list has one address."""
    kept = {name: value for name, value in visit.query.items() if value and name != "page"}
    if number > 1:
        kept["page"] = str(number)
    path = visit.url.partition("?")[0]
    return f"{path}?{urlencode(kept)}" if kept else path


def choose(visit: Visit, name: str, label: str, options: Mapping[str, str]) -> Choice:
    """What the address says, or the default when it says something unknown."""
    asked = visit.query.get(name, "")
    return Choice(name, label, options, asked if asked in options else "")


def search_words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in text.split()[:MAX_SEARCH_WORDS])


def has_words(column: str, words: Sequence[str]) -> str:
    """A condition that holds when the column has every word."""
    return " AND ".join([f"instr(lower({column}), ?) > 0"] * len(words)) or "1"


# --- projects -------------------------------------------------------------------------------------------------------

STARS = "p.base_stars + (SELECT COUNT(*) FROM code_stars s WHERE s.project_id = p.id)"
FORKS = "p.base_forks + (SELECT COUNT(*) FROM code_projects f WHERE f.forked_from = p.id)"
PROJECT_SORTS = {"": "Name", "stars": "Most stars", "forks": "Most forks", "newest": "Newest"}
PROJECT_ORDER = {
    "": "p.name, p.id",
    "stars": "stars DESC, p.name",
    "forks": "forks DESC, p.name",
    "newest": "p.created DESC, p.id DESC",
}


def select_projects(where: str, order: str = PROJECT_ORDER[""]) -> str:
    """The visitor's id is the first parameter."""
    role = "(SELECT role FROM code_members m WHERE m.project_id = p.id AND m.user_id = ?)"
    columns = f"p.*, {STARS} AS stars, {FORKS} AS forks, COALESCE({role}, '')"
    return f"SELECT {columns} FROM code_projects p WHERE {where} ORDER BY {order}"


def project_line(row: tuple[Any, ...]) -> ProjectLine:
    return ProjectLine(Project(*row[:-3]), *row[-3:])


# --- issues ---------------------------------------------------------------------------------------------------------

ISSUE_STATES = {"": "Open", "closed": "Closed", "all": "All"}
ISSUE_SORTS = {"": "Newest", "oldest": "Oldest", "due": "Due date", "comments": "Most comments"}
_COMMENTED = "(SELECT COUNT(*) FROM code_comments c WHERE c.issue_id = i.id)"
_ISSUE_ORDER = {
    "": "i.created DESC, i.id DESC",
    "oldest": "i.created, i.id",
    "due": "i.due_date IS NULL, i.due_date, i.id",
    "comments": f"{_COMMENTED} DESC, i.id",
}


def list_issues(visit: Visit, where: str, params: Sequence[Scalar], sort: str = "") -> Page[IssueLine]:
    sql = (
        "SELECT i.*, u.name, COALESCE(a.name, 'Nobody'), p.name, '/' || p.namespace || '/' || p.slug"
        " FROM code_issues i JOIN code_users u ON u.id = i.author_id LEFT JOIN code_users a ON a.id = i.assignee_id"
        f" JOIN code_projects p ON p.id = i.project_id WHERE {where} ORDER BY {_ISSUE_ORDER[sort]}"
    )
    return paged(visit, sql, params, lambda row: _issue_line(visit.db, row))


def _issue_line(db: sqlite3.Connection, row: tuple[Any, ...]) -> IssueLine:
    *columns, author, assignee, project, path = row
    return IssueLine(Issue(*columns), author, assignee, project, path, labels_of(db, row[0]))


def labels_of(db: sqlite3.Connection, issue_id: int) -> tuple[Label, ...]:
    rows = db.execute(
        "SELECT l.* FROM code_issue_labels x JOIN code_labels l ON l.id = x.label_id"
        " WHERE x.issue_id = ? ORDER BY l.name",
        (issue_id,),
    )
    return tuple(Label(*row) for row in rows)


# --- merge requests -------------------------------------------------------------------------------------------------

REQUEST_STATES = {"": "Open", "merged": "Merged", "closed": "Closed", "all": "All"}
REQUEST_SORTS = {"": "Newest", "oldest": "Oldest"}
_REQUEST_ORDER = {"": "r.created DESC, r.id DESC", "oldest": "r.created, r.id"}


def list_requests(visit: Visit, where: str, params: Sequence[Scalar], sort: str = "") -> Page[RequestLine]:
    sql = (
        "SELECT r.*, u.name, COALESCE(a.name, 'Nobody'), COALESCE(v.name, 'Nobody'), p.name,"
        " '/' || p.namespace || '/' || p.slug"
        " FROM code_merge_requests r JOIN code_users u ON u.id = r.author_id"
        " LEFT JOIN code_users a ON a.id = r.assignee_id LEFT JOIN code_users v ON v.id = r.reviewer_id"
        f" JOIN code_projects p ON p.id = r.project_id WHERE {where} ORDER BY {_REQUEST_ORDER[sort]}"
    )
    return paged(visit, sql, params, lambda row: RequestLine(MergeRequest(*row[:-5]), *row[-5:]))


def names_in(db: sqlite3.Connection, table: str, column: str, project_id: int) -> dict[str, str]:
    """Username -> name of the people that a column of a project's issues or merge requests names, by name."""
    rows = db.execute(
        f"SELECT DISTINCT u.username, u.name FROM {table} t JOIN code_users u ON u.id = t.{column}"
        " WHERE t.project_id = ? ORDER BY u.name",
        (project_id,),
    )
    return dict(rows.fetchall())

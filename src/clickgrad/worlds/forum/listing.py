"""A list of posts as a visitor asked for it: which ones, in what order, how far back, which page."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from clickgrad.types import Scalar
from clickgrad.worlds.forum.pages import page_number
from clickgrad.worlds.site import NOW

PAGE_SIZE = 6
SORTS = {"hot": "Hot", "new": "New", "top": "Top", "comments": "Most commented"}
RANGES = {"all": "All time", "day": "Past day", "week": "Past week", "month": "Past month", "year": "Past year"}
RANGE_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

LISTED = """
SELECT p.id, p.title, p.url, p.body, p.created, p.user_id, u.username, f.name, f.slug,
    p.base_score + (SELECT COALESCE(SUM(value), 0) FROM forum_post_votes v WHERE v.post_id = p.id) AS score,
    (SELECT COUNT(*) FROM forum_comments c WHERE c.post_id = p.id AND c.deleted = 0) AS comments
FROM forum_posts p JOIN forum_users u ON u.id = p.user_id JOIN forum_forums f ON f.id = p.forum_id
WHERE p.deleted = 0 AND """
_ORDER = {
    # A point is worth an hour of age.
    "hot": "score * 60 + strftime('%s', p.created) / 60 DESC, p.id DESC",
    "new": "p.created DESC, p.id DESC",
    "top": "score DESC, p.id DESC",
    "comments": "comments DESC, p.id DESC",
}


@dataclass(frozen=True, slots=True)
class ListedPost:
    id: int
    title: str
    url: str
    body: str
    created: str
    user_id: int
    username: str
    forum: str
    slug: str
    score: int
    comments: int

    @property
    def path(self) -> str:
        return f"/f/{self.slug}/{self.id}"


@dataclass(frozen=True, slots=True)
class Pager:
    page: int
    pages: int
    previous_url: str
    next_url: str


@dataclass(frozen=True, slots=True)
class Listing:
    posts: tuple[ListedPost, ...]
    total: int
    sort: str
    range: str
    pager: Pager


def pager(path: str, query: Mapping[str, str], total: int, size: int = PAGE_SIZE) -> Pager:
    """Links to the neighbours of the page asked for keep the rest of the query."""
    pages = max(1, -(-total // size))
    page = page_number(query, pages)

    def url(number: int) -> str:
        kept = {name: query[name] for name in ("q", "forum", "sort", "t") if query.get(name)}
        return f"{path}?{urlencode(kept | {'page': str(number)})}" if 1 <= number <= pages else ""

    return Pager(page, pages, url(page - 1), url(page + 1))


def list_posts(
    db: sqlite3.Connection,
    path: str,
    query: Mapping[str, str],
    where: str,
    params: tuple[Scalar, ...],
    default_sort: str = "new",
    first_title: str = "",
) -> Listing:
    """The posts that match `where`, as `query` says, one with the title `first_title` before all others.

    How far back (`t`) counts only in the order `top`.
    """
    sort = query.get("sort", "") if query.get("sort") in SORTS else default_sort
    reach = query.get("t", "") if sort == "top" and query.get("t") in RANGES else "all"
    if reach != "all":
        since = NOW - timedelta(days=RANGE_DAYS[reach])
        where, params = f"{where} AND p.created >= ?", (*params, since.isoformat(sep=" ", timespec="minutes"))
    total = db.execute(f"SELECT COUNT(*) FROM forum_posts p WHERE p.deleted = 0 AND {where}", params).fetchone()[0]
    place = pager(path, query, total)
    rows = db.execute(
        f"{LISTED} {where} ORDER BY lower(p.title) = ? DESC, {_ORDER[sort]} LIMIT ? OFFSET ?",
        (*params, first_title, PAGE_SIZE, (place.page - 1) * PAGE_SIZE),
    )
    return Listing(tuple(ListedPost(*row) for row in rows), total, sort, reach, place)

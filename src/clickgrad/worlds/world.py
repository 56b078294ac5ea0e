"""One episode's copy of the universe: it can be browsed through the gateway, and read, compared and closed from here.

Two threads touch a world, the server's and its owner's, so every use of the database happens under one lock.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from clickgrad.errors import WorldError, boundary
from clickgrad.types import RowChange, Scalar
from clickgrad.worlds.gateway import WORLD_HEADER
from clickgrad.worlds.site import SESSION_COOKIE, Site, sign_session
from clickgrad.worlds.universe import Row, Universe, hash_tables, read_tables


class Cookie(NamedTuple):
    host: str
    name: str
    value: str


class World:
    def __init__(self, universe: Universe, sites: Sequence[Site], on_close: Callable[[World], None]) -> None:
        self.token = secrets.token_urlsafe(24)
        self._universe = universe
        self._sites = tuple(sites)
        self._on_close = on_close
        self._lock = threading.Lock()
        self._closed = False
        self._seen: tuple[int, tuple[RowChange, ...]] = (0, ())  # writes so far, and what they came to
        with boundary(WorldError, "forking a world"):
            # isolation_level=None: transactions begin and end only where `transaction` says so.
            self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            self._db.deserialize(universe.image)

    @property
    def headers(self) -> dict[str, str]:
        """What a browser context sends with every request to land in this world."""
        return {WORLD_HEADER: self.token}

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The database, for one thread at a time: kept when the block ends well, rolled back when it raises."""
        with self._lock:
            if self._closed:
                raise WorldError("the world is closed")
            self._db.execute("BEGIN")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def login(self, user: str) -> tuple[Cookie, ...]:
        """The cookies with which a browser context starts out signed in as `user`, on every site that knows them."""
        with boundary(WorldError, f"logging in {user}"), self.transaction() as db:
            known = [(site, site.user_id(db, user)) for site in self._sites]
        cookies = [Cookie(site.host, SESSION_COOKIE, sign_session(site.name, id_)) for site, id_ in known if id_]
        if not cookies:
            raise WorldError(f"no site has a user {user!r}")
        return tuple(cookies)

    def query(self, sql: str, params: Sequence[Scalar] = ()) -> tuple[Row, ...]:
        """Read rows. Writing is refused: only pages change a world."""
        with boundary(WorldError, f"querying {sql!r}"), self.transaction() as db:
            db.execute("PRAGMA query_only = ON")
            try:
                return tuple(db.execute(sql, params).fetchall())
            finally:
                db.execute("PRAGMA query_only = OFF")

    def hash(self) -> str:
        """Equal for two worlds exactly when all their rows are equal."""
        return hash_tables(self._read())

    def diff(self) -> tuple[RowChange, ...]:
        """What has changed since the fork, by table and then by primary key."""
        with self.transaction() as db:
            writes = db.total_changes
        if writes != self._seen[0]:  # reading all tables takes a while, and most pages write nothing
            self._seen = writes, self._changes()
        return self._seen[1]

    def state(self) -> str:
        """A short hash of `diff`: the same for two worlds of a universe exactly when all their rows are equal."""
        return hashlib.sha256(repr(self.diff()).encode()).hexdigest()[:16]

    def _changes(self) -> tuple[RowChange, ...]:
        now = self._read()
        changes: list[RowChange] = []
        for table, columns in self._universe.columns.items():
            before, after = self._universe.start[table], now[table]
            if before == after:
                continue
            for key in sorted(before.keys() | after.keys()):
                changes.extend(_row_change(table, columns, key, before.get(key), after.get(key)))
        return tuple(changes)

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._db.close()
        self._on_close(self)

    def _read(self) -> dict[str, dict[int, Row]]:
        with boundary(WorldError, "reading a world"), self.transaction() as db:
            return read_tables(db, self._universe.columns)


def _row_change(
    table: str, columns: tuple[str, ...], key: int, old: Row | None, new: Row | None
) -> tuple[RowChange, ...]:
    if old == new:
        return ()
    if old is None and new is not None:
        return (RowChange(table, "insert", tuple(zip(columns, new, strict=True)), key),)
    if old is not None and new is None:
        return (RowChange(table, "delete", tuple(zip(columns, old, strict=True)), key),)
    assert old is not None
    assert new is not None
    changed = tuple((name, now) for name, was, now in zip(columns, old, new, strict=True) if was != now)
    return (RowChange(table, "update", changed, key),)

"""The start state all worlds are forked from: one SQLite image holding every site's tables, built from a seed."""

from __future__ import annotations

import dataclasses
import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clickgrad.types import Scalar
from clickgrad.worlds.site import Site

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = tuple[Scalar, ...]
Tables = dict[str, dict[int, Row]]  # table -> primary key -> row


@dataclass(frozen=True, slots=True)
class Universe:
    image: bytes
    columns: dict[str, tuple[str, ...]]  # table -> column names; the first is `id`, the integer primary key
    start: Tables


def build_universe(sites: Sequence[Site], seed: int) -> Universe:
    db = sqlite3.connect(":memory:")
    try:
        for site in sites:
            site.build(db, seed)
        db.commit()
        columns = _columns(db)
        return Universe(db.serialize(), columns, read_tables(db, columns))
    finally:
        db.close()


def fill_tables(db: sqlite3.Connection, data: DataclassInstance, prefix: str = "") -> None:
    """`data` has one field for each table, of the same name but for the prefix, holding rows as dataclasses."""
    for table in dataclasses.fields(data):
        rows = [dataclasses.astuple(row) for row in getattr(data, table.name)]
        places = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO {prefix}{table.name} VALUES ({places})", rows)


def read_tables(db: sqlite3.Connection, columns: dict[str, tuple[str, ...]]) -> Tables:
    return {table: {row[0]: row for row in db.execute(f'SELECT * FROM "{table}" ORDER BY id')} for table in columns}


def hash_tables(tables: Tables) -> str:
    """Of the rows, not of the file: how SQLite lays out its pages does not matter."""
    digest = hashlib.sha256()
    for table, rows in sorted(tables.items()):
        digest.update(repr((table, list(rows.values()))).encode())
    return digest.hexdigest()


def _columns(db: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    columns = {name: tuple(row[1] for row in db.execute(f'PRAGMA table_info("{name}")')) for (name,) in names}
    strangers = [table for table, fields in columns.items() if fields[0] != "id"]
    if strangers:
        raise ValueError(f"tables must begin with `id INTEGER PRIMARY KEY`: {', '.join(strangers)}")
    return columns

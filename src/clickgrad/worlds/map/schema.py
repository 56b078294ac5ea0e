"""The map's tables, and how the start data gets into them. Distances are in meters, dates are ISO text."""

from __future__ import annotations

import sqlite3

from clickgrad.worlds.map.data import map_data
from clickgrad.worlds.universe import fill_tables

SCHEMA = """
CREATE TABLE map_regions (id INTEGER PRIMARY KEY, name TEXT NOT NULL, seed INTEGER NOT NULL);
CREATE TABLE map_users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    username TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL
);
CREATE TABLE map_places (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    category TEXT NOT NULL,
    number INTEGER NOT NULL,
    street TEXT NOT NULL,
    town TEXT NOT NULL,
    district TEXT NOT NULL,
    postcode TEXT NOT NULL,
    phone TEXT NOT NULL,
    weekdays TEXT NOT NULL,
    saturday TEXT NOT NULL,
    sunday TEXT NOT NULL,
    website TEXT NOT NULL,
    rating REAL NOT NULL,
    x INTEGER NOT NULL,
    y INTEGER NOT NULL,
    road INTEGER NOT NULL,
    along INTEGER NOT NULL
);
CREATE INDEX map_places_by_category ON map_places (category, x);
CREATE INDEX map_places_by_x ON map_places (x);
CREATE TABLE map_lists (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES map_users,
    name TEXT NOT NULL,
    UNIQUE (user_id, name)
);
CREATE TABLE map_saved (
    id INTEGER PRIMARY KEY,
    list_id INTEGER NOT NULL REFERENCES map_lists,
    place_id INTEGER NOT NULL REFERENCES map_places,
    note TEXT NOT NULL,
    created TEXT NOT NULL,
    UNIQUE (list_id, place_id)
);
CREATE TABLE map_notes (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES map_users,
    place_id INTEGER NOT NULL REFERENCES map_places,
    problem TEXT NOT NULL,
    text TEXT NOT NULL,
    status TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE map_edits (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES map_users,
    place_id INTEGER NOT NULL REFERENCES map_places,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    created TEXT NOT NULL
);
"""


def build(db: sqlite3.Connection, seed: int) -> None:
    db.executescript(SCHEMA)
    fill_tables(db, map_data(seed), "map_")


def user_id(db: sqlite3.Connection, email: str) -> int | None:
    row = db.execute("SELECT id FROM map_users WHERE email = ?", (email,)).fetchone()
    return None if row is None else int(row[0])

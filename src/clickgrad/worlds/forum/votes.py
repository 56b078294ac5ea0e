"""Votes: a row each. Voting the same way again takes the vote back; the other way changes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Literal

from clickgrad.worlds.pages import Refusal

VALUES = {"up": 1, "down": -1}
Target = Literal["post", "comment"]


def cast_vote(db: sqlite3.Connection, target: Target, id_: int, user_id: int, form: Mapping[str, str]) -> None:
    value = VALUES.get(form.get("value", ""))
    if value is None:
        raise Refusal(422, "A vote is either up or down.")
    table, column = f"forum_{target}_votes", f"{target}_id"
    row = db.execute(f"SELECT id, value FROM {table} WHERE {column} = ? AND user_id = ?", (id_, user_id)).fetchone()
    if row is None:
        db.execute(f"INSERT INTO {table} ({column}, user_id, value) VALUES (?, ?, ?)", (id_, user_id, value))
    elif row[1] == value:
        db.execute(f"DELETE FROM {table} WHERE id = ?", (row[0],))
    else:
        db.execute(f"UPDATE {table} SET value = ? WHERE id = ?", (value, row[0]))

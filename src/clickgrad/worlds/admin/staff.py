"""Who works here: log in and out, one's own account. The shop owns the tables, so there is nothing to build."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from clickgrad.worlds.admin.pages import PAGES, Visit, render


def build(_: sqlite3.Connection, seed: int) -> None:
    """The staff's table is made and filled with the shop's."""


def user_id(db: sqlite3.Connection, email: str) -> int | None:
    row = db.execute("SELECT id FROM staff WHERE email = ?", (email,)).fetchone()
    return None if row is None else int(row[0])


def login(visit: Visit) -> Response:
    """By e-mail or by the part of it before the @."""
    sql = "SELECT id FROM staff WHERE email IN (?1, ?1 || '@example.com') AND password = ?2"
    return PAGES.check_login(visit, "login", sql, "The user name or the password is wrong.")


def account(visit: Visit) -> Response:
    visit.require_user()
    return render(visit, "account.html")

"""Who works here: log in and out, one's own account. The shop owns the tables, so there is nothing to build."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from clickgrad.worlds.admin.pages import PAGES, Visit, render
from clickgrad.worlds.pages import safe_next


def build(_: sqlite3.Connection, seed: int) -> None:
    """The staff's table is made and filled with the shop's."""


def user_id(db: sqlite3.Connection, email: str) -> int | None:
    row = db.execute("SELECT id FROM staff WHERE email = ?", (email,)).fetchone()
    return None if row is None else int(row[0])


def login_form(visit: Visit) -> Response:
    return render(visit, "login.html", login="", next=safe_next(visit.query.get("next", "")), error="")


def login(visit: Visit) -> Response:
    """By e-mail or by the part of it before the @."""
    login, password = visit.typed("login"), visit.form.get("password", "")
    email = login.lower() if "@" in login else f"{login.lower()}@example.com"
    target = safe_next(visit.form.get("next", ""))
    row = visit.db.execute("SELECT id FROM staff WHERE email = ? AND password = ?", (email, password)).fetchone()
    if row is None:
        error = "The user name or the password is wrong."
        return render(visit, "login.html", 422, login=login, next=target, error=error)
    return PAGES.log_in(row[0], target)


def logout(_: Visit) -> Response:
    return PAGES.log_out()


def account(visit: Visit) -> Response:
    visit.require_user()
    return render(visit, "account.html")

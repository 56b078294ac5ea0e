"""Log in and out, and the user's own page."""

from __future__ import annotations

from starlette.responses import Response

from clickgrad.worlds.map.pages import PAGES, Visit, render
from clickgrad.worlds.pages import safe_next


def login_form(visit: Visit) -> Response:
    return render(visit, "login.html", name="", next=safe_next(visit.query.get("next", "")), error="")


def login(visit: Visit) -> Response:
    name, password = visit.typed("name"), visit.form.get("password", "")
    target = safe_next(visit.form.get("next", ""))
    row = visit.db.execute(
        "SELECT id FROM map_users WHERE ? IN (email, username) AND password = ?", (name.lower(), password)
    ).fetchone()
    if row is None:
        error = "The email or the password is wrong."
        return render(visit, "login.html", 422, name=name, next=target, error=error)
    return PAGES.log_in(row[0], target)


def logout(_: Visit) -> Response:
    return PAGES.log_out()


def account(visit: Visit) -> Response:
    user = visit.require_user()
    lists, saved = visit.db.execute(
        "SELECT COUNT(DISTINCT l.id), COUNT(s.id) FROM map_lists l LEFT JOIN map_saved s ON s.list_id = l.id"
        " WHERE l.user_id = ?",
        (user.id,),
    ).fetchone()
    notes = visit.db.execute("SELECT COUNT(*) FROM map_notes WHERE user_id = ?", (user.id,)).fetchone()[0]
    return render(visit, "account.html", lists=lists, saved=saved, notes=notes)

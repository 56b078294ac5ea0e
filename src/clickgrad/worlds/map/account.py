"""Log in and out, and the user's own page."""

from __future__ import annotations

from starlette.responses import Response

from clickgrad.worlds.map.pages import PAGES, Visit, render


def login(visit: Visit) -> Response:
    sql = "SELECT id FROM map_users WHERE ?1 IN (email, username) AND password = ?2"
    return PAGES.check_login(visit, "name", sql, "The email or the password is wrong.")


def account(visit: Visit) -> Response:
    user = visit.require_user()
    lists, saved = visit.db.execute(
        "SELECT COUNT(DISTINCT l.id), COUNT(s.id) FROM map_lists l LEFT JOIN map_saved s ON s.list_id = l.id"
        " WHERE l.user_id = ?",
        (user.id,),
    ).fetchone()
    notes = visit.db.execute("SELECT COUNT(*) FROM map_notes WHERE user_id = ?", (user.id,)).fetchone()[0]
    return render(visit, "account.html", lists=lists, saved=saved, notes=notes)

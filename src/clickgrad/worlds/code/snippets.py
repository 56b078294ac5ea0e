"""Snippets: short pieces of code that belong to a user, not to a project."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.responses import Response

from clickgrad.worlds.code.access import VISIBILITIES, text_error
from clickgrad.worlds.code.listing import paged
from clickgrad.worlds.code.pages import STAMP, Visit, render
from clickgrad.worlds.code.rows import Snippet
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

MAX_TITLE = 80
MAX_FILE_NAME = 60
MAX_CONTENT = 4000


def snippets(visit: Visit) -> Response:
    """Everybody's public ones and the visitor's own."""
    user_id = visit.user.id if visit.user else 0
    mine = visit.query.get("mine") == "1" and visit.user is not None
    where = "s.author_id = ?" if mine else "(s.visibility = 'Public' OR s.author_id = ?)"
    sql = (
        "SELECT s.*, u.name FROM code_snippets s JOIN code_users u ON u.id = s.author_id"
        f" WHERE {where} ORDER BY s.created DESC, s.id DESC"
    )
    page = paged(visit, sql, (user_id,), lambda row: (Snippet(*row[:-1]), row[-1]))
    return render(visit, "snippets.html", page=page, mine=mine)


def snippet(visit: Visit) -> Response:
    item = _find(visit)
    row = visit.db.execute("SELECT name FROM code_users WHERE id = ?", (item.author_id,)).fetchone()
    own = visit.user is not None and visit.user.id == item.author_id
    return render(visit, "snippet.html", snippet=item, author=row[0], lines=item.content.splitlines(), own=own)


def new_form(visit: Visit) -> Response:
    visit.require_user()
    return _form(visit, {"title": "", "file_name": "", "content": "", "visibility": "Private"}, {})


def create(visit: Visit) -> Response:
    user = visit.require_user()
    typed = {name: visit.typed(name) for name in ("title", "file_name", "content", "visibility")}
    plain = re.fullmatch(r"[\w.-]+", typed["file_name"], re.ASCII)
    errors = {
        "title": text_error(typed["title"], MAX_TITLE, "Enter a title."),
        "file_name": text_error(typed["file_name"], MAX_FILE_NAME, "Enter a file name.")
        or ("" if plain else "Use letters, digits, dots and dashes."),
        "content": text_error(typed["content"], MAX_CONTENT, "Enter the content."),
        "visibility": "" if typed["visibility"] in VISIBILITIES else "Choose who can see the snippet.",
    }
    errors = {name: error for name, error in errors.items() if error}
    if errors:
        return _form(visit, typed, errors)
    content = typed["content"].replace("\r\n", "\n")
    snippet_id = visit.db.execute(
        "INSERT INTO code_snippets (author_id, title, file_name, content, visibility, created)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (user.id, typed["title"], typed["file_name"], content, typed["visibility"], STAMP),
    ).lastrowid
    return redirect(f"/snippets/{snippet_id}")


def delete(visit: Visit) -> Response:
    user, item = visit.require_user(), _find(visit)
    if item.author_id != user.id:
        raise Refusal(403, "This snippet belongs to somebody else.")
    visit.db.execute("DELETE FROM code_snippets WHERE id = ?", (item.id,))
    return redirect("/snippets")


def _find(visit: Visit) -> Snippet:
    row = visit.db.execute("SELECT * FROM code_snippets WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    item = Snippet(*row)
    own = visit.user is not None and visit.user.id == item.author_id
    shown = item.visibility == "Public" or (item.visibility == "Internal" and visit.user is not None)
    if not (own or shown):
        raise NOT_FOUND
    return item


def _form(visit: Visit, typed: Mapping[str, str], errors: Mapping[str, str]) -> Response:
    options = {name: name for name in VISIBILITIES}
    return render(visit, "snippet_new.html", 422 if errors else 200, typed=typed, errors=errors, visibilities=options)

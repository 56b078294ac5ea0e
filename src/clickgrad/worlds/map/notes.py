"""What users tell the map: notes on problems, which their author can resolve, and suggested edits."""

from __future__ import annotations

from starlette.responses import Response

from clickgrad.worlds.map.data import Note, Place
from clickgrad.worlds.map.drawing import Pin
from clickgrad.worlds.map.pages import PAGE_SIZE, Visit, find_place, one_line, paging, panel, render
from clickgrad.worlds.map.view import fit
from clickgrad.worlds.map.words import EDIT_FIELDS, PROBLEMS
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect
from clickgrad.worlds.site import NOW

MAX_TEXT = 500
MAX_VALUE = 120


def notes(visit: Visit) -> Response:
    """Everybody's, the newest first; or only the visitor's own."""
    mine = visit.query.get("show") == "mine"
    where, params = ("WHERE n.user_id = ?", (visit.require_user().id,)) if mine else ("", ())
    rows = visit.db.execute(
        f"SELECT n.id, n.problem, n.status, p.name, p.x, p.y FROM map_notes n JOIN map_places p ON p.id = n.place_id"
        f" {where} ORDER BY n.id DESC",
        params,
    ).fetchall()
    pages = paging(visit, "/notes", len(rows), ("show",))
    shown = rows[pages.offset :][:PAGE_SIZE]
    points = [(row[4], row[5]) for row in shown]
    drawn = panel(visit, fit(points), [Pin(point, "small") for point in points])
    return render(visit, "notes.html", notes=shown, total=len(rows), mine=mine, pages=pages, panel=drawn)


def note(visit: Visit) -> Response:
    shown = _find_note(visit)
    place, author = _about(visit, shown)
    drawn = panel(visit, fit([place.point]), [Pin(place.point)])
    return render(visit, "note.html", note=shown, place=place, author=author, panel=drawn)


def resolve_note(visit: Visit) -> Response:
    user = visit.require_user()
    shown = _find_note(visit)
    if shown.user_id != user.id:
        raise Refusal(403, "Only its author can resolve a note.")
    visit.db.execute("UPDATE map_notes SET status = 'Resolved' WHERE id = ?", (shown.id,))
    return redirect(f"/notes/{shown.id}")


def report_form(visit: Visit) -> Response:
    visit.require_user()
    return _report_page(visit, find_place(visit), "", "", {})


def report(visit: Visit) -> Response:
    user = visit.require_user()
    place = find_place(visit)
    problem, text = visit.typed("problem"), one_line(visit.form.get("text", ""))
    errors = _text_error("text", text, MAX_TEXT)
    if problem not in PROBLEMS:
        errors["problem"] = "Choose a problem."
    if errors:
        return _report_page(visit, place, problem, text, errors)
    note_id = visit.db.execute(
        "INSERT INTO map_notes (user_id, place_id, problem, text, status, created) VALUES (?, ?, ?, ?, 'Open', ?)",
        (user.id, place.id, problem, text, NOW.date().isoformat()),
    ).lastrowid
    return redirect(f"/notes/{note_id}")


def edit_form(visit: Visit) -> Response:
    visit.require_user()
    return _edit_page(visit, find_place(visit), "", "", {})


def suggest_edit(visit: Visit) -> Response:
    user = visit.require_user()
    place = find_place(visit)
    field, value = visit.typed("field"), one_line(visit.form.get("value", ""))
    errors = _text_error("value", value, MAX_VALUE)
    if field not in EDIT_FIELDS:
        errors["field"] = "Choose what should change."
    if errors:
        return _edit_page(visit, place, field, value, errors)
    visit.db.execute(
        "INSERT INTO map_edits (user_id, place_id, field, value, created) VALUES (?, ?, ?, ?, ?)",
        (user.id, place.id, field, value, NOW.date().isoformat()),
    )
    return redirect(f"/place/{place.id}?sent=1")


def _text_error(name: str, text: str, most: int) -> dict[str, str]:
    if not text:
        return {name: "Enter a text."}
    return {name: f"Use at most {most} characters."} if len(text) > most else {}


def _report_page(visit: Visit, place: Place, problem: str, text: str, errors: dict[str, str]) -> Response:
    values = {"place": place, "problem": problem, "text": text, "problems": PROBLEMS, "errors": errors}
    drawn = panel(visit, fit([place.point]), [Pin(place.point)])
    return render(visit, "report.html", 422 if errors else 200, panel=drawn, **values)


def _edit_page(visit: Visit, place: Place, field: str, value: str, errors: dict[str, str]) -> Response:
    values = {"place": place, "field": field, "value": value, "fields": EDIT_FIELDS, "errors": errors}
    drawn = panel(visit, fit([place.point]), [Pin(place.point)])
    return render(visit, "edit.html", 422 if errors else 200, panel=drawn, **values)


def _find_note(visit: Visit) -> Note:
    row = visit.db.execute("SELECT * FROM map_notes WHERE id = ?", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    return Note(*row)


def _about(visit: Visit, shown: Note) -> tuple[Place, str]:
    place = Place(*visit.db.execute("SELECT * FROM map_places WHERE id = ?", (shown.place_id,)).fetchone())
    author = visit.db.execute("SELECT name FROM map_users WHERE id = ?", (shown.user_id,)).fetchone()[0]
    return place, author

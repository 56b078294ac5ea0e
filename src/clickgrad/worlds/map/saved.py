"""A user's saved places: lists, what is in them, notes on them, and saving from a place's page."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.map.browse import place_page
from clickgrad.worlds.map.data import Place, PlaceList, Saved
from clickgrad.worlds.map.drawing import Pin
from clickgrad.worlds.map.pages import PAGE_SIZE, Visit, find_place, one_line, paging, panel, render
from clickgrad.worlds.map.view import fit
from clickgrad.worlds.pages import NOT_FOUND, Refusal, parse_count, redirect
from clickgrad.worlds.site import NOW

MAX_LISTS = 40
MAX_LIST_NAME = 40
MAX_NOTE = 200


@dataclass(frozen=True, slots=True)
class Item:
    saved: Saved
    place: Place


def lists(visit: Visit) -> Response:
    return _lists_page(visit)


def create_list(visit: Visit) -> Response:
    user = visit.require_user()
    name = one_line(visit.form.get("name", ""))
    error = _name_error(visit, name, own_id=0)
    if not error and len(_own_lists(visit)) >= MAX_LISTS:
        error = f"You have {MAX_LISTS} lists already."
    if error:
        return _lists_page(visit, name, error)
    visit.db.execute("INSERT INTO map_lists (user_id, name) VALUES (?, ?)", (user.id, name))
    return redirect("/saved")


def show_list(visit: Visit) -> Response:
    own = _own_list(visit)
    rows = visit.db.execute(
        "SELECT s.*, p.* FROM map_saved s JOIN map_places p ON p.id = s.place_id WHERE s.list_id = ? ORDER BY s.id",
        (own.id,),
    ).fetchall()
    items = [Item(Saved(*row[:5]), Place(*row[5:])) for row in rows]
    pages = paging(visit, f"/saved/{own.id}", len(items))
    drawn = panel(visit, fit([item.place.point for item in items]), [Pin(item.place.point, "small") for item in items])
    shown = items[pages.offset :][:PAGE_SIZE]
    return render(visit, "list.html", own=own, items=shown, total=len(items), pages=pages, panel=drawn)


def list_form(visit: Visit) -> Response:
    own = _own_list(visit)
    return render(visit, "list_form.html", own=own, name=own.name, error="")


def rename_list(visit: Visit) -> Response:
    own = _own_list(visit)
    name = one_line(visit.form.get("name", ""))
    error = _name_error(visit, name, own.id)
    if error:
        return render(visit, "list_form.html", 422, own=own, name=name, error=error)
    visit.db.execute("UPDATE map_lists SET name = ? WHERE id = ?", (name, own.id))
    return redirect(f"/saved/{own.id}")


def delete_list(visit: Visit) -> Response:
    own = _own_list(visit)
    visit.db.execute("DELETE FROM map_saved WHERE list_id = ?", (own.id,))
    visit.db.execute("DELETE FROM map_lists WHERE id = ?", (own.id,))
    return redirect("/saved")


def save_place(visit: Visit) -> Response:
    visit.require_user()
    place = find_place(visit)
    typed, note = visit.typed("list"), one_line(visit.form.get("note", ""))
    wanted = next((own for own in _own_lists(visit) if own.id == parse_count(typed)), None)
    error = "Choose one of your lists." if wanted is None else _note_error(note)
    if wanted and not error and _is_in(visit, wanted, place.id):
        error = f"This place is already in {wanted.name}."
    if wanted is None or error:
        return place_page(visit, place, note, typed, error)
    visit.db.execute(
        "INSERT INTO map_saved (list_id, place_id, note, created) VALUES (?, ?, ?, ?)",
        (wanted.id, place.id, note, NOW.date().isoformat()),
    )
    return redirect(f"/place/{place.id}")


def item_form(visit: Visit) -> Response:
    own, item = _own_item(visit)
    return _item_page(visit, item, item.saved.note, str(own.id), {})


def update_item(visit: Visit) -> Response:
    """Another note, another list, or both."""
    own, item = _own_item(visit)
    note, typed = one_line(visit.form.get("note", "")), visit.typed("list")
    errors = {"note": _note_error(note)} if _note_error(note) else {}
    wanted = next((other for other in _own_lists(visit) if other.id == parse_count(typed)), None)
    if wanted is None:
        errors["list"] = "Choose one of your lists."
    elif wanted.id != own.id and _is_in(visit, wanted, item.place.id):
        errors["list"] = f"This place is already in {wanted.name}."
    if wanted is None or errors:
        return _item_page(visit, item, note, typed, errors)
    visit.db.execute("UPDATE map_saved SET note = ?, list_id = ? WHERE id = ?", (note, wanted.id, item.saved.id))
    return redirect(f"/saved/{wanted.id}")


def remove_item(visit: Visit) -> Response:
    own, item = _own_item(visit)
    visit.db.execute("DELETE FROM map_saved WHERE id = ?", (item.saved.id,))
    return redirect(f"/saved/{own.id}")


def _lists_page(visit: Visit, name: str = "", error: str = "") -> Response:
    visit.require_user()
    counts = dict(visit.db.execute("SELECT list_id, COUNT(*) FROM map_saved GROUP BY list_id").fetchall())
    shown = [(own, counts.get(own.id, 0)) for own in _own_lists(visit)]
    return render(visit, "saved.html", 422 if error else 200, lists=shown, name=name, error=error)


def _item_page(visit: Visit, item: Item, note: str, list_id: str, errors: dict[str, str]) -> Response:
    values = {"lists": _own_lists(visit), "note": note, "list_id": list_id, "errors": errors}
    drawn = panel(visit, fit([item.place.point]), [Pin(item.place.point)])
    return render(visit, "item.html", 422 if errors else 200, item=item, panel=drawn, **values)


def _own_lists(visit: Visit) -> list[PlaceList]:
    rows = visit.db.execute("SELECT * FROM map_lists WHERE user_id = ? ORDER BY id", (visit.require_user().id,))
    return [PlaceList(*row) for row in rows]


def _own_list(visit: Visit) -> PlaceList:
    return _checked(visit, visit.path_id())


def _checked(visit: Visit, list_id: int) -> PlaceList:
    user = visit.require_user()
    row = visit.db.execute("SELECT * FROM map_lists WHERE id = ?", (list_id,)).fetchone()
    if row is None:
        raise NOT_FOUND
    found = PlaceList(*row)
    if found.user_id != user.id:
        raise Refusal(403, "This list belongs to another user.")
    return found


def _own_item(visit: Visit) -> tuple[PlaceList, Item]:
    visit.require_user()
    row = visit.db.execute(
        "SELECT s.*, p.* FROM map_saved s JOIN map_places p ON p.id = s.place_id WHERE s.id = ?", (visit.path_id(),)
    ).fetchone()
    if row is None:
        raise NOT_FOUND
    item = Item(Saved(*row[:5]), Place(*row[5:]))
    return _checked(visit, item.saved.list_id), item


def _is_in(visit: Visit, own: PlaceList, place_id: int) -> bool:
    found = visit.db.execute("SELECT 1 FROM map_saved WHERE list_id = ? AND place_id = ?", (own.id, place_id))
    return found.fetchone() is not None


def _note_error(note: str) -> str:
    return f"Use at most {MAX_NOTE} characters." if len(note) > MAX_NOTE else ""


def _name_error(visit: Visit, name: str, own_id: int) -> str:
    if not name:
        return "Enter a name."
    if len(name) > MAX_LIST_NAME:
        return f"Use at most {MAX_LIST_NAME} characters."
    if any(own.name.lower() == name.lower() and own.id != own_id for own in _own_lists(visit)):
        return "You already have a list of this name."
    return ""

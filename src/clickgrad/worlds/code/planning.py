"""What issues are sorted by: a project's milestones and labels."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from clickgrad.worlds.code.access import Place, date_error, draw, enter, enter_as, text_error
from clickgrad.worlds.code.listing import list_issues
from clickgrad.worlds.code.pages import Visit
from clickgrad.worlds.code.rows import Label, Milestone
from clickgrad.worlds.pages import NOT_FOUND, redirect

MAX_TITLE = 80
MAX_TEXT = 500
MAX_LABEL = 30
MILESTONE_FIELDS = ("title", "description", "start_date", "due_date")
COLORS = ("Red", "Orange", "Green", "Teal", "Blue", "Purple", "Gray")

# open and closed issues of the milestone m
_COUNTS = ", ".join(
    f"(SELECT COUNT(*) FROM code_issues i WHERE i.milestone_id = m.id AND i.state = '{state}')"
    for state in ("open", "closed")
)


def milestones(visit: Visit) -> Response:
    place = enter(visit)
    rows = visit.db.execute(
        f"SELECT m.*, {_COUNTS} FROM code_milestones m WHERE m.project_id = ? ORDER BY m.due_date, m.id",
        (place.project.id,),
    )
    lines = [(Milestone(*row[:-2]), *row[-2:]) for row in rows]
    return draw(visit, place, "milestones.html", lines=lines)


def milestone(visit: Visit) -> Response:
    place = enter(visit)
    item = _find(visit, place)
    page = list_issues(visit, "i.milestone_id = ?", (item.id,))
    counts = visit.db.execute(f"SELECT {_COUNTS} FROM code_milestones m WHERE m.id = ?", (item.id,)).fetchone()
    return draw(visit, place, "milestone.html", milestone=item, page=page, counts=counts)


def new_milestone_form(visit: Visit) -> Response:
    place = enter_as(visit, "Reporter")
    return _milestone_form(visit, place, None, dict.fromkeys(MILESTONE_FIELDS, ""), {})


def create_milestone(visit: Visit) -> Response:
    place = enter_as(visit, "Reporter")
    typed, errors = _typed_milestone(visit, place, 0)
    if errors:
        return _milestone_form(visit, place, None, typed, errors)
    visit.db.execute(
        "INSERT INTO code_milestones (project_id, state, title, description, start_date, due_date)"
        " VALUES (?, 'open', ?, ?, ?, ?)",
        (place.project.id, *_values(typed)),
    )
    return redirect(f"{place.path}/milestones")


def edit_milestone_form(visit: Visit) -> Response:
    place = enter_as(visit, "Reporter")
    item = _find(visit, place)
    typed = {name: getattr(item, name) or "" for name in MILESTONE_FIELDS}
    return _milestone_form(visit, place, item, typed, {})


def save_milestone(visit: Visit) -> Response:
    place = enter_as(visit, "Reporter")
    item = _find(visit, place)
    typed, errors = _typed_milestone(visit, place, item.id)
    if errors:
        return _milestone_form(visit, place, item, typed, errors)
    visit.db.execute(
        "UPDATE code_milestones SET title = ?, description = ?, start_date = ?, due_date = ? WHERE id = ?",
        (*_values(typed), item.id),
    )
    return redirect(f"{place.path}/milestones/{item.id}")


def close_milestone(visit: Visit) -> Response:
    return _set_state(visit, "closed")


def reopen_milestone(visit: Visit) -> Response:
    return _set_state(visit, "open")


def _set_state(visit: Visit, state: str) -> Response:
    place = enter_as(visit, "Reporter")
    item = _find(visit, place)
    visit.db.execute("UPDATE code_milestones SET state = ? WHERE id = ?", (state, item.id))
    return redirect(f"{place.path}/milestones/{item.id}")


def _find(visit: Visit, place: Place) -> Milestone:
    row = visit.db.execute(
        "SELECT * FROM code_milestones WHERE id = ? AND project_id = ?", (visit.path_id(), place.project.id)
    ).fetchone()
    if row is None:
        raise NOT_FOUND
    return Milestone(*row)


def _typed_milestone(visit: Visit, place: Place, own_id: int) -> tuple[dict[str, str], dict[str, str]]:
    typed = {name: visit.typed(name) for name in MILESTONE_FIELDS}
    taken = visit.db.execute(
        "SELECT 1 FROM code_milestones WHERE project_id = ? AND title = ? AND id != ?",
        (place.project.id, typed["title"], own_id),
    ).fetchone()
    errors = {
        "title": text_error(typed["title"], MAX_TITLE, "Enter a title.")
        or ("There is already a milestone with this title." if taken else ""),
        "description": text_error(typed["description"], MAX_TEXT),
        "start_date": date_error(typed["start_date"]),
        "due_date": date_error(typed["due_date"]),
    }
    if not any(errors.values()) and typed["start_date"] and "" < typed["due_date"] < typed["start_date"]:
        errors["due_date"] = "The due date must not be before the start date."
    return typed, {field: error for field, error in errors.items() if error}


def _values(typed: Mapping[str, str]) -> tuple[str | None, ...]:
    return typed["title"], typed["description"], typed["start_date"] or None, typed["due_date"] or None


def _milestone_form(
    visit: Visit, place: Place, item: Milestone | None, typed: Mapping[str, str], errors: Mapping[str, str]
) -> Response:
    status = 422 if errors else 200
    return draw(visit, place, "milestone_edit.html", status, milestone=item, typed=typed, errors=errors)


# --- labels ---------------------------------------------------------------------------------------------------------


def labels(visit: Visit) -> Response:
    place = enter(visit)
    rows = visit.db.execute(
        "SELECT l.*, (SELECT COUNT(*) FROM code_issue_labels x JOIN code_issues i ON i.id = x.issue_id"
        " WHERE x.label_id = l.id AND i.state = 'open') FROM code_labels l WHERE l.project_id = ? ORDER BY l.name",
        (place.project.id,),
    )
    return draw(visit, place, "labels.html", lines=[(Label(*row[:-1]), row[-1]) for row in rows])


def new_label_form(visit: Visit) -> Response:
    return _label_form(visit, enter_as(visit, "Reporter"), {"name": "", "color": "Blue"}, {})


def create_label(visit: Visit) -> Response:
    place = enter_as(visit, "Reporter")
    typed = {"name": visit.typed("name"), "color": visit.typed("color")}
    taken = visit.db.execute(
        "SELECT 1 FROM code_labels WHERE project_id = ? AND name = ?", (place.project.id, typed["name"])
    ).fetchone()
    errors = {
        "name": text_error(typed["name"], MAX_LABEL, "Enter a name.")
        or ("There is already a label with this name." if taken else ""),
        "color": "" if typed["color"] in COLORS else "Choose a color.",
    }
    errors = {field: error for field, error in errors.items() if error}
    if errors:
        return _label_form(visit, place, typed, errors)
    visit.db.execute(
        "INSERT INTO code_labels (project_id, name, color) VALUES (?, ?, ?)",
        (place.project.id, typed["name"], typed["color"].lower()),
    )
    return redirect(f"{place.path}/labels")


def _label_form(visit: Visit, place: Place, typed: Mapping[str, str], errors: Mapping[str, str]) -> Response:
    options = {color: color for color in COLORS}
    return draw(visit, place, "label_new.html", 422 if errors else 200, typed=typed, errors=errors, colors=options)

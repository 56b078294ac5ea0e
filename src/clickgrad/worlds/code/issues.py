"""A project's issues: list, board, the issue itself, writing and changing one."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.responses import Response

from clickgrad.types import Scalar
from clickgrad.worlds.code.access import Place, date_error, draw, enter, find_user_id, member_names, text_error
from clickgrad.worlds.code.discussion import add_comment, comment_error, comments_on
from clickgrad.worlds.code.listing import (
    ISSUE_SORTS,
    ISSUE_STATES,
    choose,
    has_words,
    labels_of,
    list_issues,
    names_in,
    search_words,
)
from clickgrad.worlds.code.pages import STAMP, Visit
from clickgrad.worlds.code.rows import Issue, Label
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

MAX_TITLE = 120
MAX_TEXT = 2000
BOARD_LABELS = 3
BOARD_CARDS = 4

# What a list of issues can be narrowed by: state, label, author, assignee, milestone.
_CONDITIONS = (
    "i.state = ?",
    "i.id IN (SELECT x.issue_id FROM code_issue_labels x JOIN code_labels l ON l.id = x.label_id WHERE l.name = ?)",
    "u.username = ?",
    "COALESCE(a.username, 'none') = ?",
    "i.milestone_id = (SELECT id FROM code_milestones n WHERE n.project_id = i.project_id AND n.title = ?)",
)


def issues(visit: Visit) -> Response:
    place = enter(visit)
    project_id = place.project.id
    text = visit.query.get("q", "").strip()
    words = search_words(text)
    state = choose(visit, "state", "State", ISSUE_STATES)
    labels = {label.name: label.name for label in project_labels(visit.db, project_id)}
    label = choose(visit, "label", "Label", {"": "Any"} | labels)
    sort = choose(visit, "sort", "Sort by", ISSUE_SORTS)
    authors, assignees = (names_in(visit.db, "code_issues", name, project_id) for name in ("author_id", "assignee_id"))
    author = choose(visit, "author", "Author", {"": "Anyone"} | authors)
    assignee = choose(visit, "assignee", "Assignee", {"": "Anyone", "none": "Nobody"} | assignees)
    titles = {title: title for title in _milestones(visit.db, place).values()}
    milestone = choose(visit, "milestone", "Milestone", {"": "Any"} | titles)

    where = f"i.project_id = ? AND {has_words('i.title', words)}"
    params: list[Scalar] = [project_id, *words]
    wanted_state = "" if state.chosen == "all" else state.chosen or "open"
    chosen = (wanted_state, label.chosen, author.chosen, assignee.chosen, milestone.chosen)
    for condition, value in zip(_CONDITIONS, chosen, strict=True):
        if value:
            where, params = f"{where} AND {condition}", [*params, value]
    page = list_issues(visit, where, params, sort.chosen)
    more = (author, assignee, milestone)
    return draw(visit, place, "issues.html", page=page, search=text, choices=(state, label, sort), more=more)


def board(visit: Visit) -> Response:
    """A column for each of the busiest labels, and one for what is closed."""
    place = enter(visit)
    labels = visit.db.execute(
        "SELECT l.name FROM code_labels l JOIN code_issue_labels x ON x.label_id = l.id"
        " JOIN code_issues i ON i.id = x.issue_id WHERE l.project_id = ? AND i.state = 'open'"
        " GROUP BY l.id ORDER BY COUNT(*) DESC, l.name LIMIT ?",
        (place.project.id, BOARD_LABELS),
    ).fetchall()
    labelled = (
        "state = 'open' AND id IN (SELECT x.issue_id FROM code_issue_labels x JOIN code_labels l ON l.id = x.label_id"
        " WHERE l.name = ?)"
    )
    columns = [(name, urlencode({"label": name}), *_cards(visit, place, labelled, name)) for (name,) in labels]
    columns.append(("Closed", "state=closed", *_cards(visit, place, "state = ?", "closed")))
    return draw(visit, place, "board.html", columns=columns)


def _cards(visit: Visit, place: Place, where: str, value: str) -> tuple[int, list[tuple[int, str]]]:
    rows = visit.db.execute(
        f"SELECT number, title FROM code_issues WHERE project_id = ? AND {where} ORDER BY number DESC",
        (place.project.id, value),
    ).fetchall()
    return len(rows), rows[:BOARD_CARDS]


def issue(visit: Visit) -> Response:
    place = enter(visit)
    return _issue_page(visit, place, find_issue(visit, place), "", "")


def comment(visit: Visit) -> Response:
    user, place = visit.require_user(), enter(visit)
    item = find_issue(visit, place)
    text = visit.typed("comment")
    if error := comment_error(text):
        return _issue_page(visit, place, item, text, error)
    add_comment(visit, user, text, issue_id=item.id)
    return redirect(f"{place.path}/issues/{item.number}")


def close(visit: Visit) -> Response:
    return _set_state(visit, "closed", STAMP)


def reopen(visit: Visit) -> Response:
    return _set_state(visit, "open", None)


def _set_state(visit: Visit, state: str, closed: str | None) -> Response:
    place = enter(visit)
    item = _changeable(visit, place)
    if item.state != state:
        visit.db.execute("UPDATE code_issues SET state = ?, closed = ? WHERE id = ?", (state, closed, item.id))
    return redirect(f"{place.path}/issues/{item.number}")


def _issue_page(visit: Visit, place: Place, item: Issue, typed: str, error: str) -> Response:
    names = visit.db.execute(
        "SELECT (SELECT name FROM code_users WHERE id = i.author_id),"
        " (SELECT name FROM code_users WHERE id = i.assignee_id),"
        " (SELECT title FROM code_milestones WHERE id = i.milestone_id) FROM code_issues i WHERE i.id = ?",
        (item.id,),
    ).fetchone()
    return draw(
        visit,
        place,
        "issue.html",
        422 if error else 200,
        issue=item,
        author=names[0],
        assignee=names[1] or "Nobody",
        milestone=names[2] or "None",
        labels=labels_of(visit.db, item.id),
        comments=comments_on(visit.db, "issue_id", item.id),
        may_change=_may_change(visit, place, item),
        typed=typed,
        error=error,
    )


# --- writing and changing -------------------------------------------------------------------------------------------


def new_form(visit: Visit) -> Response:
    visit.require_user()
    return _form_page(visit, enter(visit), None, _blank(), {})


def create(visit: Visit) -> Response:
    user, place = visit.require_user(), enter(visit)
    typed = _typed(visit, place, _blank())
    errors = _errors(visit, place, typed)
    if errors:
        return _form_page(visit, place, None, typed, errors)
    values = _values(visit.db, place, typed)
    number = 1 + visit.db.execute(
        "SELECT COALESCE(MAX(number), 0) FROM code_issues WHERE project_id = ?", (place.project.id,)
    ).fetchone()[0]  # fmt: skip
    issue_id = visit.db.execute(
        "INSERT INTO code_issues (project_id, number, state, author_id, created, title, text, assignee_id,"
        " milestone_id, due_date) VALUES (?, ?, 'open', ?, ?, ?, ?, ?, ?, ?)",
        (place.project.id, number, user.id, STAMP, *values),
    ).lastrowid
    if issue_id is None:
        raise NOT_FOUND
    _save_labels(visit.db, place, issue_id, typed)
    return redirect(f"{place.path}/issues/{number}")


def edit_form(visit: Visit) -> Response:
    place = enter(visit)
    item = _changeable(visit, place)
    return _form_page(visit, place, item, _as_typed(visit.db, item), {})


def save(visit: Visit) -> Response:
    place = enter(visit)
    item = _changeable(visit, place)
    typed = _typed(visit, place, _as_typed(visit.db, item))
    errors = _errors(visit, place, typed)
    if errors:
        return _form_page(visit, place, item, typed, errors)
    visit.db.execute(
        "UPDATE code_issues SET title = ?, text = ?, assignee_id = ?, milestone_id = ?, due_date = ? WHERE id = ?",
        (*_values(visit.db, place, typed), item.id),
    )
    _save_labels(visit.db, place, item.id, typed)
    return redirect(f"{place.path}/issues/{item.number}")


def find_issue(visit: Visit, place: Place) -> Issue:
    row = visit.db.execute(
        "SELECT * FROM code_issues WHERE project_id = ? AND number = ?", (place.project.id, visit.path_id("number"))
    ).fetchone()
    if row is None:
        raise NOT_FOUND
    return Issue(*row)


def _may_change(visit: Visit, place: Place, item: Issue) -> bool:
    own = visit.user is not None and visit.user.id in (item.author_id, item.assignee_id)
    return own or place.may("Reporter")


def _changeable(visit: Visit, place: Place) -> Issue:
    visit.require_user()
    item = find_issue(visit, place)
    if not _may_change(visit, place, item):
        raise Refusal(403, "You may not change this issue.")
    return item


def project_labels(db: sqlite3.Connection, project_id: int) -> list[Label]:
    rows = db.execute("SELECT * FROM code_labels WHERE project_id = ? ORDER BY name", (project_id,))
    return [Label(*row) for row in rows]


def _label_boxes(db: sqlite3.Connection, project_id: int) -> dict[int, str]:
    """Label -> its checkbox. Labels stay, so the number of a label within its project does not change."""
    rows = db.execute("SELECT id FROM code_labels WHERE project_id = ? ORDER BY id", (project_id,))
    return {id_: f"label-{number}" for number, (id_,) in enumerate(rows, 1)}


def _blank() -> dict[str, str]:
    return {"title": "", "text": "", "assignee": "", "milestone": "", "due_date": ""}


def _as_typed(db: sqlite3.Connection, item: Issue) -> dict[str, str]:
    """The form's fields as they are for an issue that exists; `label-3` for the project's third label."""
    assignee = db.execute("SELECT username FROM code_users WHERE id = ?", (item.assignee_id,)).fetchone()
    fields = {
        "title": item.title,
        "text": item.text,
        "assignee": assignee[0] if assignee else "",
        "milestone": str(item.milestone_id or ""),
        "due_date": item.due_date or "",
    }
    boxes = _label_boxes(db, item.project_id)
    return fields | {boxes[label.id]: "on" for label in labels_of(db, item.id)}


def _typed(visit: Visit, place: Place, before: Mapping[str, str]) -> dict[str, str]:
    """What the form says. Only those who plan the project set more than title and text; for others that stays."""
    fields = dict(before) | {"title": visit.typed("title"), "text": visit.typed("text").replace("\r\n", "\n")}
    if not place.may("Reporter"):
        return fields
    fields = {name: value for name, value in fields.items() if not name.startswith("label-")}
    fields |= {name: visit.typed(name) for name in ("assignee", "milestone", "due_date")}
    boxes = _label_boxes(visit.db, place.project.id).values()
    return fields | {name: "on" for name in boxes if visit.typed(name)}


def _errors(visit: Visit, place: Place, typed: Mapping[str, str]) -> dict[str, str]:
    people, milestones = _people(visit.db, place, typed), _milestones(visit.db, place)
    errors = {
        "title": text_error(typed["title"], MAX_TITLE, "Enter a title."),
        "text": text_error(typed["text"], MAX_TEXT),
        "assignee": "" if typed["assignee"] in ("", *people) else "Choose a member of the project.",
        "milestone": "" if typed["milestone"] in ("", *milestones) else "Choose a milestone.",
        "due_date": date_error(typed["due_date"]),
    }
    return {field: error for field, error in errors.items() if error}


def _values(db: sqlite3.Connection, place: Place, typed: Mapping[str, str]) -> tuple[Scalar, ...]:
    assignee = find_user_id(db, typed["assignee"]) if typed["assignee"] else None
    milestone = int(typed["milestone"]) if typed["milestone"] else None
    return typed["title"], typed["text"], assignee, milestone, typed["due_date"] or None


def _save_labels(db: sqlite3.Connection, place: Place, issue_id: int, typed: Mapping[str, str]) -> None:
    before = {label.id for label in labels_of(db, issue_id)}
    after = {id_ for id_, box in _label_boxes(db, place.project.id).items() if box in typed}
    for label_id in sorted(before - after):
        db.execute("DELETE FROM code_issue_labels WHERE issue_id = ? AND label_id = ?", (issue_id, label_id))
    for label_id in sorted(after - before):
        db.execute("INSERT INTO code_issue_labels (issue_id, label_id) VALUES (?, ?)", (issue_id, label_id))


def _people(db: sqlite3.Connection, place: Place, typed: Mapping[str, str]) -> dict[str, str]:
    """Whom the issue may be assigned to: the members, and whoever it is assigned to now."""
    people = member_names(db, place.project.id)
    row = db.execute(
        "SELECT u.username, u.name FROM code_users u WHERE u.username = ? AND u.id IN"
        " (SELECT assignee_id FROM code_issues WHERE project_id = ?)",
        (typed["assignee"], place.project.id),
    ).fetchone()
    return people | ({row[0]: row[1]} if row else {})


def _milestones(db: sqlite3.Connection, place: Place) -> dict[str, str]:
    rows = db.execute("SELECT id, title FROM code_milestones WHERE project_id = ? ORDER BY title", (place.project.id,))
    return {str(id_): title for id_, title in rows}


def _form_page(
    visit: Visit, place: Place, item: Issue | None, typed: Mapping[str, str], errors: Mapping[str, str]
) -> Response:
    return draw(
        visit,
        place,
        "issue_edit.html",
        422 if errors else 200,
        issue=item,
        typed=typed,
        errors=errors,
        people={"": "Nobody"} | _people(visit.db, place, typed),
        milestones={"": "None"} | _milestones(visit.db, place),
        labels=project_labels(visit.db, place.project.id),
        boxes=_label_boxes(visit.db, place.project.id),
    )

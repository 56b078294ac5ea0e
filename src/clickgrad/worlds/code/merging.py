"""A project's merge requests: list, the request itself, merging and closing, opening and changing one."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from clickgrad.types import Scalar
from clickgrad.worlds.code.access import Place, draw, enter, enter_as, find_user_id, member_names, text_error
from clickgrad.worlds.code.data_repository import MAIN
from clickgrad.worlds.code.discussion import add_comment, comment_error, comments_on
from clickgrad.worlds.code.listing import (
    REQUEST_SORTS,
    REQUEST_STATES,
    choose,
    has_words,
    list_requests,
    names_in,
    search_words,
)
from clickgrad.worlds.code.pages import STAMP, Visit
from clickgrad.worlds.code.repository import branch_names
from clickgrad.worlds.code.rows import MergeRequest
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

MAX_TITLE = 120
MAX_TEXT = 2000


def merge_requests(visit: Visit) -> Response:
    place = enter(visit)
    project_id = place.project.id
    text = visit.query.get("q", "").strip()
    words = search_words(text)
    state = choose(visit, "state", "State", REQUEST_STATES)
    sort = choose(visit, "sort", "Sort by", REQUEST_SORTS)

    def people(column: str) -> dict[str, str]:
        return {"": "Anyone"} | names_in(visit.db, "code_merge_requests", column, project_id)

    author = choose(visit, "author", "Author", people("author_id"))
    assignee = choose(visit, "assignee", "Assignee", people("assignee_id"))
    reviewer = choose(visit, "reviewer", "Reviewer", people("reviewer_id"))
    where = f"r.project_id = ? AND {has_words('r.title', words)}"
    params: list[Scalar] = [project_id, *words]
    conditions = (
        ("r.state = ?", "" if state.chosen == "all" else state.chosen or "open"),
        ("u.username = ?", author.chosen),
        ("a.username = ?", assignee.chosen),
        ("v.username = ?", reviewer.chosen),
    )
    for condition, value in conditions:
        if value:
            where, params = f"{where} AND {condition}", [*params, value]
    page = list_requests(visit, where, params, sort.chosen)
    more = (author, assignee, reviewer)
    return draw(visit, place, "merge_requests.html", page=page, search=text, choices=(state, sort), more=more)


def merge_request(visit: Visit) -> Response:
    place = enter(visit)
    return _request_page(visit, place, _find(visit, place), "", "")


def comment(visit: Visit) -> Response:
    user, place = visit.require_user(), enter(visit)
    request = _find(visit, place)
    text = visit.typed("comment")
    if error := comment_error(text):
        return _request_page(visit, place, request, text, error)
    add_comment(visit, user, text, merge_request_id=request.id)
    return redirect(f"{place.path}/merge_requests/{request.number}")


def merge(visit: Visit) -> Response:
    place = enter_as(visit, "Developer")
    request = _find(visit, place)
    if request.state != "open":
        raise Refusal(409, "Only open merge requests can be merged.")
    return _set_state(visit, place, request, "merged", STAMP)


def close(visit: Visit) -> Response:
    place = enter(visit)
    request = _changeable(visit, place)
    if request.state != "open":
        raise Refusal(409, "Only open merge requests can be closed.")
    return _set_state(visit, place, request, "closed", STAMP)


def reopen(visit: Visit) -> Response:
    place = enter(visit)
    request = _changeable(visit, place)
    if request.state != "closed":
        raise Refusal(409, "Only closed merge requests can be reopened.")
    return _set_state(visit, place, request, "open", None)


def _set_state(visit: Visit, place: Place, request: MergeRequest, state: str, closed: str | None) -> Response:
    visit.db.execute("UPDATE code_merge_requests SET state = ?, closed = ? WHERE id = ?", (state, closed, request.id))
    return redirect(f"{place.path}/merge_requests/{request.number}")


def _request_page(visit: Visit, place: Place, request: MergeRequest, typed: str, error: str) -> Response:
    names = visit.db.execute(
        "SELECT (SELECT name FROM code_users WHERE id = r.author_id),"
        " COALESCE((SELECT name FROM code_users WHERE id = r.assignee_id), 'Nobody'),"
        " COALESCE((SELECT name FROM code_users WHERE id = r.reviewer_id), 'Nobody'),"
        " (SELECT COUNT(*) FROM code_commits c WHERE c.project_id = r.project_id AND c.branch = r.source_branch)"
        " FROM code_merge_requests r WHERE r.id = ?",
        (request.id,),
    ).fetchone()
    return draw(
        visit,
        place,
        "merge_request.html",
        422 if error else 200,
        request=request,
        author=names[0],
        assignee=names[1],
        reviewer=names[2],
        commits=names[3],
        comments=comments_on(visit.db, "merge_request_id", request.id),
        may_change=_may_change(visit, place, request),
        typed=typed,
        error=error,
    )


# --- opening and changing -------------------------------------------------------------------------------------------


def new_form(visit: Visit) -> Response:
    place = enter_as(visit, "Developer")
    names = branch_names(visit.db, place.project.id)
    asked = visit.query.get("source", "")
    typed = {"title": "", "text": "", "assignee": "", "reviewer": "", "target": MAIN}
    return _form_page(visit, place, None, typed | {"source": asked if asked in names else ""}, {})


def create(visit: Visit) -> Response:
    place, author = enter_as(visit, "Developer"), visit.require_user()
    typed = _typed(visit) | {"source": visit.typed("source"), "target": visit.typed("target")}
    names = branch_names(visit.db, place.project.id)
    errors = _errors(visit, place, typed)
    for field in ("source", "target"):
        if typed[field] not in names:
            errors[field] = "Choose a branch."
    if not errors and typed["source"] == typed["target"]:
        errors["source"] = "Choose a branch other than the target."
    if errors:
        return _form_page(visit, place, None, typed, errors)
    number = 1 + visit.db.execute(
        "SELECT COALESCE(MAX(number), 0) FROM code_merge_requests WHERE project_id = ?", (place.project.id,)
    ).fetchone()[0]  # fmt: skip
    visit.db.execute(
        "INSERT INTO code_merge_requests (project_id, number, source_branch, target_branch, state, author_id, created,"
        " title, text, assignee_id, reviewer_id) VALUES (?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?)",
        (place.project.id, number, typed["source"], typed["target"], author.id, STAMP, *_values(visit, typed)),
    )
    return redirect(f"{place.path}/merge_requests/{number}")


def edit_form(visit: Visit) -> Response:
    place = enter(visit)
    request = _changeable(visit, place)
    usernames = dict(visit.db.execute("SELECT id, username FROM code_users").fetchall())
    typed = {
        "title": request.title,
        "text": request.text,
        "assignee": usernames.get(request.assignee_id, ""),
        "reviewer": usernames.get(request.reviewer_id, ""),
    }
    return _form_page(visit, place, request, typed, {})


def save(visit: Visit) -> Response:
    place = enter(visit)
    request = _changeable(visit, place)
    typed = _typed(visit)
    errors = _errors(visit, place, typed)
    if errors:
        return _form_page(visit, place, request, typed, errors)
    visit.db.execute(
        "UPDATE code_merge_requests SET title = ?, text = ?, assignee_id = ?, reviewer_id = ? WHERE id = ?",
        (*_values(visit, typed), request.id),
    )
    return redirect(f"{place.path}/merge_requests/{request.number}")


def _find(visit: Visit, place: Place) -> MergeRequest:
    row = visit.db.execute(
        "SELECT * FROM code_merge_requests WHERE project_id = ? AND number = ?",
        (place.project.id, visit.path_id("number")),
    ).fetchone()
    if row is None:
        raise NOT_FOUND
    return MergeRequest(*row)


def _may_change(visit: Visit, place: Place, request: MergeRequest) -> bool:
    own = visit.user is not None and visit.user.id in (request.author_id, request.assignee_id)
    return own or place.may("Developer")


def _changeable(visit: Visit, place: Place) -> MergeRequest:
    visit.require_user()
    request = _find(visit, place)
    if not _may_change(visit, place, request):
        raise Refusal(403, "You may not change this merge request.")
    return request


def _typed(visit: Visit) -> dict[str, str]:
    fields = {name: visit.typed(name) for name in ("title", "text", "assignee", "reviewer")}
    return fields | {"text": fields["text"].replace("\r\n", "\n")}


def _errors(visit: Visit, place: Place, typed: Mapping[str, str]) -> dict[str, str]:
    people = _people(visit, place)
    errors = {
        "title": text_error(typed["title"], MAX_TITLE, "Enter a title."),
        "text": text_error(typed["text"], MAX_TEXT),
        "assignee": "" if typed["assignee"] in ("", *people) else "Choose a member of the project.",
        "reviewer": "" if typed["reviewer"] in ("", *people) else "Choose a member of the project.",
    }
    return {field: error for field, error in errors.items() if error}


def _values(visit: Visit, typed: Mapping[str, str]) -> tuple[Scalar, ...]:
    people = [find_user_id(visit.db, typed[name]) if typed[name] else None for name in ("assignee", "reviewer")]
    return typed["title"], typed["text"], *people


def _people(visit: Visit, place: Place) -> dict[str, str]:
    """Members, and whoever has a part in a merge request already."""
    people = member_names(visit.db, place.project.id)
    for column in ("assignee_id", "reviewer_id"):
        people |= names_in(visit.db, "code_merge_requests", column, place.project.id)
    return people


def _form_page(
    visit: Visit, place: Place, request: MergeRequest | None, typed: Mapping[str, str], errors: Mapping[str, str]
) -> Response:
    names = {name: name for name in branch_names(visit.db, place.project.id)}
    return draw(
        visit,
        place,
        "merge_request_edit.html",
        422 if errors else 200,
        request=request,
        typed=typed,
        errors=errors,
        people={"": "Nobody"} | _people(visit, place),
        sources={"": "Choose"} | names,
        targets=names,
    )

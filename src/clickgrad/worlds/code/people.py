"""People: log in and out, profiles, following, one's own settings and to-do list."""

from __future__ import annotations

from starlette.responses import Response

from clickgrad.worlds.code import groups
from clickgrad.worlds.code.access import text_error, visible
from clickgrad.worlds.code.listing import (
    ISSUE_SORTS,
    REQUEST_SORTS,
    choose,
    list_issues,
    list_requests,
    paged,
    project_line,
    select_projects,
)
from clickgrad.worlds.code.pages import PAGES, Visit, render
from clickgrad.worlds.code.rows import User
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

LIMITS = {"status": 80, "job": 60, "location": 60, "bio": 300}


def login(visit: Visit) -> Response:
    sql = "SELECT id FROM code_users WHERE ?1 IN (username, email) AND password = ?2"
    return PAGES.check_login(visit, "name", sql, "The username or the password is wrong.")


# --- profiles -------------------------------------------------------------------------------------------------------


def namespace(visit: Visit) -> Response:
    """A user or a group: both have an address of one word."""
    if visit.db.execute("SELECT 1 FROM code_groups WHERE path = ?", (visit.path["namespace"],)).fetchone():
        return groups.group(visit)
    return profile(visit)


def profile(visit: Visit) -> Response:
    person = _find(visit)
    seen, params = visible(visit.user)
    visitor = visit.user.id if visit.user else 0
    page = paged(
        visit, select_projects(f"{seen} AND p.namespace = ?"), (visitor, *params, person.username), project_line
    )
    followers = visit.db.execute("SELECT COUNT(*) FROM code_follows WHERE user_id = ?", (person.id,)).fetchone()[0]
    following = visit.db.execute("SELECT COUNT(*) FROM code_follows WHERE follower_id = ?", (person.id,)).fetchone()[0]
    return render(
        visit,
        "profile.html",
        person=person,
        page=page,
        followers=followers,
        following=following,
        followed=_follows(visit, person),
    )


def follow(visit: Visit) -> Response:
    user, person = visit.require_user(), _find(visit)
    if user.id == person.id:
        raise Refusal(403, "You cannot follow yourself.")
    if not _follows(visit, person):
        visit.db.execute("INSERT INTO code_follows (follower_id, user_id) VALUES (?, ?)", (user.id, person.id))
    return redirect(f"/{person.username}")


def unfollow(visit: Visit) -> Response:
    user, person = visit.require_user(), _find(visit)
    visit.db.execute("DELETE FROM code_follows WHERE follower_id = ? AND user_id = ?", (user.id, person.id))
    return redirect(f"/{person.username}")


def settings_form(visit: Visit) -> Response:
    user = visit.require_user()
    return render(visit, "settings.html", typed={name: getattr(user, name) for name in LIMITS}, errors={})


def save_settings(visit: Visit) -> Response:
    user = visit.require_user()
    typed = {name: visit.typed(name).replace("\r\n", "\n") for name in LIMITS}
    errors = {name: error for name, limit in LIMITS.items() if (error := text_error(typed[name], limit))}
    if errors:
        return render(visit, "settings.html", 422, typed=typed, errors=errors)
    sql = ", ".join(f"{name} = ?" for name in LIMITS)
    visit.db.execute(f"UPDATE code_users SET {sql} WHERE id = ?", (*typed.values(), user.id))
    return redirect(f"/{user.username}")


def _find(visit: Visit) -> User:
    row = visit.db.execute("SELECT * FROM code_users WHERE username = ?", (visit.path["namespace"],)).fetchone()
    if row is None:
        raise NOT_FOUND
    return User(*row)


def _follows(visit: Visit, person: User) -> bool:
    if visit.user is None:
        return False
    key = (visit.user.id, person.id)
    found = visit.db.execute("SELECT 1 FROM code_follows WHERE follower_id = ? AND user_id = ?", key).fetchone()
    return found is not None


# --- to-do list -----------------------------------------------------------------------------------------------------

_OPEN_ISSUES = "i.assignee_id = ? AND i.state = 'open'"
_ASSIGNED_REQUESTS = "r.assignee_id = ? AND r.state = 'open'"
_REVIEWS = "r.reviewer_id = ? AND r.state = 'open'"


def todo_issues(visit: Visit) -> Response:
    user = visit.require_user()
    sort = choose(visit, "sort", "Sort by", ISSUE_SORTS)
    page = list_issues(visit, _OPEN_ISSUES, (user.id,), sort.chosen)
    return render(visit, "todo.html", kind="issues", page=page, sort=sort, path="/todo", **_counts(visit, user))


def todo_requests(visit: Visit) -> Response:
    return _todo_requests(visit, "requests", _ASSIGNED_REQUESTS)


def todo_reviews(visit: Visit) -> Response:
    return _todo_requests(visit, "reviews", _REVIEWS)


def _todo_requests(visit: Visit, kind: str, where: str) -> Response:
    user = visit.require_user()
    sort = choose(visit, "sort", "Sort by", REQUEST_SORTS)
    page = list_requests(visit, where, (user.id,), sort.chosen)
    path = "/todo/reviews" if kind == "reviews" else "/todo/merge_requests"
    return render(visit, "todo.html", kind=kind, page=page, sort=sort, path=path, **_counts(visit, user))


def _counts(visit: Visit, user: User) -> dict[str, int]:
    def count(table: str, where: str) -> int:
        return int(visit.db.execute(f"SELECT COUNT(*) FROM {table} WHERE {where}", (user.id,)).fetchone()[0])

    return {
        "issues": count("code_issues i", _OPEN_ISSUES),
        "requests": count("code_merge_requests r", _ASSIGNED_REQUESTS),
        "reviews": count("code_merge_requests r", _REVIEWS),
    }

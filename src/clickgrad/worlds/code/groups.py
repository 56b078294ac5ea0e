"""Groups: a common namespace for projects, with members of its own."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from clickgrad.worlds.code.access import ROLES, VISIBILITIES, find_user_id, slug_of, text_error, visible
from clickgrad.worlds.code.listing import paged, project_line, select_projects
from clickgrad.worlds.code.pages import TODAY, Visit, render
from clickgrad.worlds.code.rows import Group
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

MAX_NAME = 60
MAX_DESCRIPTION = 200
# First words of the site's own addresses.
RESERVED = frozenset(
    ("explore", "groups", "login", "logout", "projects", "search", "settings", "snippets", "starred", "todo")
)


def groups(visit: Visit) -> Response:
    """The groups the visitor belongs to."""
    user = visit.require_user()
    rows = visit.db.execute(
        "SELECT g.*, m.role FROM code_groups g JOIN code_group_members m ON m.group_id = g.id AND m.user_id = ?"
        " ORDER BY g.name",
        (user.id,),
    )
    return render(visit, "groups.html", lines=[(Group(*row[:-1]), row[-1]) for row in rows])


def group(visit: Visit) -> Response:
    item, role = _enter(visit)
    seen, params = visible(visit.user)
    visitor = visit.user.id if visit.user else 0
    sql = select_projects(f"{seen} AND p.namespace = ?")
    page = paged(visit, sql, (visitor, *params, item.path), project_line)
    count = visit.db.execute("SELECT COUNT(*) FROM code_group_members WHERE group_id = ?", (item.id,)).fetchone()[0]
    return render(visit, "group.html", group=item, role=role, page=page, members=count)


def new_form(visit: Visit) -> Response:
    visit.require_user()
    return _form(visit, {"name": "", "description": "", "visibility": "Private"}, {})


def create(visit: Visit) -> Response:
    user = visit.require_user()
    typed = {field: visit.typed(field) for field in ("name", "description", "visibility")}
    path = slug_of(typed["name"])
    errors = {
        "name": text_error(typed["name"], MAX_NAME, "Enter a name.") or _path_error(visit, path),
        "description": text_error(typed["description"], MAX_DESCRIPTION),
        "visibility": "" if typed["visibility"] in VISIBILITIES else "Choose who can see the group.",
    }
    errors = {field: error for field, error in errors.items() if error}
    if errors:
        return _form(visit, typed, errors)
    group_id = visit.db.execute(
        "INSERT INTO code_groups (path, name, description, visibility, created) VALUES (?, ?, ?, ?, ?)",
        (path, typed["name"], typed["description"], typed["visibility"], TODAY),
    ).lastrowid
    visit.db.execute(
        "INSERT INTO code_group_members (group_id, user_id, role) VALUES (?, ?, 'Owner')", (group_id, user.id)
    )
    return redirect(f"/{path}")


def _path_error(visit: Visit, path: str) -> str:
    if not path:
        return "Use letters or digits."
    taken = visit.db.execute("SELECT 1 FROM code_groups WHERE path = ?", (path,)).fetchone()
    return "There is already a group with this name." if taken or path in RESERVED else ""


def _form(visit: Visit, typed: Mapping[str, str], errors: Mapping[str, str]) -> Response:
    options = {name: name for name in VISIBILITIES}
    return render(visit, "group_new.html", 422 if errors else 200, typed=typed, errors=errors, visibilities=options)


# --- members --------------------------------------------------------------------------------------------------------


def members(visit: Visit) -> Response:
    item, role = _enter(visit)
    lines = visit.db.execute(
        "SELECT u.name, u.username, m.role, m.id FROM code_group_members m JOIN code_users u ON u.id = m.user_id"
        " WHERE m.group_id = ? ORDER BY u.name",
        (item.id,),
    ).fetchall()
    return render(visit, "group_members.html", group=item, role=role, lines=lines)


def invite_form(visit: Visit) -> Response:
    return _invite_page(visit, _enter_as_owner(visit), {"user": "", "role": "Guest"}, {})


def invite(visit: Visit) -> Response:
    item = _enter_as_owner(visit)
    typed = {"user": visit.typed("user"), "role": visit.typed("role")}
    user_id = find_user_id(visit.db, typed["user"])
    errors = {}
    if not typed["user"]:
        errors["user"] = "Enter a username or an email."
    elif user_id is None:
        errors["user"] = f"There is no user {typed['user'][:60]}."
    elif visit.db.execute(
        "SELECT 1 FROM code_group_members WHERE group_id = ? AND user_id = ?", (item.id, user_id)
    ).fetchone():
        errors["user"] = f"{typed['user']} is already a member."
    if typed["role"] not in ROLES[:-1]:
        errors["role"] = "Choose a role."
    if errors:
        return _invite_page(visit, item, typed, errors)
    visit.db.execute(
        "INSERT INTO code_group_members (group_id, user_id, role) VALUES (?, ?, ?)", (item.id, user_id, typed["role"])
    )
    return redirect(f"/groups/{item.path}/members")


def _invite_page(visit: Visit, item: Group, typed: Mapping[str, str], errors: Mapping[str, str]) -> Response:
    roles = {role: role for role in ROLES[:-1]}
    status = 422 if errors else 200
    return render(visit, "group_invite.html", status, group=item, typed=typed, errors=errors, roles=roles)


def _enter(visit: Visit) -> tuple[Group, str]:
    """The group and the visitor's role in it. A group a visitor may not see does not exist for them."""
    row = visit.db.execute("SELECT * FROM code_groups WHERE path = ?", (visit.path["namespace"],)).fetchone()
    if row is None:
        raise NOT_FOUND
    item, role = Group(*row), ""
    if visit.user:
        found = visit.db.execute(
            "SELECT role FROM code_group_members WHERE group_id = ? AND user_id = ?", (item.id, visit.user.id)
        ).fetchone()
        role = found[0] if found else ""
    hidden = item.visibility == "Private" or (item.visibility == "Internal" and visit.user is None)
    if hidden and not role:
        raise NOT_FOUND
    return item, role


def _enter_as_owner(visit: Visit) -> Group:
    item, role = _enter(visit)
    visit.require_user()
    if role != "Owner":
        raise Refusal(403, f"Only the owner of {item.name} can do this.")
    return item

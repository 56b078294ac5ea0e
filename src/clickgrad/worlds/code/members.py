"""A project's members: who they are, inviting, changing a role, removing. Only maintainers and owners manage them."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.code.access import ROLES, Place, draw, enter, enter_as, find_user_id
from clickgrad.worlds.code.listing import LONG_PAGE, paged
from clickgrad.worlds.code.pages import TODAY, Visit
from clickgrad.worlds.code.rows import Member
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

INVITED_AS = ROLES[:-1]  # nobody becomes an owner by invitation

_MEMBERS = "SELECT m.*, u.name, u.username FROM code_members m JOIN code_users u ON u.id = m.user_id"


@dataclass(frozen=True, slots=True)
class MemberLine:
    member: Member
    name: str
    username: str


def _line(row: tuple[object, ...]) -> MemberLine:
    *columns, name, username = row
    return MemberLine(Member(*columns), str(name), str(username))  # type: ignore[arg-type]  # SELECT m.*


def members(visit: Visit) -> Response:
    place = enter(visit)
    sql = f"{_MEMBERS} WHERE m.project_id = ? ORDER BY u.name"
    page = paged(visit, sql, (place.project.id,), _line, LONG_PAGE)
    return draw(visit, place, "members.html", page=page)


def invite_form(visit: Visit) -> Response:
    return _invite_page(visit, enter_as(visit, "Maintainer"), "", "Guest", {})


def invite(visit: Visit) -> Response:
    place = enter_as(visit, "Maintainer")
    name, role = visit.typed("user"), visit.typed("role")
    user_id = find_user_id(visit.db, name)
    errors = {}
    if not name:
        errors["user"] = "Enter a username or an email."
    elif user_id is None:
        errors["user"] = f"There is no user {name[:60]}."
    elif visit.db.execute(
        "SELECT 1 FROM code_members WHERE project_id = ? AND user_id = ?", (place.project.id, user_id)
    ).fetchone():
        errors["user"] = f"{name} is already a member."
    if role not in INVITED_AS:
        errors["role"] = "Choose a role."
    if errors:
        return _invite_page(visit, place, name, role, errors)
    visit.db.execute(
        "INSERT INTO code_members (project_id, user_id, role, since) VALUES (?, ?, ?, ?)",
        (place.project.id, user_id, role, TODAY),
    )
    return redirect(f"{place.path}/members")


def _invite_page(visit: Visit, place: Place, name: str, role: str, errors: dict[str, str]) -> Response:
    options = {other: other for other in INVITED_AS}
    typed = {"user": name, "role": role}
    return draw(visit, place, "invite.html", 422 if errors else 200, typed=typed, errors=errors, roles=options)


def member(visit: Visit) -> Response:
    place = enter_as(visit, "Maintainer")
    return _member_page(visit, place, _find(visit, place), "")


def change_role(visit: Visit) -> Response:
    place = enter_as(visit, "Maintainer")
    line = _manageable(visit, place)
    role = visit.typed("role")
    if role not in INVITED_AS:
        return _member_page(visit, place, line, "Choose a role.")
    visit.db.execute("UPDATE code_members SET role = ? WHERE id = ?", (role, line.member.id))
    return redirect(f"{place.path}/members")


def remove(visit: Visit) -> Response:
    place = enter_as(visit, "Maintainer")
    line = _manageable(visit, place)
    visit.db.execute("DELETE FROM code_members WHERE id = ?", (line.member.id,))
    return redirect(f"{place.path}/members")


def _member_page(visit: Visit, place: Place, line: MemberLine, error: str) -> Response:
    options = {other: other for other in INVITED_AS}
    return draw(visit, place, "member.html", 422 if error else 200, line=line, roles=options, error=error)


def _find(visit: Visit, place: Place) -> MemberLine:
    row = visit.db.execute(
        f"{_MEMBERS} WHERE m.id = ? AND m.project_id = ?", (visit.path_id(), place.project.id)
    ).fetchone()
    if row is None:
        raise NOT_FOUND
    return _line(row)


def _manageable(visit: Visit, place: Place) -> MemberLine:
    """Owners stay owners, and nobody changes their own role."""
    line = _find(visit, place)
    if line.member.role == "Owner":
        raise Refusal(403, "The owner of a project cannot be changed here.")
    if line.member.user_id == visit.require_user().id:
        raise Refusal(403, "You cannot change your own membership.")
    return line

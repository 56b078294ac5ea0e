"""Who may do what in a project: its visibility, the visitor's role, and the door to every page of a project."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from datetime import date

from starlette.responses import Response

from clickgrad.worlds.code.pages import Visit, render
from clickgrad.worlds.code.rows import Project, User
from clickgrad.worlds.pages import NOT_FOUND, Refusal

ROLES = ("Guest", "Reporter", "Developer", "Maintainer", "Owner")
VISIBILITIES = ("Private", "Internal", "Public")


@dataclass(frozen=True, slots=True)
class Place:
    """A project as one visitor stands in it."""

    project: Project
    role: str  # "" for visitors who are no members

    @property
    def path(self) -> str:
        return self.project.path

    def may(self, role: str) -> bool:
        """Whether the visitor has at least this role."""
        return bool(self.role) and ROLES.index(self.role) >= ROLES.index(role)


def visible(user: User | None, table: str = "p") -> tuple[str, tuple[str | int, ...]]:
    """A condition on code_projects that holds for what the visitor may see, and its parameters."""
    if user is None:
        return f"{table}.visibility = 'Public'", ()
    own = f"{table}.id IN (SELECT project_id FROM code_members WHERE user_id = ?)"
    return f"({table}.visibility IN ('Public', 'Internal') OR {own})", (user.id,)


def enter(visit: Visit) -> Place:
    """The project the address names. What a visitor may not see does not exist for them."""
    place = place_of(visit, "namespace = ? AND slug = ?", visit.path["namespace"], visit.path["project"])
    if place is None:
        raise NOT_FOUND
    return place


def enter_as(visit: Visit, role: str) -> Place:
    """The project, for visitors who have at least this role in it."""
    place = enter(visit)
    visit.require_user()
    if not place.may(role):
        raise Refusal(403, f"You need the role {role} in {place.project.name} to do this.")
    return place


def place_of(visit: Visit, where: str, *params: str | int) -> Place | None:
    row = visit.db.execute(f"SELECT * FROM code_projects WHERE {where}", params).fetchone()
    if row is None:
        return None
    project = Project(*row)
    role = role_in(visit.db, project.id, visit.user)
    hidden = project.visibility == "Private" or (project.visibility == "Internal" and visit.user is None)
    return None if hidden and not role else Place(project, role)


def role_in(db: sqlite3.Connection, project_id: int, user: User | None) -> str:
    if user is None:
        return ""
    row = db.execute(
        "SELECT role FROM code_members WHERE project_id = ? AND user_id = ?", (project_id, user.id)
    ).fetchone()
    return "" if row is None else str(row[0])


def member_names(db: sqlite3.Connection, project_id: int) -> dict[str, str]:
    """Username -> name of everybody in the project, by name."""
    rows = db.execute(
        "SELECT u.username, u.name FROM code_members m JOIN code_users u ON u.id = m.user_id"
        " WHERE m.project_id = ? ORDER BY u.name",
        (project_id,),
    )
    return dict(rows.fetchall())


def find_user_id(db: sqlite3.Connection, name: str) -> int | None:
    """Of the user with this username or email."""
    row = db.execute("SELECT id FROM code_users WHERE ? IN (username, email)", (name.lower(),)).fetchone()
    return None if row is None else int(row[0])


def draw(visit: Visit, place: Place, template: str, status: int = 200, **values: object) -> Response:
    """A page of a project."""
    return render(visit, template, status, place=place, project=place.project, **values)


# --- checking what visitors typed -----------------------------------------------------------------------------------


def text_error(text: str, limit: int, missing: str = "") -> str:
    """What is wrong with a text: too long, or empty when `missing` says that it must not be."""
    if missing and not text:
        return missing
    return f"Use at most {limit} characters." if len(text) > limit else ""


def date_error(text: str) -> str:
    if not text:
        return ""
    try:
        plain = re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)
        return "" if plain and date.fromisoformat(text) else "Enter a date such as 2025-04-30."
    except ValueError:
        return "Enter a date such as 2025-04-30."


def slug_of(name: str) -> str:
    """Weather App 2 -> weather-app-2."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")

"""Making projects, by forking or from nothing, and changing their settings."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from clickgrad.worlds.code.access import VISIBILITIES, draw, enter, enter_as, slug_of, text_error
from clickgrad.worlds.code.data_repository import MAIN
from clickgrad.worlds.code.pages import TODAY, Visit, render
from clickgrad.worlds.code.repository import commits_on, save_commit, save_file, save_main
from clickgrad.worlds.code.rows import User
from clickgrad.worlds.code.words import LANGUAGES, LICENSES
from clickgrad.worlds.pages import NOT_FOUND, redirect

MAX_NAME = 60
MAX_DESCRIPTION = 200
SEEN_BY = {name: name for name in VISIBILITIES}


# --- forking --------------------------------------------------------------------------------------------------------


def fork_form(visit: Visit) -> Response:
    visit.require_user()
    place = enter(visit)
    return draw(visit, place, "fork.html", name=place.project.name, error="")


def fork(visit: Visit) -> Response:
    """A copy of the project and of its main branch, in the visitor's namespace."""
    user, place = visit.require_user(), enter(visit)
    name = visit.typed("name")
    error = _name_error(visit, user.username, name)
    if error:
        return draw(visit, place, "fork.html", 422, name=name, error=error)
    origin = place.project
    values = (origin.description, origin.visibility, origin.language, origin.license, origin.topics)
    project_id = _save_project(visit, user, user.username, name, values, origin.id)
    save_main(visit, project_id)
    visit.db.execute(
        "INSERT INTO code_files (project_id, path, content)"
        " SELECT ?, path, content FROM code_files WHERE project_id = ? ORDER BY id",
        (project_id, origin.id),
    )
    sql, params = commits_on(origin.id, MAIN)
    visit.db.execute(
        "INSERT INTO code_commits (project_id, branch, author_id, sha, message, path, created)"
        f" SELECT ?, ?, author_id, sha, message, path, created FROM ({sql}) ORDER BY id",
        (project_id, MAIN, *params),
    )
    return redirect(f"/{user.username}/{slug_of(name)}")


# --- making and changing --------------------------------------------------------------------------------------------


def new_form(visit: Visit) -> Response:
    user = visit.require_user()
    asked = visit.query.get("namespace", "")
    spaces = _namespaces(visit, user)
    typed = {"namespace": asked if asked in spaces else user.username, "visibility": "Private", "language": "Python"}
    typed |= {"name": "", "description": "", "license": "", "readme": ""}
    return _new_page(visit, spaces, typed, {})


def create(visit: Visit) -> Response:
    user = visit.require_user()
    spaces = _namespaces(visit, user)
    fields = ("namespace", "name", "description", "visibility", "language", "license", "readme")
    typed = {field: visit.typed(field) for field in fields}
    errors = {
        "namespace": "" if typed["namespace"] in spaces else "Choose a namespace.",
        "name": _name_error(visit, typed["namespace"], typed["name"]),
        "description": text_error(typed["description"], MAX_DESCRIPTION),
        "visibility": "" if typed["visibility"] in VISIBILITIES else "Choose who can see the project.",
        "language": "" if typed["language"] in LANGUAGES else "Choose a language.",
        "license": "" if typed["license"] in ("", *LICENSES) else "Choose a license.",
    }
    errors = {field: error for field, error in errors.items() if error}
    if errors:
        return _new_page(visit, spaces, typed, errors)
    values = (typed["description"], typed["visibility"], typed["language"], typed["license"] or "None", "")
    project_id = _save_project(visit, user, typed["namespace"], typed["name"], values, None)
    if typed["readme"]:
        save_main(visit, project_id)
        save_file(visit, project_id, "README.md", f"# {typed['name']}")
        save_commit(visit, project_id, user, "Initial commit", "README.md")
    return redirect(f"/{typed['namespace']}/{slug_of(typed['name'])}")


def settings_form(visit: Visit) -> Response:
    place = enter_as(visit, "Maintainer")
    project = place.project
    typed = {field: getattr(project, field) for field in ("name", "description", "visibility", "topics")}
    return draw(visit, place, "project_settings.html", typed=typed, errors={}, visibilities=SEEN_BY)


def save_settings(visit: Visit) -> Response:
    """The address stays as it is when the name changes, so that links keep working."""
    place = enter_as(visit, "Maintainer")
    typed = {field: visit.typed(field) for field in ("name", "description", "visibility", "topics")}
    errors = {
        "name": text_error(typed["name"], MAX_NAME, "Enter a name."),
        "description": text_error(typed["description"], MAX_DESCRIPTION),
        "visibility": "" if typed["visibility"] in VISIBILITIES else "Choose who can see the project.",
        "topics": text_error(typed["topics"], MAX_DESCRIPTION),
    }
    errors = {field: error for field, error in errors.items() if error}
    if errors:
        return draw(
            visit, place, "project_settings.html", 422, typed=typed, errors=errors, visibilities=SEEN_BY
        )  # fmt: skip
    visit.db.execute(
        "UPDATE code_projects SET name = ?, description = ?, visibility = ?, topics = ? WHERE id = ?",
        (*typed.values(), place.project.id),
    )
    return redirect(place.path)


def _namespaces(visit: Visit, user: User) -> dict[str, str]:
    """Where the user may make projects: path -> name."""
    rows = visit.db.execute(
        "SELECT g.path, g.name FROM code_groups g JOIN code_group_members m ON m.group_id = g.id"
        " WHERE m.user_id = ? AND m.role IN ('Maintainer', 'Owner') ORDER BY g.name",
        (user.id,),
    )
    return {user.username: user.name, **dict(rows.fetchall())}


def _new_page(visit: Visit, spaces: Mapping[str, str], typed: Mapping[str, str], errors: Mapping[str, str]) -> Response:
    return render(
        visit,
        "project_new.html",
        422 if errors else 200,
        typed=typed,
        errors=errors,
        namespaces=spaces,
        visibilities=SEEN_BY,
        languages={name: name for name in sorted(LANGUAGES)},
        licenses={"": "None"} | {name: name for name in LICENSES},
    )


def _name_error(visit: Visit, namespace: str, name: str) -> str:
    if error := text_error(name, MAX_NAME, "Enter a name."):
        return error
    slug = slug_of(name)
    if not slug:
        return "Use letters or digits."
    taken = visit.db.execute(
        "SELECT 1 FROM code_projects WHERE namespace = ? AND slug = ?", (namespace, slug)
    ).fetchone()
    return f"{namespace} already has a project with this name." if taken else ""


def _save_project(
    visit: Visit, user: User, namespace: str, name: str, values: tuple[str, ...], forked_from: int | None
) -> int:
    project_id = visit.db.execute(
        "INSERT INTO code_projects (namespace, slug, name, description, visibility, language, license, topics,"
        " base_stars, base_forks, forked_from, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?)",
        (namespace, slug_of(name), name, *values, forked_from, TODAY),
    ).lastrowid
    if project_id is None:
        raise NOT_FOUND
    visit.db.execute(
        "INSERT INTO code_members (project_id, user_id, role, since) VALUES (?, ?, 'Owner', ?)",
        (project_id, user.id, TODAY),
    )
    return project_id

"""Projects: lists of them, a project's first page, and starring it."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from clickgrad.worlds.code.access import Place, draw, enter, visible
from clickgrad.worlds.code.data_repository import MAIN
from clickgrad.worlds.code.listing import (
    PROJECT_ORDER,
    PROJECT_SORTS,
    Choice,
    choose,
    paged,
    project_line,
    select_projects,
)
from clickgrad.worlds.code.pages import Visit, render
from clickgrad.worlds.code.repository import commit_line, commits_on, entries
from clickgrad.worlds.code.words import LANGUAGES
from clickgrad.worlds.pages import redirect


def home(visit: Visit) -> Response:
    """The visitor's own projects, or everybody's for those who are not logged in."""
    if visit.user is None:
        return explore(visit)
    own = "p.id IN (SELECT project_id FROM code_members WHERE user_id = ?)"
    return _project_list(visit, "Your Projects", own, (visit.user.id,), {})


def starred(visit: Visit) -> Response:
    user = visit.require_user()
    seen, params = visible(user)
    own = f"{seen} AND p.id IN (SELECT project_id FROM code_stars WHERE user_id = ?)"
    return _project_list(visit, "Starred Projects", own, (*params, user.id), {})


def explore(visit: Visit) -> Response:
    seen, params = visible(visit.user)
    sort = choose(visit, "sort", "Sort by", PROJECT_SORTS)
    language = choose(visit, "language", "Language", {"": "All"} | {name: name for name in sorted(LANGUAGES)})
    if language.chosen:
        seen, params = f"{seen} AND p.language = ?", (*params, language.chosen)
    return _project_list(visit, "Explore Projects", seen, params, {"sort": sort, "language": language})


def _project_list(
    visit: Visit, heading: str, where: str, params: tuple[str | int, ...], choices: Mapping[str, Choice]
) -> Response:
    order = PROJECT_ORDER[choices["sort"].chosen if choices else ""]
    visitor = visit.user.id if visit.user else 0
    page = paged(visit, select_projects(where, order), (visitor, *params), project_line)
    path = "/explore" if choices else ""
    return render(visit, "projects.html", heading=heading, page=page, choices=tuple(choices.values()), path=path)


def project(visit: Visit) -> Response:
    place = enter(visit)
    visitor = visit.user.id if visit.user else 0
    row = visit.db.execute(select_projects("p.id = ?"), (visitor, place.project.id)).fetchone()
    sql, params = commits_on(place.project.id, MAIN)
    latest = visit.db.execute(f"{sql} ORDER BY c.created DESC, c.id DESC", params).fetchone()
    count = visit.db.execute(f"SELECT COUNT(*) FROM ({sql})", params).fetchone()[0]
    readme = visit.db.execute(
        "SELECT content FROM code_files WHERE project_id = ? AND path = 'README.md'", (place.project.id,)
    ).fetchone()
    upstream = None
    if place.project.forked_from:
        upstream = visit.db.execute(
            "SELECT namespace || '/' || slug FROM code_projects WHERE id = ?", (place.project.forked_from,)
        ).fetchone()[0]
    return draw(
        visit,
        place,
        "project.html",
        line=project_line(row),
        commits=count,
        latest=commit_line(latest) if latest else None,
        files=entries(visit.db, place.project.id, ""),
        readme=readme[0].splitlines() if readme else [],
        upstream=upstream,
        starred=_has_starred(visit, place),
    )


def star(visit: Visit) -> Response:
    user, place = visit.require_user(), enter(visit)
    if not _has_starred(visit, place):
        visit.db.execute("INSERT INTO code_stars (project_id, user_id) VALUES (?, ?)", (place.project.id, user.id))
    return redirect(place.path)


def unstar(visit: Visit) -> Response:
    user, place = visit.require_user(), enter(visit)
    visit.db.execute("DELETE FROM code_stars WHERE project_id = ? AND user_id = ?", (place.project.id, user.id))
    return redirect(place.path)


def _has_starred(visit: Visit, place: Place) -> bool:
    if visit.user is None:
        return False
    key = (place.project.id, visit.user.id)
    return visit.db.execute("SELECT 1 FROM code_stars WHERE project_id = ? AND user_id = ?", key).fetchone() is not None

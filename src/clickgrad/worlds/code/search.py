"""Searching the whole site: projects, issues or users that have every word."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from clickgrad.types import Scalar
from clickgrad.worlds.code.access import visible
from clickgrad.worlds.code.listing import has_words, list_issues, paged, project_line, search_words, select_projects
from clickgrad.worlds.code.pages import Visit, render

_PROJECT_TEXT = "(p.name || ' ' || p.namespace || '/' || p.slug || ' ' || p.topics)"
_USER_TEXT = "(w.name || ' ' || w.username)"


def search(visit: Visit) -> Response:
    text = visit.query.get("q", "").strip()
    scope = visit.query.get("scope", "")
    scope = scope if scope in ("issues", "users") else "projects"
    words = search_words(text)
    seen, params = visible(visit.user)
    visitor = visit.user.id if visit.user else 0
    projects = f"{seen} AND {has_words(_PROJECT_TEXT, words)}"
    issues = f"{seen} AND {has_words('i.title', words)}"
    users = f"SELECT w.name, w.username, w.job FROM code_users w WHERE {has_words(_USER_TEXT, words)} ORDER BY w.name"
    asked: tuple[Scalar, ...] = (*params, *words)

    def count(sql: str) -> int:
        return int(visit.db.execute(f"SELECT COUNT(*) {sql}", asked).fetchone()[0]) if words else 0

    counts = {
        "Projects": count(f"FROM code_projects p WHERE {projects}"),
        "Issues": count(f"FROM code_issues i JOIN code_projects p ON p.id = i.project_id WHERE {issues}"),
        "Users": int(visit.db.execute(f"SELECT COUNT(*) FROM ({users})", words).fetchone()[0]) if words else 0,
    }
    page: object = None
    if words and scope == "issues":
        page = list_issues(visit, issues, asked)
    elif words and scope == "users":
        page = paged(visit, users, words, tuple)
    elif words:
        page = paged(visit, select_projects(projects), (visitor, *asked), project_line)
    tabs = [
        (name, number, f"/search?{urlencode({'q': text, 'scope': name.lower()})}") for name, number in counts.items()
    ]
    return render(visit, "search.html", search=text, scope=scope, tabs=tabs, page=page)

"""A project's repository: files, commits, contributors and branches."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.types import Scalar
from clickgrad.worlds.code.access import Place, draw, enter, enter_as, text_error
from clickgrad.worlds.code.data_repository import MAIN
from clickgrad.worlds.code.listing import LONG_PAGE, Choice, choose, paged
from clickgrad.worlds.code.pages import STAMP, TODAY, Visit
from clickgrad.worlds.code.rows import Branch, Commit, File, User
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

MAX_PATH = 100
MAX_CONTENT = 4000
MAX_MESSAGE = 100
MAX_BRANCH = 60


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    path: str
    is_folder: bool


@dataclass(frozen=True, slots=True)
class CommitLine:
    commit: Commit
    author: str
    username: str


# --- files ----------------------------------------------------------------------------------------------------------


def entries(db: sqlite3.Connection, project_id: int, folder: str) -> list[Entry]:
    """What a folder holds, its folders first. `folder` is empty or ends with a slash."""
    rows = db.execute("SELECT path FROM code_files WHERE project_id = ? ORDER BY path", (project_id,))
    found: dict[str, Entry] = {}
    for (path,) in rows:
        if path.startswith(folder):
            name, slash, _ = path.removeprefix(folder).partition("/")
            found[name] = Entry(name, folder + name, bool(slash))
    return sorted(found.values(), key=lambda entry: (not entry.is_folder, entry.name.lower()))


def files(visit: Visit) -> Response:
    """A file, or a folder."""
    place = enter(visit)
    path = visit.path["path"]
    file = _find_file(visit, place, path)
    parent = path.rpartition("/")[0]
    if file:
        return draw(visit, place, "file.html", file=file, lines=file.content.splitlines(), parent=parent)
    inside = entries(visit.db, place.project.id, f"{path}/")
    if not inside:
        raise NOT_FOUND
    return draw(visit, place, "folder.html", folder=path, entries=inside, parent=parent)


def new_file_form(visit: Visit) -> Response:
    place = enter_as(visit, "Developer")
    typed = {"path": "", "content": "", "message": "Add a file"}
    return draw(visit, place, "file_edit.html", file=None, typed=typed, errors={})


def create_file(visit: Visit) -> Response:
    place = enter_as(visit, "Developer")
    typed = {field: visit.typed(field) for field in ("path", "content", "message")}
    errors = _file_errors(typed)
    if "path" not in errors and _taken(visit, place, typed["path"]):
        errors["path"] = "There is already a file or folder with this name."
    if errors:
        return draw(visit, place, "file_edit.html", 422, file=None, typed=typed, errors=errors)
    _require_main(visit, place)
    save_file(visit, place.project.id, typed["path"], typed["content"])
    save_commit(visit, place.project.id, visit.require_user(), typed["message"], typed["path"])
    return redirect(f"{place.path}/files/{typed['path']}")


def edit_file_form(visit: Visit) -> Response:
    place = enter_as(visit, "Developer")
    file = _require_file(visit, place)
    typed = {"path": file.path, "content": file.content, "message": f"Update {file.path}"}
    return draw(visit, place, "file_edit.html", file=file, typed=typed, errors={})


def save_edit(visit: Visit) -> Response:
    place = enter_as(visit, "Developer")
    file = _require_file(visit, place)
    typed = {"path": file.path, "content": visit.typed("content"), "message": visit.typed("message")}
    errors = _file_errors(typed)
    if errors:
        return draw(visit, place, "file_edit.html", 422, file=file, typed=typed, errors=errors)
    content = typed["content"].replace("\r\n", "\n")
    visit.db.execute("UPDATE code_files SET content = ? WHERE id = ?", (content, file.id))
    save_commit(visit, place.project.id, visit.require_user(), typed["message"], file.path)
    return redirect(f"{place.path}/files/{file.path}")


def save_file(visit: Visit, project_id: int, path: str, content: str) -> None:
    visit.db.execute(
        "INSERT INTO code_files (project_id, path, content) VALUES (?, ?, ?)",
        (project_id, path, content.replace("\r\n", "\n")),
    )


def save_commit(visit: Visit, project_id: int, user: User, message: str, path: str) -> None:
    """On the main branch."""
    count = visit.db.execute("SELECT COUNT(*) FROM code_commits").fetchone()[0]
    sha = hashlib.sha256(f"{project_id} {count} {message}".encode()).hexdigest()[:8]
    visit.db.execute(
        "INSERT INTO code_commits (project_id, branch, author_id, sha, message, path, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (project_id, MAIN, user.id, sha, message, path, STAMP),
    )


def _require_main(visit: Visit, place: Place) -> None:
    """A project without a repository gets one with its first file."""
    if MAIN not in branch_names(visit.db, place.project.id):
        save_main(visit, place.project.id)


def save_main(visit: Visit, project_id: int) -> None:
    visit.db.execute(
        "INSERT INTO code_branches (project_id, name, source, created) VALUES (?, ?, '', ?)", (project_id, MAIN, TODAY)
    )


def _file_errors(typed: dict[str, str]) -> dict[str, str]:
    plain = re.fullmatch(r"[\w.-]+(/[\w.-]+)*", typed["path"], re.ASCII) and ".." not in typed["path"].split("/")
    errors = {
        "path": text_error(typed["path"], MAX_PATH, "Enter a file name.")
        or ("" if plain else "Use letters, digits, dots, dashes and slashes."),
        "content": text_error(typed["content"], MAX_CONTENT),
        "message": text_error(typed["message"], MAX_MESSAGE, "Enter a commit message."),
    }
    return {field: error for field, error in errors.items() if error}


def _taken(visit: Visit, place: Place, path: str) -> bool:
    """Whether a file stands in the way: the same, one in a folder of this name, or one used as a folder."""
    rows = visit.db.execute("SELECT path FROM code_files WHERE project_id = ?", (place.project.id,))
    return any(f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/") for (other,) in rows)


def _find_file(visit: Visit, place: Place, path: str) -> File | None:
    row = visit.db.execute(
        "SELECT * FROM code_files WHERE project_id = ? AND path = ?", (place.project.id, path)
    ).fetchone()
    return None if row is None else File(*row)


def _require_file(visit: Visit, place: Place) -> File:
    file = _find_file(visit, place, visit.path["path"])
    if file is None:
        raise NOT_FOUND
    return file


# --- commits --------------------------------------------------------------------------------------------------------


def commits_on(project_id: int, branch: str) -> tuple[str, tuple[Scalar, ...]]:
    """The commits of a branch: its own, those of the branches it comes from, and what was merged into it."""
    sql = (
        "SELECT c.*, u.name AS author, u.username AS username FROM code_commits c"
        " JOIN code_users u ON u.id = c.author_id WHERE c.project_id = ? AND (c.branch IN (?, ?)"
        " OR c.branch = (SELECT source FROM code_branches b WHERE b.project_id = c.project_id AND b.name = ?)"
        " OR c.branch IN (SELECT source_branch FROM code_merge_requests r WHERE r.project_id = c.project_id"
        " AND r.state = 'merged' AND r.target_branch IN (?, ?)))"
    )
    return sql, (project_id, branch, MAIN, branch, branch, MAIN)


def commits(visit: Visit) -> Response:
    place = enter(visit)
    names = {name: name for name in branch_names(visit.db, place.project.id) if name != MAIN}
    branch = choose(visit, "branch", "Branch", {"": MAIN} | names)
    sql, params = commits_on(place.project.id, branch.chosen or MAIN)
    authors = visit.db.execute(f"SELECT DISTINCT username, author FROM ({sql}) ORDER BY author", params).fetchall()
    author = choose(visit, "author", "Author", {"": "Anyone"} | dict(authors))
    if author.chosen:
        sql, params = f"{sql} AND u.username = ?", (*params, author.chosen)
    page = paged(visit, f"{sql} ORDER BY c.created DESC, c.id DESC", params, commit_line, LONG_PAGE)
    return draw(visit, place, "commits.html", page=page, choices=(branch, author))


def commit(visit: Visit) -> Response:
    place = enter(visit)
    row = visit.db.execute(
        "SELECT c.*, u.name, u.username FROM code_commits c JOIN code_users u ON u.id = c.author_id"
        " WHERE c.project_id = ? AND c.sha = ?",
        (place.project.id, visit.path["sha"]),
    ).fetchone()
    if row is None:
        raise NOT_FOUND
    return draw(visit, place, "commit.html", line=commit_line(row))


def contributors(visit: Visit) -> Response:
    place = enter(visit)
    sql, params = commits_on(place.project.id, MAIN)
    people = visit.db.execute(
        f"SELECT author, username, COUNT(*) AS made, MAX(created) FROM ({sql})"
        " GROUP BY username ORDER BY made DESC, author",
        params,
    ).fetchall()
    return draw(visit, place, "contributors.html", people=people)


def commit_line(row: tuple[object, ...]) -> CommitLine:
    *columns, author, username = row
    return CommitLine(Commit(*columns), str(author), str(username))  # type: ignore[arg-type]  # SELECT c.*


# --- branches -------------------------------------------------------------------------------------------------------


def branch_names(db: sqlite3.Connection, project_id: int) -> list[str]:
    """The main branch first, the others by name."""
    rows = db.execute(
        "SELECT name FROM code_branches WHERE project_id = ? ORDER BY name != ?, name", (project_id, MAIN)
    )
    return [row[0] for row in rows]


def branches(visit: Visit) -> Response:
    place = enter(visit)
    sql = "SELECT * FROM code_branches WHERE project_id = ? ORDER BY name != ?, name"
    page = paged(visit, sql, (place.project.id, MAIN), lambda row: Branch(*row))
    return draw(visit, place, "branches.html", page=page, main=MAIN)


def new_branch_form(visit: Visit) -> Response:
    return _branch_form(visit, enter_as(visit, "Developer"), "", MAIN, {})


def create_branch(visit: Visit) -> Response:
    place = enter_as(visit, "Developer")
    name, source = visit.typed("name"), visit.typed("source")
    names = branch_names(visit.db, place.project.id)
    errors = {}
    if error := text_error(name, MAX_BRANCH, "Enter a name."):
        errors["name"] = error
    elif not re.fullmatch(r"[\w./-]+", name, re.ASCII):
        errors["name"] = "Use letters, digits, dots, dashes and slashes."
    elif name in names:
        errors["name"] = "There is already a branch with this name."
    if source not in names:
        errors["source"] = "Choose a branch."
    if errors:
        return _branch_form(visit, place, name, source, errors)
    visit.db.execute(
        "INSERT INTO code_branches (project_id, name, source, created) VALUES (?, ?, ?, ?)",
        (place.project.id, name, source, TODAY),
    )
    return redirect(f"{place.path}/branches")


def _branch_form(visit: Visit, place: Place, name: str, source: str, errors: dict[str, str]) -> Response:
    names = branch_names(visit.db, place.project.id)
    choice = Choice("source", "Create from", {other: other for other in names}, source)
    return draw(visit, place, "branch_new.html", 422 if errors else 200, name=name, source=choice, errors=errors)


def delete_branch(visit: Visit) -> Response:
    place = enter_as(visit, "Developer")
    branch_id = visit.path_id()
    row = visit.db.execute(
        "SELECT name FROM code_branches WHERE id = ? AND project_id = ?", (branch_id, place.project.id)
    ).fetchone()
    if row is None:
        raise NOT_FOUND
    if row[0] == MAIN:
        raise Refusal(403, "The main branch cannot be deleted.")
    visit.db.execute("DELETE FROM code_branches WHERE id = ?", (branch_id,))
    return redirect(f"{place.path}/branches")

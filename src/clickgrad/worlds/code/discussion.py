"""Comments on issues and merge requests."""

from __future__ import annotations

import sqlite3
from typing import Literal

from clickgrad.worlds.code.access import text_error
from clickgrad.worlds.code.pages import STAMP, Visit
from clickgrad.worlds.code.rows import Comment, User

MAX_COMMENT = 1000


def comments_on(
    db: sqlite3.Connection, column: Literal["issue_id", "merge_request_id"], id_: int
) -> list[tuple[Comment, str]]:
    """Each with its author's name, oldest first."""
    rows = db.execute(
        f"SELECT c.*, u.name FROM code_comments c JOIN code_users u ON u.id = c.author_id WHERE c.{column} = ?"
        " ORDER BY c.created, c.id",
        (id_,),
    )
    return [(Comment(*row[:-1]), row[-1]) for row in rows]


def comment_error(text: str) -> str:
    return text_error(text, MAX_COMMENT, "Write a comment first.")


def add_comment(
    visit: Visit, user: User, text: str, issue_id: int | None = None, merge_request_id: int | None = None
) -> None:
    visit.db.execute(
        "INSERT INTO code_comments (issue_id, merge_request_id, author_id, text, created) VALUES (?, ?, ?, ?, ?)",
        (issue_id, merge_request_id, user.id, text.replace("\r\n", "\n"), STAMP),
    )

"""The thread under a post: reading it page by page, and answering, editing, deleting and voting on comments."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.forum.listing import LISTED, ListedPost, Pager, pager
from clickgrad.worlds.forum.pages import Visit, length_error, lines, render, stamp
from clickgrad.worlds.forum.threads import thread_order
from clickgrad.worlds.forum.votes import cast_vote
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

COMMENTS_PER_PAGE = 5
MAX_COMMENT = 2000
NEW_COMMENT_SCORE = 1
SCORED = (
    "SELECT c.id, c.post_id, c.parent_id, c.user_id, u.username, c.body, c.created, c.deleted, c.base_score"
    " + (SELECT COALESCE(SUM(value), 0) FROM forum_comment_votes v WHERE v.comment_id = c.id) AS score"
    " FROM forum_comments c JOIN forum_users u ON u.id = c.user_id WHERE "
)


@dataclass(frozen=True, slots=True)
class ShownComment:
    id: int
    post_id: int
    parent_id: int | None
    user_id: int
    username: str
    body: str
    created: str
    deleted: int
    score: int


@dataclass(frozen=True, slots=True)
class Entry:
    comment: ShownComment
    depth: int
    vote: int  # the visitor's: 1, -1, or 0 for none


@dataclass(frozen=True, slots=True)
class Thread:
    entries: tuple[Entry, ...]
    pager: Pager


def list_comments(visit: Visit, post: ListedPost) -> Thread:
    comments, order = _thread(visit.db, post.id)
    place = pager(post.path, visit.query, len(order), COMMENTS_PER_PAGE)
    shown = order[(place.page - 1) * COMMENTS_PER_PAGE : place.page * COMMENTS_PER_PAGE]
    votes = {}
    if visit.user:
        votes = dict(
            visit.db.execute(
                "SELECT v.comment_id, v.value FROM forum_comments c JOIN forum_comment_votes v ON v.comment_id = c.id"
                " WHERE c.post_id = ? AND v.user_id = ?",
                (post.id, visit.user.id),
            ).fetchall()
        )
    return Thread(tuple(Entry(comments[id_], depth, votes.get(id_, 0)) for id_, depth in shown), place)


def _thread(db: sqlite3.Connection, post_id: int) -> tuple[dict[int, ShownComment], list[tuple[int, int]]]:
    """The comments by id, and (id, depth) in reading order. A deleted one stays while it has replies."""
    rows = db.execute(f"{SCORED} c.post_id = ? ORDER BY c.created, c.id", (post_id,))
    comments = {row[0]: ShownComment(*row) for row in rows}
    kept: set[int] = set()
    for comment in comments.values():
        above: int | None = None if comment.deleted else comment.id
        while above is not None and above not in kept:
            kept.add(above)
            above = comments[above].parent_id
    order = thread_order((comment.id, comment.parent_id) for comment in comments.values() if comment.id in kept)
    return comments, [(place.id, place.depth) for place in order]


def reply_form(visit: Visit) -> Response:
    visit.require_user()
    return _form(visit, "reply")


def reply(visit: Visit) -> Response:
    user, (comment, post) = visit.require_user(), _find(visit)
    text = lines(visit.typed("comment"))
    if error := length_error(text, MAX_COMMENT, "Enter a comment."):
        return _form(visit, "reply", text, error)
    return insert_comment(visit, post, comment.id, user.id, text)


def edit_form(visit: Visit) -> Response:
    comment, _ = _find_own(visit)
    return _form(visit, "edit", comment.body)


def edit(visit: Visit) -> Response:
    comment, post = _find_own(visit)
    text = lines(visit.typed("comment"))
    if error := length_error(text, MAX_COMMENT, "Enter a comment."):
        return _form(visit, "edit", text, error)
    visit.db.execute("UPDATE forum_comments SET body = ? WHERE id = ?", (text, comment.id))
    return _redirect_to(visit, post, comment.id)


def delete(visit: Visit) -> Response:
    comment, post = _find_own(visit)
    visit.db.execute("UPDATE forum_comments SET deleted = 1 WHERE id = ?", (comment.id,))
    return redirect(post.path)


def vote(visit: Visit) -> Response:
    user, (comment, post) = visit.require_user(), _find(visit)
    if comment.user_id == user.id:
        raise Refusal(403, "You cannot vote on your own comment.")
    cast_vote(visit.db, "comment", comment.id, user.id, visit.form)
    return _redirect_to(visit, post, comment.id)


def insert_comment(visit: Visit, post: ListedPost, parent_id: int | None, user_id: int, text: str) -> Response:
    made = visit.db.execute(
        "INSERT INTO forum_comments (post_id, parent_id, user_id, body, created, base_score, deleted)"
        " VALUES (?, ?, ?, ?, ?, ?, 0)",
        (post.id, parent_id, user_id, text, stamp(), NEW_COMMENT_SCORE),
    )
    assert made.lastrowid
    return _redirect_to(visit, post, made.lastrowid)


def _redirect_to(visit: Visit, post: ListedPost, comment_id: int) -> Response:
    """To the page of the thread on which the comment stands."""
    _, order = _thread(visit.db, post.id)
    page = [id_ for id_, _ in order].index(comment_id) // COMMENTS_PER_PAGE + 1
    return redirect(f"{post.path}{f'?page={page}' if page > 1 else ''}#comment-{comment_id}")


def _find(visit: Visit) -> tuple[ShownComment, ListedPost]:
    row = visit.db.execute(f"{SCORED} c.id = ? AND c.deleted = 0", (visit.path_id(),)).fetchone()
    if row is None:
        raise NOT_FOUND
    comment = ShownComment(*row)
    row = visit.db.execute(f"{LISTED} p.id = ?", (comment.post_id,)).fetchone()
    if row is None:
        raise NOT_FOUND
    return comment, ListedPost(*row)


def _find_own(visit: Visit) -> tuple[ShownComment, ListedPost]:
    user, (comment, post) = visit.require_user(), _find(visit)
    if comment.user_id != user.id:
        raise Refusal(403, "This comment belongs to another user.")
    return comment, post


def _form(visit: Visit, action: str, text: str = "", error: str = "") -> Response:
    comment, post = _find(visit)
    status = 422 if error else 200
    return render(visit, "comment.html", status, action=action, comment=comment, post=post, text=text, error=error)

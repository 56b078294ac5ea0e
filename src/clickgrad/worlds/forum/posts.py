"""One post: its page with the thread, and submitting, editing, deleting, voting and commenting on it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from starlette.responses import Response

from clickgrad.worlds.forum.comments import MAX_COMMENT, insert_comment, list_comments
from clickgrad.worlds.forum.listing import LISTED, ListedPost
from clickgrad.worlds.forum.pages import Visit, length_error, lines, render, stamp
from clickgrad.worlds.forum.votes import cast_vote
from clickgrad.worlds.pages import NOT_FOUND, Refusal, redirect

MAX_TITLE = 120
MAX_BODY = 2000
MAX_URL = 200
NEW_POST_SCORE = 1  # the author likes it


@dataclass(frozen=True, slots=True)
class PostDraft:
    forum: str = ""  # its slug
    title: str = ""
    body: str = ""
    url: str = ""

    def errors(self) -> dict[str, str]:
        """Field -> what is wrong with it."""
        found = {
            "title": length_error(self.title, MAX_TITLE, "Enter a title."),
            "body": length_error(self.body, MAX_BODY),
            "url": length_error(self.url, MAX_URL),
        }
        if self.url and not re.fullmatch(r"https?://[^\s/]+\.[^\s]+", self.url):
            found["url"] = "Enter an address such as https://example.com/page."
        return {name: text for name, text in found.items() if text}


def find_post(visit: Visit) -> ListedPost:
    row = visit.db.execute(f"{LISTED} p.id = ? AND f.slug = ?", (visit.path_id(), visit.path["slug"])).fetchone()
    if row is None:
        raise NOT_FOUND
    return ListedPost(*row)


def post(visit: Visit) -> Response:
    return post_page(visit, find_post(visit))


def post_page(visit: Visit, found: ListedPost, comment: str = "", error: str = "") -> Response:
    vote = 0
    if visit.user:
        row = visit.db.execute(
            "SELECT value FROM forum_post_votes WHERE post_id = ? AND user_id = ?", (found.id, visit.user.id)
        ).fetchone()
        vote = row[0] if row else 0
    thread = list_comments(visit, found)
    status = 422 if error else 200
    return render(visit, "post.html", status, post=found, vote=vote, thread=thread, comment=comment, error=error)


def vote(visit: Visit) -> Response:
    user, found = visit.require_user(), find_post(visit)
    if found.user_id == user.id:
        raise Refusal(403, "You cannot vote on your own post.")
    cast_vote(visit.db, "post", found.id, user.id, visit.form)
    return redirect(found.path)


def comment(visit: Visit) -> Response:
    """A comment on the post itself; answers to comments are in `comments`."""
    user, found = visit.require_user(), find_post(visit)
    text = lines(visit.typed("comment"))
    if error := length_error(text, MAX_COMMENT, "Enter a comment."):
        return post_page(visit, found, comment=text, error=error)
    return insert_comment(visit, found, None, user.id, text)


def submit_form(visit: Visit) -> Response:
    visit.require_user()
    return _form(visit, PostDraft(forum=visit.query.get("forum", "")), {})


def submit(visit: Visit) -> Response:
    user, draft = visit.require_user(), _typed(visit, visit.typed("forum"))
    row = visit.db.execute("SELECT id FROM forum_forums WHERE slug = ?", (draft.forum,)).fetchone()
    errors = draft.errors() if row else {"forum": "Choose a forum."} | draft.errors()
    if errors:
        return _form(visit, draft, errors)
    made = visit.db.execute(
        "INSERT INTO forum_posts (forum_id, user_id, title, url, body, created, base_score, deleted)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
        (row[0], user.id, draft.title, draft.url, draft.body, stamp(), NEW_POST_SCORE),
    )
    return redirect(f"/f/{draft.forum}/{made.lastrowid}")


def edit_form(visit: Visit) -> Response:
    found = _own_post(visit)
    draft = PostDraft(found.slug, found.title, found.body, found.url)
    return render(visit, "edit_post.html", post=found, draft=draft, errors={})


def edit(visit: Visit) -> Response:
    found = _own_post(visit)
    draft = _typed(visit, found.slug)
    errors = draft.errors()
    if errors:
        return render(visit, "edit_post.html", 422, post=found, draft=draft, errors=errors)
    visit.db.execute(
        "UPDATE forum_posts SET title = ?, url = ?, body = ? WHERE id = ?",
        (draft.title, draft.url, draft.body, found.id),
    )
    return redirect(found.path)


def delete(visit: Visit) -> Response:
    """A deleted post keeps its row and its thread, but nobody sees them any more."""
    found = _own_post(visit)
    visit.db.execute("UPDATE forum_posts SET deleted = 1 WHERE id = ?", (found.id,))
    return redirect(f"/user/{found.username}")


def _own_post(visit: Visit) -> ListedPost:
    user, found = visit.require_user(), find_post(visit)
    if found.user_id != user.id:
        raise Refusal(403, "This post belongs to another user.")
    return found


def _typed(visit: Visit, forum: str) -> PostDraft:
    title = " ".join(visit.typed("title").split())
    return PostDraft(forum, title, lines(visit.typed("body")), visit.typed("url"))


def _form(visit: Visit, draft: PostDraft, errors: dict[str, str]) -> Response:
    forums = visit.db.execute("SELECT slug, name FROM forum_forums ORDER BY name").fetchall()
    return render(visit, "submit.html", 422 if errors else 200, draft=draft, errors=errors, forums=forums)

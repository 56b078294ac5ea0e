"""People: their pages, one's own settings, logging in and out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from starlette.responses import Response

from clickgrad.worlds.forum.data import User
from clickgrad.worlds.forum.listing import PAGE_SIZE, SORTS, list_posts, pager
from clickgrad.worlds.forum.pages import PAGES, Visit, length_error, lines, render
from clickgrad.worlds.pages import NOT_FOUND, redirect

MAX_BIO = 300
FRONT_PAGES = {"all": "All forums", "subscribed": "My forums"}
_WRITTEN = (
    "forum_comments c JOIN forum_posts p ON p.id = c.post_id JOIN forum_forums f ON f.id = p.forum_id"
    " WHERE c.deleted = 0 AND p.deleted = 0 AND c.user_id = ?"
)


@dataclass(frozen=True, slots=True)
class Profile:
    person: User
    posts: int
    comments: int
    own: bool  # the visitor's own


def login(visit: Visit) -> Response:
    sql = "SELECT id FROM forum_users WHERE ?1 IN (email, username) AND password = ?2"
    return PAGES.check_login(visit, "name", sql, "The name or the password is wrong.")


def find_user(visit: Visit, username: str) -> User | None:
    row = visit.db.execute("SELECT * FROM forum_users WHERE username = ?", (username,)).fetchone()
    return None if row is None else User(*row)


def posts(visit: Visit) -> Response:
    profile = _find(visit)
    path = f"/user/{profile.person.username}"
    listing = list_posts(visit.db, path, _page(visit), "p.user_id = ?", (profile.person.id,))
    return render(visit, "user_posts.html", kind="posts", profile=profile, person=profile.person, listing=listing)


def comments(visit: Visit) -> Response:
    profile = _find(visit)
    place = pager(f"/user/{profile.person.username}/comments", _page(visit), profile.comments)
    rows = visit.db.execute(
        "SELECT p.title, '/f/' || f.slug || '/' || p.id, c.body, c.created, c.base_score"
        " + (SELECT COALESCE(SUM(value), 0) FROM forum_comment_votes v WHERE v.comment_id = c.id)"
        f" FROM {_WRITTEN} ORDER BY c.created DESC, c.id DESC LIMIT ? OFFSET ?",
        (profile.person.id, PAGE_SIZE, (place.page - 1) * PAGE_SIZE),
    ).fetchall()
    return render(
        visit, "user_comments.html", kind="comments", profile=profile, person=profile.person, written=rows, pager=place
    )


def settings_form(visit: Visit) -> Response:
    return _settings(visit, visit.require_user(), {})


def save_settings(visit: Visit) -> Response:
    user = visit.require_user()
    bio, sort, front_page = lines(visit.typed("bio")), visit.typed("default_sort"), visit.typed("front_page")
    accepts = int(visit.typed("accepts_messages") == "1")
    found = {
        "bio": length_error(bio, MAX_BIO),
        "default_sort": "" if sort in SORTS else "Choose an order.",
        "front_page": "" if front_page in FRONT_PAGES else "Choose a front page.",
    }
    errors = {name: text for name, text in found.items() if text}
    if errors:
        typed = replace(user, bio=bio, default_sort=sort, front_page=front_page, accepts_messages=accepts)
        return _settings(visit, typed, errors)
    visit.db.execute(
        "UPDATE forum_users SET bio = ?, default_sort = ?, front_page = ?, accepts_messages = ? WHERE id = ?",
        (bio, sort, front_page, accepts, user.id),
    )
    return redirect("/settings?saved=1")


def _settings(visit: Visit, values: User, errors: dict[str, str]) -> Response:
    return render(
        visit,
        "settings.html",
        422 if errors else 200,
        values=values,
        errors=errors,
        sorts=SORTS,
        front_pages=FRONT_PAGES,
        saved=visit.query.get("saved") == "1" and not errors,
    )


def _page(visit: Visit) -> dict[str, str]:
    """The only part of the query that these lists heed."""
    return {"page": visit.query.get("page", "")}


def _find(visit: Visit) -> Profile:
    person = find_user(visit, visit.path["username"])
    if person is None:
        raise NOT_FOUND
    posts = visit.db.execute("SELECT COUNT(*) FROM forum_posts WHERE user_id = ? AND deleted = 0", (person.id,))
    comments = visit.db.execute(f"SELECT COUNT(*) FROM {_WRITTEN}", (person.id,))
    own = visit.user is not None and visit.user.id == person.id
    return Profile(person, posts.fetchone()[0], comments.fetchone()[0], own)

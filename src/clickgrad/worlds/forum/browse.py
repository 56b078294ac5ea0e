"""Looking around: the front page, the list of forums, one forum, search, and subscribing."""

from __future__ import annotations

from starlette.responses import Response

from clickgrad.worlds.forum.data import Forum
from clickgrad.worlds.forum.listing import RANGES, SORTS, list_posts, pager
from clickgrad.worlds.forum.pages import Visit, render
from clickgrad.worlds.pages import NOT_FOUND, redirect

FORUMS_PER_PAGE = 8
FORUM_SORTS = {"name": "Name", "subscribers": "Subscribers", "posts": "Posts"}
MAX_SEARCH_WORDS = 12
USERS_FOUND = 3
_FORUM_ORDER = {"name": "f.name", "subscribers": "subscribers DESC, f.name", "posts": "posts DESC, f.name"}


def home(visit: Visit) -> Response:
    user, where, params = visit.user, "1", tuple[int, ...]()
    if user and user.front_page == "subscribed":
        where, params = "p.forum_id IN (SELECT forum_id FROM forum_subscriptions WHERE user_id = ?)", (user.id,)
    listing = list_posts(visit.db, "/", visit.query, where, params, user.default_sort if user else "hot")
    counted = "SELECT (SELECT COUNT(*) FROM forum_forums), (SELECT COUNT(*) FROM forum_users)"
    counts = visit.db.execute(counted).fetchone()
    return render(visit, "home.html", listing=listing, path="/", sorts=SORTS, ranges=RANGES, counts=counts)


def forums(visit: Visit) -> Response:
    sort = visit.query.get("sort", "")
    sort = sort if sort in FORUM_SORTS else "name"
    total = visit.db.execute("SELECT COUNT(*) FROM forum_forums").fetchone()[0]
    place = pager("/forums", visit.query, total, FORUMS_PER_PAGE)
    rows = visit.db.execute(
        "SELECT f.slug, f.name,"
        " (SELECT COUNT(*) FROM forum_subscriptions s WHERE s.forum_id = f.id) AS subscribers,"
        " (SELECT COUNT(*) FROM forum_posts p WHERE p.forum_id = f.id AND p.deleted = 0) AS posts"
        f" FROM forum_forums f ORDER BY {_FORUM_ORDER[sort]} LIMIT ? OFFSET ?",
        (FORUMS_PER_PAGE, (place.page - 1) * FORUMS_PER_PAGE),
    ).fetchall()
    return render(visit, "forums.html", forums=rows, pager=place, sort=sort, sorts=FORUM_SORTS)


def find_forum(visit: Visit, slug: str) -> Forum:
    row = visit.db.execute("SELECT * FROM forum_forums WHERE slug = ?", (slug,)).fetchone()
    if row is None:
        raise NOT_FOUND
    return Forum(*row)


def forum(visit: Visit) -> Response:
    found = find_forum(visit, visit.path["slug"])
    default_sort = visit.user.default_sort if visit.user else "hot"
    listing = list_posts(visit.db, f"/f/{found.slug}", visit.query, "p.forum_id = ?", (found.id,), default_sort)
    moderators = visit.db.execute(
        "SELECT u.username FROM forum_moderators m JOIN forum_users u ON u.id = m.user_id"
        " WHERE m.forum_id = ? ORDER BY m.id",
        (found.id,),
    )
    subscribers = [
        row[0] for row in visit.db.execute("SELECT user_id FROM forum_subscriptions WHERE forum_id = ?", (found.id,))
    ]
    return render(
        visit,
        "forum.html",
        forum=found,
        listing=listing,
        path=f"/f/{found.slug}",
        sorts=SORTS,
        ranges=RANGES,
        moderators=[row[0] for row in moderators],
        subscribers=len(subscribers),
        subscribed=visit.user is not None and visit.user.id in subscribers,
    )


def subscribe(visit: Visit) -> Response:
    """Subscribing twice is subscribing once."""
    user, found = visit.require_user(), find_forum(visit, visit.path["slug"])
    visit.db.execute(
        "INSERT INTO forum_subscriptions (user_id, forum_id) VALUES (?, ?) ON CONFLICT DO NOTHING", (user.id, found.id)
    )
    return redirect(f"/f/{found.slug}")


def unsubscribe(visit: Visit) -> Response:
    user, found = visit.require_user(), find_forum(visit, visit.path["slug"])
    visit.db.execute("DELETE FROM forum_subscriptions WHERE user_id = ? AND forum_id = ?", (user.id, found.id))
    return redirect(f"/f/{found.slug}")


def search(visit: Visit) -> Response:
    """Posts whose title has every word, newest first, and forums and users of that name."""
    text = " ".join(visit.query.get("q", "").lower().split())
    words = tuple(text.split()[:MAX_SEARCH_WORDS])
    where = " AND ".join(["instr(lower(p.title), ?) > 0"] * len(words)) or "0"
    found_in = visit.db.execute(
        "SELECT DISTINCT f.slug, f.name FROM forum_posts p JOIN forum_forums f ON f.id = p.forum_id"
        f" WHERE p.deleted = 0 AND {where} ORDER BY f.name",
        words,
    ).fetchall()
    asked = {name: visit.query[name] for name in ("q", "forum", "page") if name in visit.query}
    narrowed, chosen = where, asked.get("forum", "")
    if chosen in {slug for slug, _ in found_in}:
        narrowed, words = f"{where} AND p.forum_id = (SELECT id FROM forum_forums WHERE slug = ?)", (*words, chosen)
    else:
        chosen = ""
    return render(
        visit,
        "search.html",
        text=visit.query.get("q", "").strip(),
        listing=list_posts(visit.db, "/search", asked, narrowed, words, first_title=text),
        forums=_forums_named(visit, text),
        users=_users_named(visit, text),
        found_in=found_in,
        chosen=chosen,
    )


def _forums_named(visit: Visit, text: str) -> list[tuple[str, str]]:
    """(slug, name) of those whose name begins with the text."""
    named = "SELECT slug, name FROM forum_forums WHERE ? <> '' AND instr(slug, ?) = 1 ORDER BY name"
    return visit.db.execute(named, (text, text)).fetchall()


def _users_named(visit: Visit, text: str) -> list[str]:
    """By username, or by its first or last part."""
    if not text.replace(".", "").isalpha():  # also keeps out what LIKE would read as a pattern
        return []
    named = "SELECT username FROM forum_users WHERE username = ? OR username LIKE ? OR username LIKE ? LIMIT ?"
    return [row[0] for row in visit.db.execute(named, (text, f"{text}.%", f"%.{text}", USERS_FOUND))]

import re
from collections.abc import Iterator, Mapping
from html import unescape

import httpx
import pytest
from site_clients import OpenSite, site_clients

from clickgrad.types import RowChange, Scalar
from clickgrad.worlds import Arena, World
from clickgrad.worlds.forum.data import Comment, Post, forum_data
from clickgrad.worlds.forum.threads import thread_order
from clickgrad.worlds.people import DEFAULT_USER

DATA = forum_data(0)
EMMA = DATA.users[0]
SLUGS = {forum.id: forum.slug for forum in DATA.forums}
MINE = next(post for post in DATA.posts if post.user_id == EMMA.id)
VOTED = {vote.post_id for vote in DATA.post_votes if vote.user_id == EMMA.id}
THEIRS = next(post for post in DATA.posts if post.user_id != EMMA.id and post.id not in VOTED and not post.url)
MY_COMMENT = next(comment for comment in DATA.comments if comment.user_id == EMMA.id)
THEIR_COMMENT = next(comment for comment in DATA.comments if comment.user_id != EMMA.id)
JUNK = ("", "-1", "²", "9" * 400, "'; DROP TABLE forum_posts;--", "<b>\x00\n", "💥", "%", "x" * 2500)


def path(post: Post) -> str:
    return f"/f/{SLUGS[post.forum_id]}/{post.id}"


def titles(page: httpx.Response) -> list[str]:
    return [unescape(title) for title in re.findall(r'<a href="/f/[a-z]+/\d+">([^<]+)</a>', page.text)]


def points(page: httpx.Response) -> list[int]:
    return [int(number) for number in re.findall(r"<p>(-?\d+) points?, ", page.text)]


def told(page: httpx.Response, label: str) -> str:
    found = re.search(rf"<li>{label}: ([^<]*)</li>", page.text)
    assert found
    return found[1]


def values(change: RowChange) -> dict[str, Scalar]:
    return dict(change.values)


@pytest.fixture
def open_forum(arena: Arena) -> Iterator[OpenSite]:
    with site_clients(arena, "forum.localhost") as opened:
        yield opened


@pytest.fixture
def forum(world: World, open_forum: OpenSite) -> httpx.Client:
    return open_forum(world)


@pytest.fixture
def stranger(world: World, open_forum: OpenSite) -> httpx.Client:
    """A client who is not logged in."""
    return open_forum(world, user=None)


# --- the data -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_the_forum_holds_what_a_small_forum_holds(seed: int) -> None:
    data = forum_data(seed)
    assert len(data.forums) == 24
    assert len(data.users) == len({user.username for user in data.users}) == 120
    assert data.users[0].email == DEFAULT_USER
    assert (
        len(data.posts) == len({post.title for post in data.posts}) == len({post.created for post in data.posts}) == 700
    )
    assert 2300 <= len(data.comments) <= 2800
    for rows in (data.posts, data.comments, data.messages):
        moments = [row.created for row in rows]
        assert moments == sorted(moments)


def test_comments_follow_what_they_answer() -> None:
    posts = {post.id: post for post in DATA.posts}
    comments = {comment.id: comment for comment in DATA.comments}
    for comment in DATA.comments:
        above: Post | Comment = comments[comment.parent_id] if comment.parent_id else posts[comment.post_id]
        assert above.created <= comment.created < "2025-03-14 10:00"
        assert comment.parent_id is None or comments[comment.parent_id].post_id == comment.post_id


def test_a_thread_is_read_replies_first() -> None:
    order = thread_order([(1, None), (2, None), (3, 1), (4, 3)])
    assert [(place.id, place.depth) for place in order] == [(1, 0), (3, 1), (4, 2), (2, 0)]


# --- looking around -------------------------------------------------------------------------------------------------


def test_lists_are_sorted_and_paged(forum: httpx.Client) -> None:
    own = [post for post in DATA.posts if SLUGS[post.forum_id] == "books"]
    seen: list[str] = []
    url = "/f/books?sort=new"
    while url:
        page = forum.get(url)
        seen += titles(page)
        following = re.search(r'<a href="([^"]+)">Next</a>', page.text)
        url = unescape(following[1]) if following else ""
    assert seen == [post.title for post in reversed(own)]
    top = points(forum.get("/f/books?sort=top"))
    assert top == sorted(top, reverse=True)
    counts = [int(count) for count in re.findall(r", (\d+) comments?, ", forum.get("/f/books?sort=comments").text)]
    assert counts == sorted(counts, reverse=True)
    week = [post.title for post in own if post.created >= "2025-03-07 10:00"]
    assert set(titles(forum.get("/f/books?sort=top&t=week"))) <= set(week)


def test_forums_are_listed_by_name_subscribers_and_posts(forum: httpx.Client) -> None:
    names = re.findall(r'<a href="/f/[a-z]+">([^<]+)</a>', forum.get("/forums").text)
    assert names == sorted(one.name for one in DATA.forums)[:8]
    most = [int(count) for count in re.findall(r"<p>(\d+) subscribers?", forum.get("/forums?sort=subscribers").text)]
    assert most == sorted(most, reverse=True)


def test_search_finds_posts_by_title_and_forums_and_users_by_name(forum: httpx.Client) -> None:
    for post in DATA.posts[::29]:
        assert titles(forum.get("/search", params={"q": post.title.upper()}))[0] == post.title
    assert '<a href="/f/gardening">Gardening</a>' in forum.get("/search?q=gardening").text
    other = DATA.users[5].username
    assert f'<a href="/user/{other}">{other}</a>' in forum.get(f"/search?q={other}").text
    only = forum.get("/search?q=first&forum=books")
    assert titles(only)
    assert ", in Books, " in only.text
    assert ", in Cats, " not in only.text
    assert "No posts found." in forum.get("/search?q=unicorn").text


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_the_address_never_breaks_a_list(forum: httpx.Client, junk: str) -> None:
    query = dict.fromkeys(("sort", "t", "forum", "page", "to"), junk)
    for place in ("/", "/f/books", "/forums", path(THEIRS), "/user/emma.lopez", "/inbox", "/message/new", "/submit"):
        assert forum.get(place, params=query).status_code == 200
    assert forum.get("/search", params={"q": junk}).status_code == 200
    assert forum.get("/search", params={"q": "first", **query}).status_code == 200


UNKNOWN = ("/nope", "/f/none", "/f/books/0", "/f/books/x", "/f/books/99999999999999999999", "/f/books/", "/user/nobody",
           "/message/99999", "/comment/1", "/comment/99999/reply", "/%00", "/..%2f..%2fetc")  # fmt: skip


@pytest.mark.parametrize("place", UNKNOWN)
def test_unknown_addresses_are_not_found(forum: httpx.Client, place: str) -> None:
    assert forum.get(place).status_code == 404


def test_a_post_is_only_found_in_its_own_forum(forum: httpx.Client) -> None:
    other = "cats" if SLUGS[THEIRS.forum_id] != "cats" else "dogs"
    assert forum.get(path(THEIRS)).status_code == 200
    assert forum.get(f"/f/{other}/{THEIRS.id}").status_code == 404


def test_the_same_history_gives_the_same_bytes(arena: Arena, open_forum: OpenSite) -> None:
    pages = []
    for _ in range(2):
        world = arena.fork()
        client = open_forum(world)
        client.post(f"{path(THEIRS)}/vote", data={"value": "up"})
        client.post(f"{path(THEIRS)}/comment", data={"comment": "Same again"})
        client.post("/submit", data={"forum": "cats", "title": "Twice", "body": "", "url": ""})
        places = ("/", "/f/cats?sort=new", path(THEIRS), "/user/emma.lopez", "/user/emma.lopez/comments", "/inbox")
        pages.append([client.get(place).content for place in places])
        world.close()
    assert pages[0] == pages[1]


# --- who may do what ------------------------------------------------------------------------------------------------


def test_log_in_and_out_work_by_username_and_email(stranger: httpx.Client) -> None:
    assert stranger.get("/inbox").headers["location"] == "/login?next=%2Finbox"
    wrong = stranger.post("/login", data={"name": EMMA.username, "password": "guess"})
    assert (wrong.status_code, "The name or the password is wrong." in wrong.text) == (422, True)
    for name in (EMMA.username, EMMA.email.upper()):
        right = stranger.post("/login", data={"name": name, "password": EMMA.password, "next": "/inbox"})
        assert right.headers["location"] == "/inbox"
    # httpx files the cookie under the address, not the Host header, so it is carried over by hand.
    stranger.headers["cookie"] = right.headers["set-cookie"].partition(";")[0]
    assert "Received messages" in stranger.get("/inbox").text
    left = stranger.post("/logout")
    stranger.headers["cookie"] = left.headers["set-cookie"].partition(";")[0]
    assert stranger.get("/inbox").status_code == 303


def test_strangers_can_read_but_not_write(world: World, stranger: httpx.Client) -> None:
    for place in ("/", "/f/books", path(THEIRS), "/user/emma.lopez", "/forums"):
        assert stranger.get(place).status_code == 200
    asked = ("/f/books/subscribe", f"{path(THEIRS)}/vote", f"{path(THEIRS)}/comment", "/submit", "/settings")
    for action in (*asked, f"/comment/{THEIR_COMMENT.id}/vote", f"/comment/{THEIR_COMMENT.id}/reply", "/message/new"):
        assert stranger.post(action, data={"value": "up", "comment": "Hi"}).headers["location"].startswith("/login")
    assert world.diff() == ()


def test_what_belongs_to_others_is_forbidden(world: World, forum: httpx.Client) -> None:
    form = {"title": "Mine now", "comment": "Mine now"}
    assert forum.get(f"{path(THEIRS)}/edit").status_code == 403
    assert forum.post(f"{path(THEIRS)}/edit", data=form).status_code == 403
    assert forum.post(f"{path(THEIRS)}/delete").status_code == 403
    assert forum.get(f"/comment/{THEIR_COMMENT.id}/edit").status_code == 403
    assert forum.post(f"/comment/{THEIR_COMMENT.id}/edit", data=form).status_code == 403
    assert forum.post(f"/comment/{THEIR_COMMENT.id}/delete").status_code == 403
    foreign = next(one for one in DATA.messages if EMMA.id not in (one.sender_id, one.recipient_id))
    assert forum.get(f"/message/{foreign.id}").status_code == 403
    assert foreign.body not in forum.get(f"/message/{foreign.id}").text
    assert forum.post(f"/message/{foreign.id}/reply", data={"reply": "Hi"}).status_code == 403
    assert world.diff() == ()


def test_nobody_votes_on_their_own(world: World, forum: httpx.Client) -> None:
    assert forum.post(f"{path(MINE)}/vote", data={"value": "up"}).status_code == 403
    assert forum.post(f"/comment/{MY_COMMENT.id}/vote", data={"value": "up"}).status_code == 403
    assert world.diff() == ()


# --- changing -------------------------------------------------------------------------------------------------------


def test_a_vote_is_a_row_that_turns_and_goes(world: World, forum: httpx.Client) -> None:
    action, score = f"{path(THEIRS)}/vote", int(told(forum.get(path(THEIRS)), "Score"))
    for value, left in (("up", 1), ("down", -1), ("down", 0), ("down", -1), ("up", 1), ("up", 0)):
        assert forum.post(action, data={"value": value}).status_code == 303
        changes = world.diff()
        assert [values(change)["value"] for change in changes] == ([left] if left else [])
        assert int(told(forum.get(path(THEIRS)), "Score")) == score + left
    forum.post(f"/comment/{THEIR_COMMENT.id}/vote", data={"value": "down"})
    (change,) = world.diff()
    assert (change.table, change.op) == ("forum_comment_votes", "insert")
    assert values(change) | {"comment_id": THEIR_COMMENT.id, "user_id": 1, "value": -1} == values(change)


def test_subscribing_adds_one_row_and_unsubscribing_takes_it(world: World, forum: httpx.Client) -> None:
    joined = {item.forum_id for item in DATA.subscriptions if item.user_id == EMMA.id}
    new = next(one for one in DATA.forums if one.id not in joined)
    before = int(told(forum.get(f"/f/{new.slug}"), "Subscribers"))
    for _ in range(2):
        forum.post(f"/f/{new.slug}/subscribe")
        (change,) = world.diff()
        assert (change.table, change.op) == ("forum_subscriptions", "insert")
        assert int(told(forum.get(f"/f/{new.slug}"), "Subscribers")) == before + 1
    for _ in range(2):
        forum.post(f"/f/{new.slug}/unsubscribe")
        assert world.diff() == ()


def test_a_new_post_is_one_row_and_shown_escaped(world: World, forum: httpx.Client) -> None:
    form = {"forum": "cats", "title": "<script>  Hi </script>", "body": "One\r\nTwo", "url": "https://example.com/a"}
    made = forum.post("/submit", data=form)
    (change,) = world.diff()
    wanted = {"title": "<script> Hi </script>", "body": "One\nTwo", "url": "https://example.com/a", "user_id": 1}
    assert values(change) | wanted == values(change)
    page = forum.get(made.headers["location"])
    assert "&lt;script&gt; Hi &lt;/script&gt;" in page.text
    assert titles(forum.get("/f/cats?sort=new"))[0] == "<script> Hi </script>"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"title": "Good"}, "Choose a forum."),
        ({"forum": "none", "title": "Good"}, "Choose a forum."),
        ({"forum": "cats", "title": "   "}, "Enter a title."),
        ({"forum": "cats", "title": "x" * 121}, "Use at most 120 characters."),
        ({"forum": "cats", "title": "Good", "body": "x" * 2001}, "Use at most 2000 characters."),
        ({"forum": "cats", "title": "Good", "url": "javascript:alert(1)"}, "Enter an address such as"),
        ({"forum": "cats", "title": "Good", "url": "https://example.com/" + "x" * 200}, "Use at most 200 characters."),
    ],
)
def test_a_bad_post_is_told_and_keeps_what_was_typed(
    world: World, forum: httpx.Client, form: Mapping[str, str], message: str
) -> None:
    page = forum.post("/submit", data=form)
    assert page.status_code == 422
    assert message in page.text
    assert form.get("title", "").strip() in page.text
    edited = forum.post(f"{path(MINE)}/edit", data=form)
    assert edited.status_code == (303 if message == "Choose a forum." else 422)
    if message != "Choose a forum.":
        assert world.diff() == ()


def test_editing_a_post_changes_just_what_was_typed(world: World, forum: httpx.Client) -> None:
    form = {"title": MINE.title, "body": "All new", "url": MINE.url}
    assert forum.post(f"{path(MINE)}/edit", data=form).status_code == 303
    assert world.diff() == (RowChange("forum_posts", "update", (("body", "All new"),), MINE.id),)


def test_a_deleted_post_is_gone_everywhere(world: World, forum: httpx.Client) -> None:
    assert forum.post(f"{path(MINE)}/delete").headers["location"] == "/user/emma.lopez"
    assert world.diff() == (RowChange("forum_posts", "update", (("deleted", 1),), MINE.id),)
    assert forum.get(path(MINE)).status_code == 404
    assert forum.post(f"{path(MINE)}/delete").status_code == 404
    assert titles(forum.get("/search", params={"q": MINE.title})) != [MINE.title]
    assert told(forum.get("/user/emma.lopez"), "Number of posts") == "8"


def test_comments_and_replies_land_where_they_belong(world: World, forum: httpx.Client) -> None:
    forum.post(f"{path(THEIRS)}/comment", data={"comment": " Hello "})
    (change,) = world.diff()
    wanted = {"post_id": THEIRS.id, "parent_id": None, "user_id": 1, "body": "Hello", "deleted": 0}
    assert values(change) | wanted == values(change)
    made = forum.post(f"/comment/{THEIR_COMMENT.id}/reply", data={"comment": "Indeed"})
    wanted = {"post_id": THEIR_COMMENT.post_id, "parent_id": THEIR_COMMENT.id, "body": "Indeed"}
    assert values(world.diff()[1]) | wanted == values(world.diff()[1])
    assert "Indeed" in forum.get(made.headers["location"]).text
    for action in (f"{path(THEIRS)}/comment", f"/comment/{THEIR_COMMENT.id}/reply"):
        for text, message in (("", "Enter a comment."), ("x" * 2001, "Use at most 2000 characters.")):
            page = forum.post(action, data={"comment": text})
            assert (page.status_code, message in page.text) == (422, True)
    assert len(world.diff()) == 2


def test_own_comments_can_be_edited_and_deleted(world: World, forum: httpx.Client) -> None:
    forum.post(f"/comment/{MY_COMMENT.id}/edit", data={"comment": "Better"})
    assert world.diff() == (RowChange("forum_comments", "update", (("body", "Better"),), MY_COMMENT.id),)
    assert forum.post(f"/comment/{MY_COMMENT.id}/edit", data={"comment": " "}).status_code == 422
    forum.post(f"/comment/{MY_COMMENT.id}/delete")
    assert values(world.diff()[0]) == {"body": "Better", "deleted": 1}
    assert forum.get(f"/comment/{MY_COMMENT.id}/reply").status_code == 404


def test_a_deleted_comment_with_replies_leaves_a_gap(world: World, open_forum: OpenSite) -> None:
    parents = {comment.parent_id for comment in DATA.comments}
    parent = next(comment for comment in DATA.comments if comment.id in parents)
    author = open_forum(world, DATA.users[parent.user_id - 1].email)
    post = next(one for one in DATA.posts if one.id == parent.post_id)
    before = int(told(author.get(path(post)), "Comments"))
    author.post(f"/comment/{parent.id}/delete")
    page = author.get(path(post))
    assert "This comment was deleted." in page.text
    assert int(told(page, "Comments")) == before - 1


def test_messages_are_sent_and_answered(world: World, forum: httpx.Client, open_forum: OpenSite) -> None:
    friend = next(user for user in DATA.users[1:] if user.accepts_messages)
    sent = forum.post("/message/new", data={"to": friend.username, "subject": "Hi", "message": "How are you?"})
    assert sent.headers["location"] == "/sent"
    (change,) = world.diff()
    wanted = {"sender_id": 1, "recipient_id": friend.id, "subject": "Hi", "body": "How are you?"}
    assert values(change) | wanted == values(change)
    other = open_forum(world, friend.email)
    assert ">Hi</a>" in other.get("/inbox").text
    other.post(f"/message/{values(change)['id']}/reply", data={"reply": "Fine"})
    assert values(world.diff()[1]) | {"recipient_id": 1, "subject": "Re: Hi", "body": "Fine"} == values(world.diff()[1])
    assert forum.post(f"/message/{values(change)['id']}/reply", data={"reply": "Me"}).status_code == 403


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"to": "nobody"}, "Enter the name of a user."),
        ({"to": "emma.lopez"}, "You cannot send a message to yourself."),
        ({"to": next(user.username for user in DATA.users if not user.accepts_messages)}, "does not accept messages."),
        ({"subject": " "}, "Enter a subject."),
        ({"subject": "x" * 101}, "Use at most 100 characters."),
        ({"message": ""}, "Enter a message."),
        ({"message": "x" * 2001}, "Use at most 2000 characters."),
    ],
)
def test_a_bad_message_is_told_and_not_sent(
    world: World, forum: httpx.Client, form: Mapping[str, str], message: str
) -> None:
    friend = next(user.username for user in DATA.users[1:] if user.accepts_messages)
    page = forum.post("/message/new", data={"to": friend, "subject": "Hi", "message": "Hello", **form})
    assert (page.status_code, message in page.text) == (422, True)
    assert world.diff() == ()


def test_settings_change_what_they_say(world: World, forum: httpx.Client) -> None:
    form = {"bio": "New here", "default_sort": "new", "front_page": "subscribed", "accepts_messages": "1"}
    assert "Your settings are saved." in forum.post("/settings", data=form, follow_redirects=True).text
    changed = (("bio", "New here"), ("default_sort", "new"), ("front_page", "subscribed"))
    assert world.diff() == (RowChange("forum_users", "update", changed, 1),)
    joined = {item.forum_id for item in DATA.subscriptions if item.user_id == 1}
    newest = next(post for post in reversed(DATA.posts) if post.forum_id in joined)
    assert titles(forum.get("/"))[0] == newest.title
    for name, text in (("bio", "x" * 301), ("default_sort", "odd"), ("front_page", "")):
        assert forum.post("/settings", data=form | {name: text}).status_code == 422


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_every_form_gives_no_server_error(forum: httpx.Client, junk: str) -> None:
    fields = ("value", "forum", "title", "body", "url", "comment", "to", "subject", "message", "reply", "bio",
              "default_sort", "front_page", "accepts_messages", "name", "password", "next")  # fmt: skip
    actions = ("/submit", f"{path(MINE)}/edit", f"{path(THEIRS)}/vote", f"{path(THEIRS)}/comment", "/settings",
               "/login", f"/comment/{THEIR_COMMENT.id}/vote", f"/comment/{THEIR_COMMENT.id}/reply", "/message/new",
               f"/comment/{MY_COMMENT.id}/edit", "/f/books/subscribe")  # fmt: skip
    for action in actions:
        assert forum.post(action, data=dict.fromkeys(fields, junk)).status_code < 500, action
    assert forum.get("/").status_code == 200


def test_pages_stay_short_enough_to_read(forum: httpx.Client) -> None:
    long_thread = max(DATA.posts, key=lambda post: sum(comment.post_id == post.id for comment in DATA.comments))
    places = (
        "/",
        "/f/books?sort=top",
        "/forums",
        path(long_thread),
        "/user/emma.lopez/comments",
        "/inbox",
        "/settings",
    )
    for place in places:
        page = forum.get(place).text
        assert len(re.findall(r"<(?:a|button|input|select|textarea|p|li|h1)\b", page)) <= 56, place

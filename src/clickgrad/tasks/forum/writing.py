"""Templates that write: submit posts, comment and reply, edit and delete one's own. Each names the rows it leaves."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.forum.known import EMMA, HOME, Known, in_turn, known, named, quoted, sentence
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, Scalar, StateCheck
from clickgrad.worlds.forum import words
from clickgrad.worlds.forum.data import Comment, Forum, Post
from clickgrad.worlds.forum.listing import PAGE_SIZE

_NEW_TITLES = (
    "Who is selling a used {thing}?", "Need help with my {thing}", "Can I rent a good {thing}?",
    "Photos of your {thing}", "Giving away a nice {thing}", "Lost my {thing} in {city}",
    "Where to buy a small {thing}?",
)  # fmt: skip
_NEW_BODIES = (
    "I live near {city}.", "I need it before {month}.", "I can pay {number} dollars.", "Please write to me.",
    "It is for my {relative}.", "Any color is fine.",
)  # fmt: skip
_OPINIONS = (
    "Thank you, this helped me.", "I had the same problem.", "I will try this in {month}.", "Well said!",
    "My {relative} would love this.", "Does this work in {season} too?", "I paid {number} dollars for mine.",
    "See you in {city}.", "I would choose the other one.",
)  # fmt: skip
_EDITS = (
    "This is solved.", "I found one in {city}.", "No longer needed.", "I will try again in {month}.", "Thanks to all.",
    "My {relative} helped me.", "Old post, please ignore.", "It took {number} days in the end.",
)  # fmt: skip
_NEW_SCORE = 1


def _filled(rng: random.Random, patterns: Sequence[str], topic: str = "") -> str:
    return rng.choice(patterns).format(
        thing=rng.choice(words.TOPICS[topic].things) if topic else "",
        city=rng.choice(words.CITIES),
        month=rng.choice(words.MONTHS),
        season=rng.choice(words.SEASONS),
        relative=rng.choice(words.RELATIVES),
        number=rng.choice((5, 10, 15, 20, 25, 30, 40, 50)),
    )


# --- submitting -----------------------------------------------------------------------------------------------------


def submit_post(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.submit_post {seed}")
    # (start, how many forums, with a body, with a URL)
    ladder = (("home", 2, True, False), ("home", 1, True, False), ("form", 1, False, False),
              ("home", 3, False, False),
              ("home", 1, True, True), ("form", 1, False, False), ("home", 2, True, True), ("forum", 1, False, False),
              ("form", 1, False, False), ("home", 2, False, False), ("forum", 1, True, False),
              ("home", 3, True, False))  # fmt: skip
    return in_turn([_submissions(all_, rng, *rung) for rung in ladder])


def _submissions(all_: Known, rng: random.Random, start: str, size: int, body: bool, url: bool) -> Iterator[Draft]:
    """[Submit, Forum,] Title, [Body, URL,] Create Post; from a forum's page Submit knows the forum."""
    forums = rng.sample(all_.data.forums, k=len(all_.data.forums))
    for at in range(len(forums) - size + 1):
        homes = forums[at : at + size]
        title, text = _filled(rng, _NEW_TITLES, homes[0].name), _filled(rng, _NEW_BODIES) if body else ""
        link = f"https://example.com/{rng.choice(words.TOPICS[homes[0].name].things).replace(' ', '-')}" if url else ""
        paths = {"form": f"/submit?forum={homes[0].slug}", "forum": f"/f/{homes[0].slug}", "home": HOME}
        each = {"form": 0, "forum": 1, "home": 2}[start] + 1 + body + url + 1
        names = [home.name for home in homes]
        yield Draft(
            intent=_submission_intent(names, title, text, link),
            start_path=paths[start],
            checks=(StateCheck(tuple(_new_post(home, title, text, link) for home in homes)),),
            expert_turns=each * size + 1,
            params=(("forums", "|".join(names)), ("title", title), ("body", text), ("url", link)),
        )


def _submission_intent(forums: Sequence[str], title: str, body: str, url: str) -> str:
    where = f"in the {named(forums)} forums" if len(forums) > 1 else f"in the {forums[0]} forum"
    parts = [f'title "{title}"']
    parts += [f'body "{body}"'] if body else []
    parts += [f"URL {url}"] if url else []
    made = f"Create the same post {where}" if len(forums) > 1 else f"Create a post {where}"
    return sentence(f"{made} with the {named(parts)}")


def _new_post(forum: Forum, title: str, body: str, url: str) -> RowChange:
    values: tuple[tuple[str, Scalar], ...] = (
        ("forum_id", forum.id),
        ("user_id", EMMA),
        ("title", title),
        ("url", url),
        ("body", body),
        ("base_score", _NEW_SCORE),
        ("deleted", 0),
    )
    return RowChange("forum_posts", "insert", values)


# --- commenting -----------------------------------------------------------------------------------------------------


def write_comment(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.write_comment {seed}")
    return in_turn(
        [
            _replies(all_, rng, on_post=False),
            _comments(all_, rng, 1, on_post=True),
            _comments(all_, rng, 3, on_post=False),
            _comments_on_newest(all_, rng),
            _comments(all_, rng, 1, on_post=True),
            _two_replies(all_, rng),
            _comments(all_, rng, 1, on_post=False),
            _comments(all_, rng, 1, on_post=True),
            _comments(all_, rng, 2, on_post=False),
            _replies(all_, rng, on_post=True),
        ]
    )


def _new_comment(post: Post, parent: Comment | None, text: str) -> RowChange:
    values: tuple[tuple[str, Scalar], ...] = (
        ("post_id", post.id),
        ("parent_id", parent.id if parent else None),
        ("user_id", EMMA),
        ("body", text),
        ("base_score", _NEW_SCORE),
        ("deleted", 0),
    )
    return RowChange("forum_comments", "insert", values)


def _comments(all_: Known, rng: random.Random, size: int, *, on_post: bool) -> Iterator[Draft]:
    """[search, click,] type, Post Comment, for each of the posts."""
    posts = all_.far_posts(rng)
    for at in range(0, len(posts) - size, size):
        group, text = posts[at : at + size], _filled(rng, _OPINIONS)
        titles = [post.title for post in group]
        where = f"the posts {quoted(titles)}" if size > 1 else f"the post {quoted(titles)}"
        yield Draft(
            intent=f'Write the comment "{text}" on {where}.',
            start_path=all_.path(group[0]) if on_post else HOME,
            checks=(StateCheck(tuple(_new_comment(post, None, text) for post in group)),),
            expert_turns=3 if on_post else 4 * size + 1,
            params=(("kind", "comment"), ("posts", "|".join(titles)), ("text", text)),
        )


def _comments_on_newest(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Search, forum, New, post, type, Post Comment."""
    for forum in rng.sample(all_.data.forums, k=len(all_.data.forums)):
        post, text = all_.listed(forum, "new")[0], _filled(rng, _OPINIONS)
        yield Draft(
            intent=f'Write the comment "{text}" on the newest post in the {forum.name} forum.',
            start_path=HOME,
            checks=(StateCheck((_new_comment(post, None, text),)),),
            expert_turns=7,
            params=(("kind", "newest"), ("forum", forum.name), ("text", text)),
        )


def _replies(all_: Known, rng: random.Random, *, on_post: bool) -> Iterator[Draft]:
    """[search, click, turn pages,] Reply, type, Post Reply."""
    for post in all_.far_posts(rng):
        found = [item for item in all_.single_comments(post) if item.user_id != EMMA]
        if on_post:
            found = [item for item in found if all_.comment_page(post, item) == 1]
        if found:
            comment, text = rng.choice(found), _filled(rng, _OPINIONS)
            author = all_.author(comment).username
            yield Draft(
                intent=f'Reply "{text}" to the comment by {author} on the post "{post.title}".',
                start_path=all_.path(post) if on_post else HOME,
                checks=(StateCheck((_new_comment(post, comment, text),)),),
                expert_turns=(0 if on_post else 2 + all_.comment_page(post, comment) - 1) + 4,
                params=(("kind", "reply"), ("post", post.title), ("authors", author), ("text", text)),
            )


def _two_replies(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """In threads so short that the first reply pushes nobody to another page."""
    for post in all_.far_posts(rng):
        found = [item for item in all_.single_comments(post) if item.user_id != EMMA]
        if len(found) > 1 and all_.comment_count(post) <= 3:
            chosen, text = found[:2], _filled(rng, _OPINIONS)
            authors = [all_.author(item).username for item in chosen]
            yield Draft(
                intent=f'Reply "{text}" to the comments by {named(authors)} on the post "{post.title}".',
                start_path=HOME,
                checks=(StateCheck(tuple(_new_comment(post, item, text) for item in chosen)),),
                expert_turns=2 + 3 * 2 + 1,
                params=(("kind", "reply"), ("post", post.title), ("authors", "|".join(authors)), ("text", text)),
            )


# --- one's own ------------------------------------------------------------------------------------------------------


def edit_own(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.edit_own {seed}")
    return in_turn(
        [
            _edited_posts(all_, rng, ("title",), "form"),
            _edited_groups(all_, rng, 3),
            _edited_comments(all_, rng, on_post=False),
            _edited_posts(all_, rng, ("body",), "form"),
            _edited_posts(all_, rng, ("title", "body", "url"), "home"),
            _edited_posts(all_, rng, ("body",), "home"),
            _edited_posts(all_, rng, ("title",), "form"),
            _edited_groups(all_, rng, 2),
            _edited_newest(all_, rng),
            _edited_posts(all_, rng, ("title", "body"), "post"),
            _edited_groups(all_, rng, 2),
            _edited_comments(all_, rng, on_post=True),
        ]
    )


def _edit(post: Post, new: dict[str, str]) -> RowChange:
    return RowChange("forum_posts", "update", tuple(new.items()), key=post.id)


def _edited_posts(all_: Known, rng: random.Random, fields: tuple[str, ...], start: str) -> Iterator[Draft]:
    """[search, click,] [Edit Post,] a field each, Save. Only posts without a link get one."""
    for post in all_.far_posts(rng):
        if "url" in fields and post.url:
            continue
        topic = all_.forum(post).name
        texts = {
            "title": _filled(rng, _NEW_TITLES, topic),
            "body": _filled(rng, _EDITS),
            "url": f"https://example.com/{topic.lower()}",
        }
        new = {name: texts[name] for name in fields}
        paths = {"form": f"{all_.path(post)}/edit", "post": all_.path(post), "home": HOME}
        wanted = [f'the {name} to "{text}"' if name != "url" else f"the URL to {text}" for name, text in new.items()]
        yield Draft(
            intent=sentence(f'In my post "{post.title}", change {named(wanted)}'),
            start_path=paths[start],
            checks=(StateCheck((_edit(post, new),)),),
            expert_turns={"form": 0, "post": 1, "home": 3}[start] + len(fields) + 2,
            params=(("kind", "post"), ("posts", post.title), *((name, new.get(name, "")) for name in texts)),
            user=all_.author(post).email,
        )


def _edited_groups(all_: Known, rng: random.Random, size: int) -> Iterator[Draft]:
    """For each: search, click, Edit Post, Body, Save."""
    for user in [all_.users[EMMA], *all_.others(rng)]:
        posts = [post for post in all_.posts_by(user) if post.id not in all_.front_page]
        if len(posts) < size:
            continue
        group, text = rng.sample(posts, size), _filled(rng, _EDITS)
        titles = [post.title for post in group]
        yield Draft(
            intent=sentence(f'Change the body of my posts {quoted(titles)} to "{text}"'),
            start_path=HOME,
            checks=(StateCheck(tuple(_edit(post, {"body": text}) for post in group)),),
            expert_turns=5 * size + 1,
            params=(("kind", "post"), ("posts", "|".join(titles)), ("title", ""), ("body", text), ("url", "")),
            user=user.email,
        )


def _edited_newest(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """One's own page, the first post, Edit Post, Title, Save."""
    for user in [all_.users[EMMA], *all_.others(rng)]:
        post = all_.posts_by(user)[0]
        title = _filled(rng, _NEW_TITLES, all_.forum(post).name)
        yield Draft(
            intent=sentence(f'Change the title of my newest post to "{title}"'),
            start_path=HOME,
            checks=(StateCheck((_edit(post, {"title": title}),)),),
            expert_turns=6,
            params=(("kind", "newest"), ("user", user.username), ("title", title), ("body", ""), ("url", "")),
            user=user.email,
        )


def _edited_comments(all_: Known, rng: random.Random, *, on_post: bool) -> Iterator[Draft]:
    """[search, click, turn pages,] Edit, type, Save."""
    for post in all_.far_posts(rng):
        found = all_.single_comments(post)
        if on_post:
            found = [item for item in found if all_.comment_page(post, item) == 1]
        if found:
            comment, text = rng.choice(found), _filled(rng, _OPINIONS)
            yield Draft(
                intent=sentence(f'Change my comment on the post "{post.title}" to "{text}"'),
                start_path=all_.path(post) if on_post else HOME,
                checks=(StateCheck((RowChange("forum_comments", "update", (("body", text),), key=comment.id),)),),
                expert_turns=(0 if on_post else 2 + all_.comment_page(post, comment) - 1) + 4,
                params=(("kind", "comment"), ("posts", post.title), ("text", text)),
                user=all_.author(comment).email,
            )


def delete_own(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.delete_own {seed}")
    return in_turn(
        [
            _deleted_posts(all_, rng, 1, on_post=True),
            _deleted_posts(all_, rng, 3, on_post=False),
            _deleted_comments(all_, rng),
            _deleted_posts(all_, rng, 2, on_post=False),
            _deleted_newest(all_, rng),
            _deleted_posts(all_, rng, 1, on_post=False),
        ]
    )


def _gone(table: str, id_: int) -> RowChange:
    return RowChange(table, "update", (("deleted", 1),), key=id_)


def _deleted_posts(all_: Known, rng: random.Random, size: int, *, on_post: bool) -> Iterator[Draft]:
    """[search, click,] Delete Post, for each; after that one is on one's own page."""
    for user in all_.others(rng):
        posts = [post for post in all_.posts_by(user) if post.id not in all_.front_page]
        # The newest posts of the user would be a click away after the first deletion, so older ones are chosen.
        if len(posts) < (1 if size == 1 else PAGE_SIZE + 2 * size):
            continue
        chosen = rng.sample(posts, 1) if size == 1 else posts[-size:]
        titles = [post.title for post in chosen]
        yield Draft(
            intent=f"Delete my {'posts' if size > 1 else 'post'} {quoted(titles)}.",
            start_path=all_.path(chosen[0]) if on_post else HOME,
            checks=(StateCheck(tuple(_gone("forum_posts", post.id) for post in chosen)),),
            expert_turns=2 if on_post else 3 * size + 1,
            params=(("kind", "posts"), ("posts", "|".join(titles))),
            user=user.email,
        )


def _deleted_newest(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """One's own page, the first post, Delete Post. Whose it is decides which, so the wording alternates."""
    for user, which in zip(all_.others(rng), cycle(("newest post", "most recent post")), strict=False):
        yield Draft(
            intent=f"Delete my {which}.",
            start_path=HOME,
            checks=(StateCheck((_gone("forum_posts", all_.posts_by(user)[0].id),)),),
            expert_turns=4,
            params=(("kind", "newest"), ("user", user.username)),
            user=user.email,
        )


def _deleted_comments(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Search, click, turn pages, Delete."""
    for post in all_.far_posts(rng):
        found = all_.single_comments(post)
        if found:
            comment = rng.choice(found)
            yield Draft(
                intent=f'Delete my comment on the post "{post.title}".',
                start_path=HOME,
                checks=(StateCheck((_gone("forum_comments", comment.id),)),),
                expert_turns=2 + all_.comment_page(post, comment) + 1,
                params=(("kind", "comment"), ("posts", post.title)),
                user=all_.author(comment).email,
            )

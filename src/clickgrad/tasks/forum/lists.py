"""Templates about lists: what leads them, how to get to them, how many of something they hold."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

from clickgrad.tasks.forum.known import (
    EMMA,
    HOME,
    MAX_WORDS,
    Known,
    Params,
    alone_at_top,
    asking,
    in_turn,
    known,
    looking,
    named,
    pages,
    quoted,
    varied,
)
from clickgrad.tasks.templates import Draft
from clickgrad.types import UrlCheck
from clickgrad.worlds.forum.data import Forum, Post
from clickgrad.worlds.forum.listing import RANGES, SORTS
from clickgrad.worlds.pages import day

TO_FORUM = 2  # from home: search, click
# order -> how a request names the post that comes first in it
_LEADER = {"new": "newest post", "top": "post with the highest score", "comments": "most commented post"}
_SINCE = {"all": "", "week": " of the past week", "month": " of the past month", "year": " of the past year"}
_WORDS = ("first", "good", "hard", "favorite", "old", "cheap", "finally", "guide", "friends", "money", "way", "tips")


# --- what comes first -----------------------------------------------------------------------------------------------


def list_leader(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.list_leader {seed}")
    ladder = (("new", "all", "title", True), ("top", "month", "date", False), ("comments", "all", "author", True),
              ("top", "year", "comments", False), ("top", "all", "title", True), ("new", "all", "author", False),
              ("comments", "all", "date", False), ("top", "week", "title", True))  # fmt: skip
    kinds = [_leaders(all_, _shuffled(all_, rng), *rung) for rung in ladder]
    rivals = [_rival_forums(all_, rng, size, reach) for size, reach in ((4, "all"), (2, "month"), (3, "week"))]
    return in_turn(
        [kinds[0], rivals[0], kinds[1], kinds[2], rivals[1], kinds[3], kinds[4], rivals[2], kinds[5], kinds[2],
         rivals[0], kinds[6], kinds[7]]
    )  # fmt: skip


def _shuffled(all_: Known, rng: random.Random) -> list[Forum]:
    return rng.sample(all_.data.forums, k=len(all_.data.forums))


def _leaders(
    all_: Known, forums: Sequence[Forum], sort: str, reach: str, asked: str, on_forum: bool
) -> Iterator[Draft]:
    """[search, click,] order, [range, Apply,] [open,] answer."""
    questions = {
        "title": "What is the title of the {} in the {} forum?",
        "author": "Who wrote the {} in the {} forum?",
        "comments": "How many comments does the {} in the {} forum have?",
        "date": "On what date was the {} in the {} forum posted?",
    }
    for forum in forums:
        post = all_.leads(forum, sort, reach)
        if post is None:
            continue
        answers = {
            "title": post.title,
            "author": all_.author(post).username,
            "comments": str(all_.comment_count(post)),
            "date": day(post.created),
        }
        turns = (0 if on_forum else TO_FORUM) + 1 + (2 if reach != "all" else 0) + (asked == "date") + 1
        yield asking(
            questions[asked].format(_LEADER[sort] + _SINCE[reach], forum.name),
            f"/f/{forum.slug}" if on_forum else HOME,
            (answers[asked],),
            turns,
            (("kind", "leader"), ("forum", forum.name), *_order(sort, reach), ("asked", asked)),
        )


def _order(sort: str, reach: str) -> Params:
    return (("sort", SORTS[sort]), ("range", "" if reach == "all" else RANGES[reach]))


def _rival_forums(all_: Known, rng: random.Random, size: int, reach: str) -> Iterator[Draft]:
    groups = list(combinations(_shuffled(all_, rng), size))
    for forums in rng.sample(groups, k=60):
        tops = [all_.listed(forum, "top", reach)[0] for forum in forums]
        best = alone_at_top([all_.score(post) for post in tops])
        if best is not None:
            names = [forum.name for forum in forums]
            since = " of all time" if reach == "all" else _SINCE[reach]
            yield asking(
                f"In which forum does the top post{since} have the highest score: {named(names, 'or')}?",
                HOME,
                (names[best],),
                (3 if reach == "all" else 5) * size + 1,
                (("kind", "rivals"), ("forums", "|".join(names)), *_order("top", reach)),
            )


# --- how to get there -----------------------------------------------------------------------------------------------


def open_list(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.open_list {seed}")
    return in_turn(
        [
            _sorted_lists(_shuffled(all_, rng), "new", "all", on_forum=True),
            _leading_authors(all_, _shuffled(all_, rng), "top", "year"),
            _sorted_lists(_shuffled(all_, rng), "top", "week", on_forum=True),
            _comments_of_authors(all_, rng),
            _leading_authors(all_, _shuffled(all_, rng), "top", "month", comments=True),
            _later_pages(all_, _shuffled(all_, rng), 4),
            _sorted_lists(_shuffled(all_, rng), "comments", "all", on_forum=True),
            _leading_authors(all_, _shuffled(all_, rng), "top", "week", comments=True),
            _searches(all_, rng),
            _sorted_lists(_shuffled(all_, rng), "top", "month", on_forum=False),
            _leading_posts(all_, _shuffled(all_, rng)),
        ]
    )


def _sorted_lists(forums: Sequence[Forum], sort: str, reach: str, *, on_forum: bool) -> Iterator[Draft]:
    shown = {"new": "newest posts", "top": "top posts", "comments": "most commented posts"}[sort]
    for forum in forums:
        query = (("sort", sort), ("t", "" if reach == "all" else reach), ("page", ""))
        yield looking(
            f"Show the {shown} of the {forum.name} forum{_SINCE[reach].replace(' of', ' from')}.",
            f"/f/{forum.slug}" if on_forum else HOME,
            UrlCheck("forum", f"/f/{forum.slug}", query),
            (0 if on_forum else TO_FORUM) + 1 + (2 if reach != "all" else 0) + 1,
            (("kind", "sorted"), ("forum", forum.name), *_order(sort, reach), ("page", 1)),
        )


def _later_pages(all_: Known, forums: Sequence[Forum], page: int) -> Iterator[Draft]:
    for forum in forums:
        if pages(len(all_.listed(forum, "new"))) >= page:
            yield looking(
                f"Open page {page} of the newest posts in the {forum.name} forum.",
                HOME,
                UrlCheck("forum", f"/f/{forum.slug}", (("sort", "new"), ("page", str(page)))),
                TO_FORUM + 1 + page - 1 + 1,
                (("kind", "sorted"), ("forum", forum.name), *_order("new", "all"), ("page", page)),
            )


def _comments_of_authors(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """From a post: its author, Comments, done."""
    for post in all_.far_posts(rng):
        author = all_.author(post)
        if author.id != EMMA:
            yield looking(
                f"Show the comments that {author.username} has written.",
                all_.path(post),
                UrlCheck("forum", f"/user/{author.username}/comments", (("page", ""),)),
                3,
                (("kind", "comments"), ("user", author.username)),
            )


def _searches(all_: Known, rng: random.Random) -> Iterator[Draft]:
    for word in rng.sample(_WORDS, k=len(_WORDS)):
        found = [post for post in all_.data.posts if word in post.title.lower()]
        homes = sorted({post.forum_id for post in found})
        if len(homes) > 1:
            forum = all_.forums[rng.choice(homes)]
            yield looking(
                f'Search for "{word}" and show only the results in the {forum.name} forum.',
                HOME,
                UrlCheck("forum", "/search", (("q", word), ("forum", forum.slug))),
                4,
                (("kind", "search"), ("word", word), ("forum", forum.name)),
            )


def _leading_posts(all_: Known, forums: Sequence[Forum]) -> Iterator[Draft]:
    for forum in forums:
        post = all_.leads(forum, "comments")
        if post:
            yield looking(
                f"Open the most commented post of the {forum.name} forum.",
                HOME,
                UrlCheck("forum", all_.path(post)),
                TO_FORUM + 3,
                (("kind", "post"), ("forum", forum.name), *_order("comments", "all")),
            )


def _leading_authors(
    all_: Known, forums: Sequence[Forum], sort: str, reach: str, *, comments: bool = False
) -> Iterator[Draft]:
    """Search, forum, Top, range, Apply, post, author, [Comments]."""
    for forum in forums:
        post = all_.leads(forum, sort, reach)
        if post and post.user_id != EMMA:
            wanted = "Show the comments written by" if comments else "Open the user page of"
            path = f"/user/{all_.author(post).username}" + ("/comments" if comments else "")
            yield looking(
                f"{wanted} the author of the {_LEADER[sort]}{_SINCE[reach]} in the {forum.name} forum.",
                HOME,
                UrlCheck("forum", path, (("page", ""),)),
                TO_FORUM + 3 + 2 + comments + 1,
                (("kind", "author"), ("forum", forum.name), *_order(sort, reach), ("comments", comments)),
            )


# --- how many -------------------------------------------------------------------------------------------------------


def count_comments(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.count_comments {seed}")
    kinds = (
        _negative_in_thread(all_, all_.far_posts(rng), on_post=True),
        _in_threads(all_, rng, 2),
        _of_user_in_thread(all_, rng, negative=False),
        _negative_in_thread(all_, all_.far_posts(rng), on_post=True),
        _in_threads(all_, rng, 3),
        _negative_of_user(all_, rng, on_page=False),
        _negative_in_thread(all_, all_.far_posts(rng), on_post=True),
        _in_threads(all_, rng, 2),
        _of_user_in_thread(all_, rng, negative=True),
        _negative_of_user(all_, rng, on_page=True),
        _in_threads(all_, rng, 3),
        _negative_in_thread(all_, all_.far_posts(rng), on_post=False),
    )
    return in_turn([varied(kind) for kind in kinds])


def _negative(all_: Known, post: Post) -> int:
    return sum(all_.comment_score(comment) < 0 for comment in all_.thread(post))


def _negative_in_thread(all_: Known, posts: Sequence[Post], *, on_post: bool) -> Iterator[Draft]:
    for post in posts:
        if (all_.thread_pages(post) == 2) if on_post else (all_.thread_pages(post) > 2):
            yield asking(
                f'How many comments on the post "{post.title}" have a negative score?',
                all_.path(post) if on_post else HOME,
                (str(_negative(all_, post)),),
                (0 if on_post else 2) + all_.thread_pages(post),
                (("kind", "thread"), ("posts", post.title), ("user", ""), ("negative", True)),
            )


def _of_user_in_thread(all_: Known, rng: random.Random, *, negative: bool) -> Iterator[Draft]:
    for post in all_.far_posts(rng):
        if all_.thread_pages(post) < 2:
            continue
        thread = all_.thread(post)
        talkative = sorted({item.user_id for item in thread}, key=lambda id_: [c.user_id for c in thread].count(id_))
        user = all_.users[talkative[-1]]
        own = [item for item in thread if item.user_id == user.id]
        count = sum(all_.comment_score(item) < 0 for item in own) if negative else len(own)
        asked = f"How many comments by {user.username} on the post"
        yield asking(
            f'{asked} "{post.title}" have a negative score?'
            if negative
            else f'How many comments did {user.username} write on the post "{post.title}"?',
            HOME,
            (str(count),),
            2 + all_.thread_pages(post),
            (("kind", "thread"), ("posts", post.title), ("user", user.username), ("negative", negative)),
        )


def _in_threads(all_: Known, rng: random.Random, size: int) -> Iterator[Draft]:
    posts = [post for post in all_.far_posts(rng) if all_.thread_pages(post) > 1]
    for at in range(0, len(posts) - size, size):
        group = posts[at : at + size]
        titles = [post.title for post in group]
        intent = f"How many comments on the posts {quoted(titles)} together have a negative score?"
        if len(intent.split()) <= MAX_WORDS:
            yield asking(
                intent,
                HOME,
                (str(sum(_negative(all_, post) for post in group)),),
                sum(2 + all_.thread_pages(post) - 1 for post in group) + 1,
                (("kind", "thread"), ("posts", "|".join(titles)), ("user", ""), ("negative", True)),
            )


def _negative_of_user(all_: Known, rng: random.Random, *, on_page: bool) -> Iterator[Draft]:
    for user in all_.others(rng):
        comments = all_.comments_by(user)
        yield asking(
            f"How many of the comments written by {user.username} have a negative score?",
            f"/user/{user.username}/comments" if on_page else HOME,
            (str(sum(all_.comment_score(item) < 0 for item in comments)),),
            (0 if on_page else 3) + pages(len(comments)),
            (("kind", "user"), ("user", user.username)),
        )

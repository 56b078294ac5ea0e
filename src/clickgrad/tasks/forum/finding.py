"""Templates that ask for facts: about a post, several posts compared, a user, several users compared."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.forum.known import (
    EMMA,
    HOME,
    MAX_WORDS,
    Known,
    alone_at_top,
    asking,
    in_turn,
    known,
    named,
    pages,
    quoted,
)
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, StateCheck
from clickgrad.worlds.forum.data import Post, User
from clickgrad.worlds.pages import day

COMPARISONS = 48  # of users, of each kind
# fact -> (the question, the answer as the page spells it)
_POST_FACTS: dict[str, tuple[str, Callable[[Known, Post], str]]] = {
    "score": ("What is the score of the post {}?", lambda all_, post: str(all_.score(post))),
    "author": ("Who wrote the post {}?", lambda all_, post: all_.author(post).username),
    "comments": ("How many comments does the post {} have?", lambda all_, post: str(all_.comment_count(post))),
    "date": ("On what date was {} posted?", lambda _, post: day(post.created)),
    "forum": ("In which forum was {} posted?", lambda all_, post: all_.forum(post).name),
    "joined": ("When did the author of the post {} join?", lambda all_, post: day(all_.author(post).joined)),
    "city": ("Which city is the author of the post {} from?", lambda all_, post: city(all_.author(post))),
}
# what is compared -> (the question, how much of it a post has)
_POST_RACES: dict[str, tuple[str, Callable[[Known, Post], int]]] = {
    "score": ("Which of the posts {} has the highest score?", lambda all_, post: all_.score(post)),
    "comments": ("Which of the posts {} has the most comments?", lambda all_, post: all_.comment_count(post)),
    "date": ("Which of the posts {} was posted first?", lambda _, post: -_day_number(post.created)),
    "joined": (
        "Which of the authors of the posts {} joined first?",
        lambda all_, post: -_day_number(all_.author(post).joined),
    ),
}
# fact -> (the question, the answer)
_USER_FACTS: dict[str, tuple[str, Callable[[Known, User], str]]] = {
    "joined": ("On what date did {} join?", lambda _, user: day(user.joined)),
    "comments": ("How many comments has {} written?", lambda all_, user: str(len(all_.comments_by(user)))),
    "city": ("Which city is {} from?", lambda _, user: city(user)),
    "newest": ("What is the title of the newest post by {}?", lambda all_, user: all_.posts_by(user)[0].title),
    "newest_comment": (
        "What is the score of the newest comment by {}?",
        lambda all_, user: str(all_.comment_score(all_.comments_by(user)[0])),
    ),
}
_USER_RACES: dict[str, tuple[str, Callable[[Known, User], int]]] = {
    "joined": ("Who joined first: {}?", lambda _, user: -_day_number(user.joined)),
    "comments": ("Who has written the most comments: {}?", lambda all_, user: len(all_.comments_by(user))),
}


def city(user: User) -> str:
    return user.bio.partition(" from ")[2].partition(".")[0]


def _day_number(stamp: str) -> int:
    return int(stamp[:10].replace("-", ""))


# --- posts ----------------------------------------------------------------------------------------------------------


def post_fact(seed: int) -> Iterator[Draft]:
    """From home a search finds the post, and its line in the list already says most."""
    all_, rng = known(seed), random.Random(f"forum.post_fact {seed}")
    # (fact, start, turns)
    ladder = (("score", "home", 2), ("joined", "home", 4), ("date", "list", 2), ("comments", "home", 2),
              ("date", "home", 3), ("city", "home", 4), ("author", "home", 2), ("joined", "list", 3))  # fmt: skip
    posts = all_.far_posts(rng)
    kinds = [_post_facts(all_, posts[at :: len(ladder)], *rung) for at, rung in enumerate(ladder)]
    dates, cities = _facts_of_posts(all_, rng, "date", 4), _facts_of_posts(all_, rng, "city", 3)
    comments = _comment_scores(all_, rng)
    return in_turn([kinds[0], dates, kinds[1], kinds[2], cities, comments, *kinds[3:5], dates, *kinds[5:]])


def _post_facts(all_: Known, posts: Sequence[Post], fact: str, start: str, turns: int) -> Iterator[Draft]:
    question, answer = _POST_FACTS[fact]
    for post in posts:
        intent = question.format(f'"{post.title}"')
        path = HOME if start == "home" else all_.list_path(post)
        params = (("kind", "post"), ("fact", fact), ("post", post.title))
        yield asking(intent, path, (answer(all_, post),), turns, params)


def _facts_of_posts(all_: Known, rng: random.Random, fact: str, size: int) -> Iterator[Draft]:
    """Of each: search, open, [author]. All must be named in the answer, and no two are the same."""
    asked = {
        "date": "On what dates were the posts {} posted?",
        "city": "Which cities are the authors of the posts {} from?",
    }
    posts, answer = all_.far_posts(rng), _POST_FACTS[fact][1]
    for at in range(0, len(posts) - size, size):
        group = posts[at : at + size]
        answers = tuple(answer(all_, post) for post in group)
        titles = [post.title for post in group]
        intent = asked[fact].format(quoted(titles))
        if len(set(answers)) == size and len(intent.split()) <= MAX_WORDS:
            params = (("kind", "posts"), ("fact", fact), ("posts", "|".join(titles)))
            checks = (AnswerCheck(answers, "includes"), StateCheck(()))
            yield Draft(intent, HOME, checks, {"date": 2, "city": 3}[fact] * size + 1, params)


def _comment_scores(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Search, open, turn the pages of the thread, answer."""
    for post in all_.far_posts(rng):
        lonely = [item for item in all_.single_comments(post) if all_.comment_page(post, item) > 1]
        if lonely:
            comment = rng.choice(lonely)
            author = all_.author(comment).username
            yield asking(
                f'What is the score of the comment by {author} on the post "{post.title}"?',
                HOME,
                (str(all_.comment_score(comment)),),
                2 + all_.comment_page(post, comment),
                (("kind", "comment"), ("post", post.title), ("author", author)),
            )


def compare_posts(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.compare_posts {seed}")
    ladder = (("score", 2), ("date", 4), ("date", 3), ("total", 2), ("joined", 3), ("joined", 2), ("score", 2),
              ("date", 4), ("comments", 3), ("total", 2), ("joined", 3), ("date", 2))  # fmt: skip
    return in_turn([_posts_compared(all_, all_.far_posts(rng), what, size) for what, size in ladder])


def _posts_compared(all_: Known, posts: Sequence[Post], what: str, size: int) -> Iterator[Draft]:
    """The list shows scores and comments, so there a search is enough; for a date, the post must be opened, and for
    what is known of its author, their page too."""
    groups = (posts[at : at + size] for at in range(0, len(posts) - size, size))
    for group in groups:
        titles = [post.title for post in group]
        params = (("what", what), ("posts", "|".join(titles)))
        if what == "total":
            total = sum(map(all_.comment_count, group))
            intent = f"How many comments do the posts {quoted(titles)} have together?"
            yield asking(intent, HOME, (str(total),), size + 1, params)
            continue
        question, worth = _POST_RACES[what]
        best = alone_at_top([worth(all_, post) for post in group])
        intent = question.format(quoted(titles))
        if best is not None and len(intent.split()) <= MAX_WORDS:
            answer = all_.author(group[best]).username if what == "joined" else titles[best]
            yield asking(intent, HOME, (answer,), {"date": 2, "joined": 3}.get(what, 1) * size + 1, params)


# --- users ----------------------------------------------------------------------------------------------------------


def user_fact(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.user_fact {seed}")
    facts = {fact: _user_facts(all_, all_.others(rng), fact) for fact in _USER_FACTS}
    best, near = _best_posts(all_, all_.others(rng)), _users_from_posts(all_, rng)
    joined = [_users_compared(all_, rng, "joined", size) for size in (3, 5, 6)]
    talked = [_users_compared(all_, rng, "comments", size) for size in (2, 3, 5)]
    return in_turn(
        [facts["joined"], joined[1], talked[1], near, joined[2], best, facts["city"], talked[2],
         facts["newest_comment"], near, joined[1], talked[0], facts["newest"], facts["comments"], joined[0]]
    )  # fmt: skip


def _user_facts(all_: Known, users: Sequence[User], fact: str) -> Iterator[Draft]:
    """Search, open, [Comments,] answer."""
    question, answer = _USER_FACTS[fact]
    turns = 4 if fact == "newest_comment" else 3
    for user in users:
        params = (("kind", fact), ("user", user.username))
        yield asking(question.format(user.username), HOME, (answer(all_, user),), turns, params)


def _users_from_posts(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """One click away: the task starts on a post of that user."""
    for post, fact in zip(all_.far_posts(rng), cycle(("joined", "comments", "city")), strict=False):
        user = all_.author(post)
        if user.id != EMMA:
            question, answer = _USER_FACTS[fact]
            params = (("kind", fact), ("user", user.username))
            yield asking(question.format(user.username), all_.path(post), (answer(all_, user),), 2, params)


def _best_posts(all_: Known, users: Sequence[User]) -> Iterator[Draft]:
    """Search, open, turn the pages, answer."""
    for user in users:
        posts = all_.posts_by(user)
        best = alone_at_top([all_.score(post) for post in posts])
        if best is not None and len(posts) > 3:
            intent = f"What is the title of the post with the highest score by {user.username}?"
            params = (("kind", "best"), ("user", user.username))
            yield asking(intent, HOME, (posts[best].title,), 2 + pages(len(posts)), params)


def _users_compared(all_: Known, rng: random.Random, what: str, size: int) -> Iterator[Draft]:
    question, worth = _USER_RACES[what]
    for _ in range(COMPARISONS):
        group = rng.sample(all_.data.users[1:], size)
        names = [user.username for user in group]
        best = alone_at_top([worth(all_, user) for user in group])
        if best is not None:
            params = (("kind", "compare"), ("what", what), ("users", "|".join(names)))
            yield asking(question.format(named(names, "or")), HOME, (names[best],), 2 * size + 1, params)

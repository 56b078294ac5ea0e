"""What the forum holds at the start, as plain values: the seed decides all of it. Tasks are written from these."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import count

from clickgrad.worlds.forum import words
from clickgrad.worlds.forum.writing import Writer
from clickgrad.worlds.people import people
from clickgrad.worlds.site import NOW

USERS = 120
POSTS = 700
DEFAULT_USER_POSTS = 9
OLDEST_POST_DAYS = 400
MAX_DEPTH = 2  # of a reply: the answer to an answer
THREADS = (0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 6, 8)  # how many comments a post may have; one post in twenty has more
LONG_THREADS = (11, 12, 14, 17, 18)
LONG_THREAD_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class User:
    id: int
    username: str
    email: str
    password: str  # in the clear: everybody here is made up
    bio: str
    joined: str
    default_sort: str
    front_page: str
    accepts_messages: int


@dataclass(frozen=True, slots=True)
class Forum:
    id: int
    name: str
    slug: str
    description: str
    created: str


@dataclass(frozen=True, slots=True)
class Moderator:
    id: int
    forum_id: int
    user_id: int


@dataclass(frozen=True, slots=True)
class Subscription:
    id: int
    user_id: int
    forum_id: int


@dataclass(frozen=True, slots=True)
class Post:
    id: int
    forum_id: int
    user_id: int
    title: str
    url: str
    body: str
    created: str
    base_score: int  # before the votes that have rows
    deleted: int


@dataclass(frozen=True, slots=True)
class Comment:
    id: int
    post_id: int
    parent_id: int | None
    user_id: int
    body: str
    created: str
    base_score: int
    deleted: int


@dataclass(frozen=True, slots=True)
class PostVote:
    id: int
    post_id: int
    user_id: int
    value: int  # 1 or -1


@dataclass(frozen=True, slots=True)
class CommentVote:
    id: int
    comment_id: int
    user_id: int
    value: int


@dataclass(frozen=True, slots=True)
class Message:
    id: int
    sender_id: int
    recipient_id: int
    subject: str
    body: str
    created: str


@dataclass(frozen=True, slots=True)
class ForumData:
    """One field per table, named `forum_<field>`; one dataclass field per column."""

    users: tuple[User, ...]
    forums: tuple[Forum, ...]
    moderators: tuple[Moderator, ...]
    subscriptions: tuple[Subscription, ...]
    posts: tuple[Post, ...]
    comments: tuple[Comment, ...]
    post_votes: tuple[PostVote, ...]
    comment_votes: tuple[CommentVote, ...]
    messages: tuple[Message, ...]


@cache
def forum_data(seed: int) -> ForumData:
    rng = random.Random(f"forum {seed}")
    writer = Writer(rng)
    users = tuple(_users(rng, writer, seed))
    forums = tuple(_forums(rng))
    subscriptions = tuple(_subscriptions(rng, users, forums))
    drafts = tuple(_posts(rng, writer, forums))
    post_votes = tuple(PostVote(*vote) for vote in _votes(rng, drafts))
    posts = tuple(_before_votes(drafts, post_votes))
    comments = tuple(_comments(rng, writer, posts))
    comment_votes = tuple(CommentVote(*vote) for vote in _votes(rng, comments))
    messages = tuple(_messages(rng, writer, users))
    moderators = tuple(_moderators(rng, forums))
    return ForumData(users, forums, moderators, subscriptions, posts, comments, post_votes, comment_votes, messages)


def _users(rng: random.Random, writer: Writer, seed: int) -> Iterator[User]:
    # No two joined on the same day, so that "who joined first" has one answer.
    ages = rng.sample(range(OLDEST_POST_DAYS + 10, 2400), USERS)
    silent = set(rng.sample(range(2, USERS + 1), USERS // 8))
    for id_, (person, days) in enumerate(zip(people(seed)[:USERS], ages, strict=True), 1):
        joined = (NOW - timedelta(days=days)).date().isoformat()
        accepts = int(id_ not in silent)
        yield User(id_, person.username, person.email, person.password, writer.bio(), joined, "hot", "all", accepts)


def _forums(rng: random.Random) -> Iterator[Forum]:
    for id_, (name, topic) in enumerate(words.TOPICS.items(), 1):
        created = (NOW - timedelta(days=rng.randint(2400, 4000))).date().isoformat()
        yield Forum(id_, name, name.lower(), topic.description, created)


def _moderators(rng: random.Random, forums: Sequence[Forum]) -> Iterator[Moderator]:
    ids = count(1)
    for forum in forums:
        for user_id in sorted(rng.sample(range(2, USERS + 1), rng.choice((1, 1, 2)))):
            yield Moderator(next(ids), forum.id, user_id)


def _subscriptions(rng: random.Random, users: Sequence[User], forums: Sequence[Forum]) -> Iterator[Subscription]:
    """Some forums draw more people than others."""
    ids = count(1)
    draw = [rng.uniform(0.1, 0.45) for _ in forums]
    for user in users:
        for forum, chance in zip(forums, draw, strict=True):
            if rng.random() < (0.3 if user.id == 1 else chance):
                yield Subscription(next(ids), user.id, forum.id)


def _posts(rng: random.Random, writer: Writer, forums: Sequence[Forum]) -> Iterator[Post]:
    """In the order of time; a steep draw leans to recent days. No two at the same minute."""
    minutes = {60 + int(rng.random() ** 2.5 * OLDEST_POST_DAYS * 1440) for _ in range(POSTS + 50)}
    moments = sorted(rng.sample(sorted(minutes), POSTS), reverse=True)
    homes = [forum for forum in forums for _ in range(18)]
    homes += rng.choices(forums, k=POSTS - len(homes))
    authors = [1] * DEFAULT_USER_POSTS + [id_ for id_ in range(2, USERS + 1) for _ in range(3)]
    authors += [min(USERS, 2 + int(rng.expovariate(1 / 25))) for _ in range(POSTS - len(authors))]
    rng.shuffle(homes)
    rng.shuffle(authors)
    titles = {forum.id: writer.titles(forum.name) for forum in forums}
    scores: dict[int, set[int]] = {forum.id: set() for forum in forums}
    for id_, (forum, author, age) in enumerate(zip(homes, authors, moments, strict=True), 1):
        kind, title = next(titles[forum.id])
        url = writer.url(title) if kind == "link" else ""
        created = _stamp(NOW - timedelta(minutes=age))
        score = _score(rng, age, scores[forum.id])
        yield Post(id_, forum.id, author, title, url, writer.body(kind), created, score, 0)


def _score(rng: random.Random, age_minutes: int, taken: set[int]) -> int:
    """Few posts get many points, and none in its first hours. None is taken twice, so that a forum has one top post."""
    ripe = min(1.0, (age_minutes + 300) / 4320)
    score = int(rng.random() ** 2 * 240 * ripe) - rng.randint(0, 5)
    while score in taken:
        score += 1
    taken.add(score)
    return score


def _comments(rng: random.Random, writer: Writer, posts: Sequence[Post]) -> Iterator[Comment]:
    """Numbered in the order of time over all posts."""
    drafts: list[tuple[datetime, int, list[int], int]] = []  # moment, post id, its parent's place in the thread, author
    for post in posts:
        size = rng.choice(LONG_THREADS) if rng.random() < LONG_THREAD_SHARE else rng.choice(THREADS)
        drafts += _thread(rng, post, size)
    drafts.sort(key=lambda draft: draft[:2])
    ids_in_thread: dict[int, list[int]] = {}
    for id_, (moment, post_id, place, author) in enumerate(drafts, 1):
        thread = ids_in_thread.setdefault(post_id, [])
        parent = thread[place[0]] if place else None
        thread.append(id_)
        liked = rng.random() < 0.78
        score = rng.randint(1, 40) if liked else rng.randint(-9, 0)
        yield Comment(id_, post_id, parent, author, writer.comment(liked), _stamp(moment), score, 0)


def _thread(rng: random.Random, post: Post, size: int) -> Iterator[tuple[datetime, int, list[int], int]]:
    """In long threads a few people talk a lot."""
    begun = datetime.fromisoformat(post.created)
    span = min(int((NOW - begun).total_seconds()) // 60 - 1, 12 * 1440)
    minutes = sorted(rng.sample(range(1, span), min(size, span - 1)))
    crowd = rng.sample([id_ for id_ in range(1, USERS + 1) if id_ != post.user_id], max(1, size))
    talkers = [*crowd, *crowd[:3] * (size // 5)]
    depths: list[int] = []
    for minute in minutes:
        deep = [place for place, depth in enumerate(depths) if depth < MAX_DEPTH]
        place = [rng.choice(deep)] if deep and rng.random() < 0.4 else []
        depths.append(depths[place[0]] + 1 if place else 0)
        yield begun + timedelta(minutes=minute), post.id, place, rng.choice(talkers)


def _votes(rng: random.Random, targets: Sequence[Post | Comment]) -> Iterator[tuple[int, int, int, int]]:
    """Everybody has voted on a few things of others."""
    ids = count(1)
    for user_id in range(1, USERS + 1):
        for target in rng.sample(targets, rng.randint(4, 7)):
            if target.user_id != user_id:
                yield next(ids), target.id, user_id, rng.choice((1, 1, -1))


def _before_votes(posts: Sequence[Post], votes: Sequence[PostVote]) -> Iterator[Post]:
    """So that with their votes they come to the scores they were given."""
    sums = Counter[int]()
    for vote in votes:
        sums[vote.post_id] += vote.value
    for post in posts:
        yield replace(post, base_score=post.base_score - sums[post.id])


def _messages(rng: random.Random, writer: Writer, users: Sequence[User]) -> Iterator[Message]:
    """Numbered in the order of time. Nobody gets the same subject twice, or two messages from one person."""
    drafts: list[tuple[datetime, int, int, str, str]] = []
    for user in users:
        letters = writer.letters()
        senders = rng.sample([id_ for id_ in range(2, USERS + 1) if id_ != user.id], 14 if user.id == 1 else 4)
        for sender in senders:
            moment = NOW - timedelta(minutes=rng.randint(90, 90 * 1440))
            drafts.append((moment, sender, user.id, *next(letters)))
    drafts.sort()
    for id_, (moment, sender, recipient, subject, body) in enumerate(drafts, 1):
        yield Message(id_, sender, recipient, subject, body, _stamp(moment))


def _stamp(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="minutes")

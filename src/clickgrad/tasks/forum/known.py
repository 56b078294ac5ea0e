"""What a task's author knows of the forum: scores, threads and the order of every list, from the start data."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache

from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, Check, Scalar, StateCheck
from clickgrad.worlds.forum.comments import COMMENTS_PER_PAGE
from clickgrad.worlds.forum.data import Comment, Forum, Message, Post, User, forum_data
from clickgrad.worlds.forum.listing import PAGE_SIZE, RANGE_DAYS
from clickgrad.worlds.forum.threads import thread_order
from clickgrad.worlds.site import NOW

MAX_WORDS = 40  # of an intent
EMMA = 1
HOME = "/"
Params = tuple[tuple[str, Scalar], ...]


class Known:
    def __init__(self, seed: int) -> None:
        self.data = data = forum_data(seed)
        self.users = {user.id: user for user in data.users}
        self.forums = {forum.id: forum for forum in data.forums}
        self.posts = {post.id: post for post in data.posts}
        self._post_votes = Counter[int]()
        self._comment_votes = Counter[int]()
        for vote in data.post_votes:
            self._post_votes[vote.post_id] += vote.value
        for each in data.comment_votes:
            self._comment_votes[each.comment_id] += each.value
        self._threads: dict[int, list[Comment]] = {post.id: [] for post in data.posts}
        for comment in data.comments:
            self._threads[comment.post_id].append(comment)
        self.front_page = {post.id for post in self.listed(None, "hot")[:PAGE_SIZE]}

    # --- posts ---

    def score(self, post: Post) -> int:
        return post.base_score + self._post_votes[post.id]

    def comment_count(self, post: Post) -> int:
        return len(self._threads[post.id])

    def forum(self, post: Post) -> Forum:
        return self.forums[post.forum_id]

    def author(self, item: Post | Comment) -> User:
        return self.users[item.user_id]

    def path(self, post: Post) -> str:
        return f"/f/{self.forum(post).slug}/{post.id}"

    def list_path(self, post: Post) -> str:
        """The page of its forum's newest posts on which it stands."""
        place = self.listed(self.forum(post), "new").index(post)
        return f"/f/{self.forum(post).slug}?sort=new&page={place // PAGE_SIZE + 1}"

    def listed(self, forum: Forum | None, sort: str, reach: str = "all") -> list[Post]:
        since = (NOW - timedelta(days=RANGE_DAYS.get(reach, 100_000))).isoformat(sep=" ", timespec="minutes")
        found = [
            post for post in self.data.posts if forum in (None, self.forums[post.forum_id]) and post.created >= since
        ]
        keys: dict[str, Callable[[Post], tuple[int, int]]] = {
            "hot": lambda post: (self.score(post) * 60 + _minutes(post.created), post.id),
            "new": lambda post: (_minutes(post.created), post.id),
            "top": lambda post: (self.score(post), post.id),
            "comments": lambda post: (self.comment_count(post), post.id),
        }
        return sorted(found, key=keys[sort], reverse=True)

    def leads(self, forum: Forum, sort: str, reach: str = "all") -> Post | None:
        """The first of the list, or None when it shares the first place."""
        posts = self.listed(forum, sort, reach)
        worths = [self.comment_count(post) if sort == "comments" else self.score(post) for post in posts[:2]]
        shared = sort != "new" and len(worths) == 2 and worths[0] == worths[1]
        return posts[0] if posts and not shared else None

    def posts_by(self, user: User) -> list[Post]:
        """Newest first, as on the user's page."""
        return [post for post in reversed(self.data.posts) if post.user_id == user.id]

    def far_posts(self, rng: random.Random) -> list[Post]:
        """In random order, without those on the front page: there a click would do instead of a search."""
        found = [post for post in self.data.posts if post.id not in self.front_page]
        return rng.sample(found, k=len(found))

    # --- comments ---

    def comment_score(self, comment: Comment) -> int:
        return comment.base_score + self._comment_votes[comment.id]

    def thread(self, post: Post) -> list[Comment]:
        """In reading order."""
        by_id = {comment.id: comment for comment in self._threads[post.id]}
        return [by_id[place.id] for place in thread_order((item.id, item.parent_id) for item in by_id.values())]

    def thread_pages(self, post: Post) -> int:
        return max(1, -(-self.comment_count(post) // COMMENTS_PER_PAGE))

    def comment_page(self, post: Post, comment: Comment) -> int:
        return self.thread(post).index(comment) // COMMENTS_PER_PAGE + 1

    def single_comments(self, post: Post) -> list[Comment]:
        """By people who wrote just one in this thread, so that their name says which one is meant."""
        counts = Counter(comment.user_id for comment in self._threads[post.id])
        return [comment for comment in self.thread(post) if counts[comment.user_id] == 1]

    def comments_by(self, user: User) -> list[Comment]:
        """Newest first, as on the user's page."""
        return [comment for comment in reversed(self.data.comments) if comment.user_id == user.id]

    # --- users ---

    def others(self, rng: random.Random) -> list[User]:
        """Everybody but the default user, in random order."""
        return rng.sample(self.data.users[1:], k=len(self.data.users) - 1)

    def subscribed(self, user: User) -> set[int]:
        return {item.forum_id for item in self.data.subscriptions if item.user_id == user.id}

    def inbox(self, user: User) -> list[Message]:
        return [message for message in reversed(self.data.messages) if message.recipient_id == user.id]


@cache
def known(seed: int) -> Known:
    return Known(seed)


def pages(items: int) -> int:
    return max(1, -(-items // PAGE_SIZE))


def alone_at_top(worths: Sequence[int]) -> int | None:
    """The place of the greatest, or None when two are."""
    best = max(worths)
    return worths.index(best) if worths.count(best) == 1 else None


def in_turn(kinds: Sequence[Iterator[Draft]]) -> Iterator[Draft]:
    """One of each kind, again and again; a kind that runs dry is left out, and no intent is used twice."""
    alive, seen = list(kinds), set[str]()
    while alive:
        for kind in tuple(alive):
            draft = next((draft for draft in kind if draft.intent not in seen), None)
            if draft is None:
                alive = [other for other in alive if other is not kind]
                continue
            seen.add(draft.intent)
            yield draft


def varied(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Without those whose answer has come up too often, so that no single guess pays."""
    counts = Counter[str]()
    for draft in drafts:
        answer = next(check.expected[0] for check in draft.checks if isinstance(check, AnswerCheck))
        if counts[answer] < 1 + counts.total() // 5:
            counts[answer] += 1
            yield draft


def asking(intent: str, start: str, answers: Sequence[str], turns: int, params: Params) -> Draft:
    """A question: one of `answers`, spellings of the same, is right, and nothing may change."""
    return Draft(intent, start, (AnswerCheck(tuple(answers)), StateCheck(())), turns, params)


def looking(intent: str, start: str, place: Check, turns: int, params: Params) -> Draft:
    """A place to end on, without changing anything."""
    return Draft(intent, start, (place, StateCheck(())), turns, params)


def sentence(text: str) -> str:
    """With a full stop, unless what it quotes at its end has one or it ends with an address."""
    return text if re.search(r'[.?!]"$|://\S+$', text) else f"{text}."


def quoted(titles: Sequence[str], last: str = "and") -> str:
    """ "A", "B" and "C"."""
    marked = [f'"{title}"' for title in titles]
    return f"{', '.join(marked[:-1])} {last} {marked[-1]}" if len(marked) > 1 else marked[0]


def named(names: Sequence[str], last: str = "and") -> str:
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]


def _minutes(created: str) -> int:
    return int((datetime.fromisoformat(created) - datetime(1970, 1, 1)).total_seconds()) // 60

"""Templates that take a side: subscribe to forums, vote on posts and on comments. Each names the rows it leaves."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.forum.known import EMMA, HOME, MAX_WORDS, Known, Params, in_turn, known, named, quoted
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, StateCheck
from clickgrad.worlds.forum.data import Comment, Forum, Post, User
from clickgrad.worlds.forum.listing import PAGE_SIZE, RANGES, SORTS

WAYS = {"Upvote": 1, "Downvote": -1}
MOST_VOTES = 5  # asked for in one task


# --- subscribing ----------------------------------------------------------------------------------------------------


def subscribe(seed: int) -> Iterator[Draft]:
    """A forum takes three turns from home: search, click, button. People differ in what they have subscribed to."""
    all_, rng = known(seed), random.Random(f"forum.subscribe {seed}")
    # (how many to join, how many to leave, starts on the forum)
    ladder = ((4, 0, False), (1, 1, False), (1, 0, True), (3, 0, False), (0, 1, False), (0, 1, True), (0, 4, False),
              (1, 0, True), (5, 0, False), (2, 0, False), (0, 1, True))  # fmt: skip
    kinds = [_subscriptions(all_, rng, *rung) for rung in ladder]
    return in_turn([*kinds[:7], _forum_of_post(all_, rng), *kinds[7:]])


def _subscriptions(all_: Known, rng: random.Random, joins: int, leaves: int, on_forum: bool) -> Iterator[Draft]:
    for user in [all_.users[EMMA], *all_.others(rng)]:
        own = all_.subscribed(user)
        joined = rng.sample([forum for forum in all_.data.forums if forum.id not in own], k=joins)
        left = rng.sample([forum for forum in all_.data.forums if forum.id in own], k=min(leaves, len(own)))
        if len(left) < leaves:
            continue
        changes = [_subscription("insert", user, forum) for forum in joined]
        changes += [_subscription("delete", user, forum) for forum in left]
        yield Draft(
            intent=_subscription_intent(joined, left),
            start_path=f"/f/{(joined + left)[0].slug}" if on_forum else HOME,
            checks=(StateCheck(tuple(changes)),),
            expert_turns=2 if on_forum else 3 * (joins + leaves) + 1,
            params=(
                ("kind", "forums"),
                ("join", "|".join(forum.name for forum in joined)),
                ("leave", "|".join(forum.name for forum in left)),
            ),
            user=user.email,
        )


def _subscription(op: str, user: User, forum: Forum) -> RowChange:
    values = (("user_id", user.id), ("forum_id", forum.id))
    return RowChange("forum_subscriptions", "insert" if op == "insert" else "delete", values)


def _subscription_intent(joined: Sequence[Forum], left: Sequence[Forum]) -> str:
    parts = []
    for verb, forums in (("subscribe to", joined), ("unsubscribe from", left)):
        if forums:
            parts.append(f"{verb} the {named([forum.name for forum in forums])} forum{'s' * (len(forums) > 1)}")
    text = " and ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _forum_of_post(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Search, open the post, open its forum, subscribe."""
    user = all_.users[EMMA]
    for post in all_.far_posts(rng):
        forum = all_.forum(post)
        if forum.id not in all_.subscribed(user):
            yield Draft(
                intent=f'Subscribe to the forum in which the post "{post.title}" appeared.',
                start_path=HOME,
                checks=(StateCheck((_subscription("insert", user, forum),)),),
                expert_turns=5,
                params=(("kind", "post"), ("post", post.title)),
            )


# --- voting on posts ------------------------------------------------------------------------------------------------


def vote_post(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.vote_post {seed}")
    return in_turn(
        [
            _leading_posts(all_, rng, "Upvote", "comments", ""),
            _named_posts(all_, rng, "Upvote", 1, on_post=True),
            _leading_posts(all_, rng, "Upvote", "top", "month"),
            _leading_posts(all_, rng, "Downvote", "new", ""),
            _changed_votes(all_, rng, on_post=True),
            _posts_of_user(all_, rng, "Upvote"),
            _named_posts(all_, rng, "Downvote", 1, on_post=False),
            _named_posts(all_, rng, "Downvote", 1, on_post=True),
            _named_posts(all_, rng, "Upvote", 4, on_post=False),
            _changed_votes(all_, rng, on_post=False),
            _posts_of_user(all_, rng, "Downvote"),
            _named_posts(all_, rng, "Downvote", 5, on_post=False),
        ]
    )


def _open_to_emma(all_: Known, post: Post) -> bool:
    """Neither her own nor voted on."""
    voted = any(vote.post_id == post.id and vote.user_id == EMMA for vote in all_.data.post_votes)
    return post.user_id != EMMA and not voted


def _post_votes(posts: Sequence[Post], way: str) -> StateCheck:
    values = [(("post_id", post.id), ("user_id", EMMA), ("value", WAYS[way])) for post in posts]
    return StateCheck(tuple(RowChange("forum_post_votes", "insert", row) for row in values))


def _named_posts(all_: Known, rng: random.Random, way: str, size: int, *, on_post: bool) -> Iterator[Draft]:
    """[search, click,] vote, for each."""
    posts = [post for post in all_.far_posts(rng) if _open_to_emma(all_, post)]
    for at in range(0, len(posts) - size, size):
        group = posts[at : at + size]
        titles = [post.title for post in group]
        intent = f"{way} the {'posts' if size > 1 else 'post'} {quoted(titles)}."
        if len(intent.split()) > MAX_WORDS:
            continue
        yield Draft(
            intent=intent,
            start_path=all_.path(group[0]) if on_post else HOME,
            checks=(_post_votes(group, way),),
            expert_turns=2 if on_post else 3 * size + 1,
            params=(("kind", "named"), ("way", way), ("posts", "|".join(titles))),
        )


def _leading_posts(all_: Known, rng: random.Random, way: str, sort: str, reach: str) -> Iterator[Draft]:
    """Search, forum, order, [range, Apply,] post, vote."""
    which = {"new": "newest post", "top": "post with the highest score", "comments": "most commented post"}[sort]
    since = f" of the past {reach}" if reach else ""
    for forum in rng.sample(all_.data.forums, k=len(all_.data.forums)):
        post = all_.leads(forum, sort, reach or "all")
        if post and _open_to_emma(all_, post):
            yield Draft(
                intent=f"{way} the {which}{since} in the {forum.name} forum.",
                start_path=HOME,
                checks=(_post_votes((post,), way),),
                expert_turns=2 + 1 + (2 if reach else 0) + 3,
                params=(
                    ("kind", "leading"),
                    ("way", way),
                    ("forum", forum.name),
                    ("sort", SORTS[sort]),
                    ("range", RANGES[reach] if reach else ""),
                ),
            )


def _posts_of_user(all_: Known, rng: random.Random, way: str) -> Iterator[Draft]:
    """Search, user, then for each post: open it, vote, and back to its author, whose posts fill at most a page."""
    for user in all_.others(rng):
        posts = all_.posts_by(user)
        for forum in all_.data.forums if len(posts) <= PAGE_SIZE else ():
            own = [post for post in posts if post.forum_id == forum.id]
            if len(own) > 1 and all(_open_to_emma(all_, post) for post in own):
                yield Draft(
                    intent=f"{way} all posts by {user.username} in the {forum.name} forum.",
                    start_path=HOME,
                    checks=(_post_votes(own, way),),
                    expert_turns=2 + 3 * len(own) - 1 + 1,
                    params=(("kind", "of user"), ("way", way), ("user", user.username), ("forum", forum.name)),
                )


def _changed_votes(all_: Known, rng: random.Random, *, on_post: bool) -> Iterator[Draft]:
    """Clicking the same button again takes a vote back; clicking the other one turns it round."""
    votes = rng.sample(all_.data.post_votes, k=len(all_.data.post_votes))
    for vote, back in zip(votes, cycle((True, False)), strict=False):
        post, user = all_.posts[vote.post_id], all_.users[vote.user_id]
        if post.id in all_.front_page:
            continue
        old, other = ("Upvote", "Downvote") if vote.value == 1 else ("Downvote", "Upvote")
        change = RowChange("forum_post_votes", "update", (("value", -vote.value),), key=vote.id)
        taken_back = RowChange("forum_post_votes", "delete", (("id", vote.id),))
        intent = (
            f'Take back my {old.lower()} on the post "{post.title}".'
            if back
            else f'Change my {old.lower()} on the post "{post.title}" to {"an" if other == "Upvote" else "a"} '
            f"{other.lower()}."
        )
        yield Draft(
            intent=intent,
            start_path=all_.path(post) if on_post else HOME,
            checks=(StateCheck((taken_back if back else change,)),),
            expert_turns=2 if on_post else 4,
            params=(("kind", "named"), ("way", old if back else other), ("posts", post.title)),
            user=user.email,
        )


# --- voting on comments ---------------------------------------------------------------------------------------------


def vote_comment(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.vote_comment {seed}")
    return in_turn(
        [
            _named_comments(all_, rng, "Upvote", page=1, on_post=True),
            _many_comments(all_, rng, "Downvote"),
            _named_comments(all_, rng, "Downvote", page=2, on_post=False),
            _named_comments(all_, rng, "Upvote", page=2, on_post=True),
            _comments_of_user(all_, rng, "Upvote", 0),
            _many_comments(all_, rng, "Upvote"),
            _named_comments(all_, rng, "Downvote", page=1, on_post=True),
            _comments_of_user(all_, rng, "Downvote", 8),
            _named_comments(all_, rng, "Upvote", page=3, on_post=False),
        ]
    )


def _free_comment(all_: Known, comment: Comment) -> bool:
    voted = any(vote.comment_id == comment.id and vote.user_id == EMMA for vote in all_.data.comment_votes)
    return comment.user_id != EMMA and not voted


def _comment_votes(comments: Sequence[Comment], way: str) -> StateCheck:
    values = [(("comment_id", comment.id), ("user_id", EMMA), ("value", WAYS[way])) for comment in comments]
    return StateCheck(tuple(RowChange("forum_comment_votes", "insert", row) for row in values))


def _named_comments(all_: Known, rng: random.Random, way: str, page: int, *, on_post: bool) -> Iterator[Draft]:
    for post in all_.far_posts(rng):
        found = [item for item in all_.single_comments(post) if all_.comment_page(post, item) == page]
        found = [item for item in found if _free_comment(all_, item)]
        if found:
            comment = rng.choice(found)
            author = all_.author(comment).username
            yield Draft(
                intent=f'{way} the comment by {author} on the post "{post.title}".',
                start_path=all_.path(post) if on_post else HOME,
                checks=(_comment_votes((comment,), way),),
                expert_turns=(0 if on_post else 2) + page - 1 + 2,
                params=_comment_params("one", way, post, author),
            )


def _comment_params(kind: str, way: str, post: Post, author: str) -> Params:
    return (("kind", kind), ("way", way), ("post", post.title), ("author", author))


def _comments_of_user(all_: Known, rng: random.Random, way: str, least: int) -> Iterator[Draft]:
    """Search, post, a vote for each, every page of the thread; in at least so many turns."""
    for post in all_.far_posts(rng):
        thread = all_.thread(post)
        for user_id in sorted({item.user_id for item in thread}):
            own = [item for item in thread if item.user_id == user_id]
            turns = 2 + len(own) + all_.thread_pages(post) - 1 + 1
            if turns < least or not 2 <= len(own) <= MOST_VOTES:
                continue
            if all(_free_comment(all_, item) for item in own):
                author = all_.users[user_id].username
                yield Draft(
                    intent=f'{way} all comments by {author} on the post "{post.title}".',
                    start_path=HOME,
                    checks=(_comment_votes(own, way),),
                    expert_turns=turns,
                    params=_comment_params("all", way, post, author),
                )
                break


def _many_comments(all_: Known, rng: random.Random, way: str) -> Iterator[Draft]:
    """Those below zero are voted down further, or helped up."""
    for post in all_.far_posts(rng):
        low = [item for item in all_.thread(post) if all_.comment_score(item) < 0]
        if 2 <= len(low) <= MOST_VOTES and len(low) + all_.thread_pages(post) >= 6:
            if any(not _free_comment(all_, item) for item in low):
                continue
            yield Draft(
                intent=f'{way} every comment with a negative score on the post "{post.title}".',
                start_path=HOME,
                checks=(_comment_votes(low, way),),
                expert_turns=2 + len(low) + all_.thread_pages(post) - 1 + 1,
                params=_comment_params("negative", way, post, ""),
            )

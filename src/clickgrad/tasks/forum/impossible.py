"""What cannot be done here: things that do not exist, or that the site does not allow. The right answer is N/A."""

from __future__ import annotations

import random
from collections.abc import Iterator

from clickgrad.tasks.forum.known import EMMA, HOME, MAX_WORDS, Known, Params, asking, in_turn, known, pages, quoted
from clickgrad.tasks.templates import Draft
from clickgrad.worlds.forum.listing import RANGES, SORTS

NOT_POSSIBLE = ("N/A",)
_NO_FORUMS = ("Chess", "Skiing", "Poetry", "Hockey", "Pottery", "Sailing", "Knitting", "Tennis", "Football", "Dancing")
_NO_POSTS = ("My first air balloon", "How do you repair a rocket?", "Which submarine should I get?",
             "The best way to feed a dragon", "Is it hard to train a lion?", "Looking for a cheap castle",
             "Finally found a good robot", "Tips for people who want to ride a camel")  # fmt: skip


def impossible(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.impossible {seed}")
    return in_turn(
        [
            _no_comment(all_, rng),
            _no_post(rng),
            _no_comment_on_any(all_, rng),
            _no_posts_in_forum(all_, rng),
            _no_messages(all_, rng),
            _no_comment_on_leader(all_, rng),
            _no_letter(all_, rng),
            _no_forum(rng),
            _no_comment_on_any(all_, rng),
            _anothers_post(all_, rng),
            _no_number(all_, rng),
        ]
    )


def _draft(intent: str, turns: int, params: Params) -> Draft:
    return asking(intent, HOME, NOT_POSSIBLE, turns, params)


def _no_post(rng: random.Random) -> Iterator[Draft]:
    for title in rng.sample(_NO_POSTS, k=len(_NO_POSTS)):
        verb = rng.choice(("Upvote", "Downvote"))
        yield _draft(f'{verb} the post "{title}".', 2, (("kind", "search"), ("text", title)))


def _no_forum(rng: random.Random) -> Iterator[Draft]:
    for name in rng.sample(_NO_FORUMS, k=len(_NO_FORUMS)):
        yield _draft(f"Subscribe to the {name} forum.", 2, (("kind", "search"), ("text", name)))


def _anothers_post(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Its page has no button for it."""
    for post in all_.far_posts(rng):
        if post.user_id != EMMA:
            asked = (
                ("Delete Post", f'Delete the post "{post.title}".'),
                ("Edit Post", f'Change the title of the post "{post.title}" to "Solved".'),
            )
            button, intent = rng.choice(asked)
            yield _draft(intent, 3, (("kind", "button"), ("posts", post.title), ("button", button)))


def _no_number(all_: Known, rng: random.Random) -> Iterator[Draft]:
    for user in all_.others(rng):
        yield _draft(f"What is the phone number of {user.username}?", 3, (("kind", "phone"), ("user", user.username)))


def _no_messages(all_: Known, rng: random.Random) -> Iterator[Draft]:
    for user in all_.others(rng):
        if not user.accepts_messages:
            asked = f'Send {user.username} a message with the subject "Hello" and the text "How are you?"'
            yield _draft(asked, 3, (("kind", "messages"), ("user", user.username)))


def _no_letter(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Every page of the inbox is looked at."""
    inbox = all_.inbox(all_.users[EMMA])
    senders = {item.sender_id for item in inbox}
    for user in all_.others(rng):
        if user.id not in senders:
            asked = f"What is the subject of the message that {user.username} sent me?"
            yield _draft(asked, 1 + pages(len(inbox)), (("kind", "inbox"), ("user", user.username)))


def _no_comment(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Every page of the thread is looked at."""
    for post in all_.far_posts(rng):
        writers = {item.user_id for item in all_.thread(post)}
        user = rng.choice(all_.data.users[1:])
        if user.id not in writers and all_.thread_pages(post) > 1:
            asked = f'Upvote the comment by {user.username} on the post "{post.title}".'
            params = (("kind", "thread"), ("posts", post.title), ("user", user.username))
            yield _draft(asked, 2 + all_.thread_pages(post), params)


def _no_comment_on_any(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Every page of three threads is looked at."""
    posts = [post for post in all_.far_posts(rng) if all_.comment_count(post)]
    for at in range(0, len(posts) - 3, 3):
        group, user = posts[at : at + 3], rng.choice(all_.data.users[1:])
        writers = {item.user_id for post in group for item in all_.thread(post)}
        pages_in_all = sum(map(all_.thread_pages, group))
        titles = [post.title for post in group]
        intent = f"On which of the posts {quoted(titles, 'or')} has {user.username} written a comment?"
        if user.id not in writers and pages_in_all > 3 and len(intent.split()) <= MAX_WORDS:
            params = (("kind", "thread"), ("posts", "|".join(titles)), ("user", user.username))
            yield _draft(intent, 3 + pages_in_all + 1, params)


def _no_posts_in_forum(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Every page of the user's posts is looked at."""
    for user in all_.others(rng):
        posts = all_.posts_by(user)
        written_in = {post.forum_id for post in posts}
        forum = rng.choice([forum for forum in all_.data.forums if forum.id not in written_in])
        if len(posts) > 6:
            asked = f"Upvote the post by {user.username} in the {forum.name} forum."
            params = (("kind", "posts"), ("user", user.username), ("forum", forum.name))
            yield _draft(asked, 2 + pages(len(posts)), params)


def _no_comment_on_leader(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Search, forum, Top, range, Apply, post, every page of the thread."""
    for forum in rng.sample(all_.data.forums, k=len(all_.data.forums)):
        reach = rng.choice(("month", "year"))
        post, user = all_.leads(forum, "top", reach), rng.choice(all_.data.users[1:])
        if post and user.id not in {item.user_id for item in all_.thread(post)}:
            asked = (
                f"Downvote the comment by {user.username} on the post with the highest score of the past {reach} "
                f"in the {forum.name} forum."
            )
            params = (
                ("kind", "leader"),
                ("forum", forum.name),
                ("sort", SORTS["top"]),
                ("range", RANGES[reach]),
                ("user", user.username),
            )
            yield _draft(asked, 6 + all_.thread_pages(post), params)

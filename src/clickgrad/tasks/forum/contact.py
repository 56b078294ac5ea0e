"""Templates about oneself and others: private messages, one's own settings, and what a forum says of itself."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.forum.known import EMMA, HOME, Known, alone_at_top, asking, in_turn, known, named, sentence
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, RowChange, Scalar, StateCheck
from clickgrad.worlds.forum import words
from clickgrad.worlds.forum.data import Message, User
from clickgrad.worlds.forum.listing import PAGE_SIZE, SORTS
from clickgrad.worlds.forum.users import FRONT_PAGES
from clickgrad.worlds.pages import day

_SUBJECTS = (
    "Hello from {city}",
    "Question about {forum}",
    "Meeting in {month}",
    "Your last post",
    "Plans for {weekday}",
)
_TEXTS = ("Can we talk about {forum}?", "I will be in {city} on {weekday}.", "Please call me on {weekday}.",
          "Are you free in {month}?", "I liked what you wrote.")  # fmt: skip
_ANSWERS = ("Yes, I will be there.", "Sorry, I have no time.", "Let me think about it.", "Can we do it in {month}?",
            "See you on {weekday}.", "I would rather meet in {city}.")  # fmt: skip
# how a message's subject begins -> questions, each with what its text says
_QUESTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "Meeting on": (
        ("At what time does {sender} want to meet me?", r" at (\d+:\d\d)\."),
        ("Where does {sender} want to meet me?", r" at the ([a-z ]+)\."),
    ),
    "Trip to": (("In which month does {sender} travel to {rest}?", r" in (\w+)\. "),),
    "Selling my": (("How many dollars does {sender} want for the {rest}?", r" for (\d+) dollars"),),
    "Our": (("On which day does the club of {sender} meet?", r" every (\w+) "),),
}


def _filled(rng: random.Random, patterns: Sequence[str]) -> str:
    return rng.choice(patterns).format(
        city=rng.choice(words.CITIES),
        forum=rng.choice(list(words.TOPICS)),
        month=rng.choice(words.MONTHS),
        weekday=rng.choice(words.WEEKDAYS),
    )


# --- messages -------------------------------------------------------------------------------------------------------


def message(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.message {seed}")
    return in_turn(
        [
            _letters(all_, rng, "home", 2),
            _answers(all_, rng, "home"),
            _answers(all_, rng, "message"),
            _letters_to_authors(all_, rng),
            _letters(all_, rng, "home", 1),
            _read(all_, rng),
            _letters_to_authors(all_, rng),
            _letters(all_, rng, "form", 1),
            _answers(all_, rng, "message"),
            _letters(all_, rng, "home", 3),
            _letters(all_, rng, "user", 1),
            _read(all_, rng),
        ]
    )


def _received(all_: Known, rng: random.Random) -> Iterator[tuple[User, Message, int]]:
    """(who got it, the message, the page of the inbox it is on); every other one is the default user's."""
    own = [(all_.users[EMMA], item) for item in all_.inbox(all_.users[EMMA])]
    others = [(user, item) for user in all_.others(rng) for item in all_.inbox(user)[:1]]
    rng.shuffle(own)
    for pair in zip(own, others, strict=False):
        for user, item in pair:
            yield user, item, all_.inbox(user).index(item) // PAGE_SIZE + 1


def _new_message(sender: User, recipient: User, subject: str, text: str) -> RowChange:
    values: tuple[tuple[str, Scalar], ...] = (
        ("sender_id", sender.id),
        ("recipient_id", recipient.id),
        ("subject", subject),
        ("body", text),
    )
    return RowChange("forum_messages", "insert", values)


def _answers(all_: Known, rng: random.Random, start: str) -> Iterator[Draft]:
    """[Inbox, turn pages, open,] type, Send Reply."""
    for user, item, page in _received(all_, rng):
        sender, text = all_.users[item.sender_id], _filled(rng, _ANSWERS)
        if sender.accepts_messages:
            yield Draft(
                intent=f'Reply "{text}" to the message from {sender.username}.',
                start_path=HOME if start == "home" else f"/message/{item.id}",
                checks=(StateCheck((_new_message(user, sender, f"Re: {item.subject}", text),)),),
                expert_turns=(2 + page - 1 if start == "home" else 0) + 3,
                params=(("kind", "reply"), ("sender", sender.username), ("text", text), ("subject", item.subject)),
                user=user.email,
            )


def _read(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Inbox, turn pages, open, answer."""
    for user, item, page in _received(all_, rng):
        opening = next((opening for opening in _QUESTIONS if item.subject.startswith(f"{opening} ")), None)
        if opening is None:
            continue
        question, pattern = rng.choice(_QUESTIONS[opening])
        found = re.search(pattern, item.body)
        assert found
        sender, rest = all_.users[item.sender_id].username, item.subject.removeprefix(f"{opening} ")
        around = ("{}", "the {}", "at the {}", "at {}", "in {}", "on {}", "every {}", "{} dollars")
        yield Draft(
            intent=question.format(sender=sender, rest=rest),
            start_path=HOME,
            checks=(AnswerCheck(tuple(way.format(found[1]) for way in around)), StateCheck(())),
            expert_turns=1 + page - 1 + 2,
            params=(("kind", "read"), ("sender", sender), ("pattern", pattern)),
            user=user.email,
        )


def _willing(all_: Known, rng: random.Random) -> list[User]:
    return [user for user in all_.others(rng) if user.accepts_messages]


def _letters(all_: Known, rng: random.Random, start: str, size: int) -> Iterator[Draft]:
    """[search, click, Send Message,] Subject, Message, Send Message, for each recipient."""
    emma, users = all_.users[EMMA], _willing(all_, rng)
    for at in range(0, len(users) - size, size):
        group, subject, text = users[at : at + size], _filled(rng, _SUBJECTS), _filled(rng, _TEXTS)
        names = [user.username for user in group]
        paths = {"form": f"/message/new?to={names[0]}", "user": f"/user/{names[0]}", "home": HOME}
        each = {"form": 0, "user": 1, "home": 3}[start] + 3
        yield Draft(
            intent=sentence(f'Send {named(names)} a message with the subject "{subject}" and the text "{text}"'),
            start_path=paths[start],
            checks=(StateCheck(tuple(_new_message(emma, user, subject, text) for user in group)),),
            expert_turns=each * size + 1,
            params=(("kind", "send"), ("users", "|".join(names)), ("subject", subject), ("text", text)),
        )


def _letters_to_authors(all_: Known, rng: random.Random) -> Iterator[Draft]:
    """Search, post, its author, Send Message, Subject, Message, Send Message."""
    emma = all_.users[EMMA]
    for post in all_.far_posts(rng):
        author, subject, text = all_.author(post), _filled(rng, _SUBJECTS), _filled(rng, _TEXTS)
        if author.id != EMMA and author.accepts_messages:
            yield Draft(
                intent=sentence(
                    f'Send the author of the post "{post.title}" a message with the subject "{subject}" '
                    f'and the text "{text}"'
                ),
                start_path=HOME,
                checks=(StateCheck((_new_message(emma, author, subject, text),)),),
                expert_turns=8,
                params=(("kind", "author"), ("post", post.title), ("subject", subject), ("text", text)),
            )


# --- settings -------------------------------------------------------------------------------------------------------


def profile(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.profile {seed}")
    ladder = ((("bio",), True), (("bio", "default_sort", "front_page", "accepts_messages"), False),
              (("default_sort",), False), (("bio",), False), (("front_page", "accepts_messages"), False),
              (("bio", "default_sort", "accepts_messages"), False))  # fmt: skip
    return in_turn([_profiles(all_, rng, *rung) for rung in ladder])


def _profiles(all_: Known, rng: random.Random, fields: tuple[str, ...], on_form: bool) -> Iterator[Draft]:
    """[one's own page, Settings,] a field each, Save Settings."""
    for user in [all_.users[EMMA], *all_.others(rng)]:
        bio = f"{rng.choice(words.JOBS)} and friend of {rng.choice(list(words.TOPICS))}"
        sort = rng.choice([name for name in SORTS if name != user.default_sort])
        new: dict[str, Scalar] = {
            "bio": bio,
            "default_sort": sort,
            "front_page": "subscribed",
            "accepts_messages": 1 - user.accepts_messages,
        }
        wishes = {
            "bio": f'change my bio to "{bio}"',
            "default_sort": f"sort posts by {SORTS[sort]} by default",
            "front_page": f"show {FRONT_PAGES['subscribed']} on the front page",
            "accepts_messages": "stop accepting messages" if user.accepts_messages else "start accepting messages",
        }
        wanted = named([wishes[name] for name in fields])
        yield Draft(
            intent=sentence(f"In my settings, {wanted}"),
            start_path="/settings" if on_form else HOME,
            checks=(
                StateCheck((RowChange("forum_users", "update", tuple((n, new[n]) for n in fields), key=user.id),)),
            ),
            expert_turns=(0 if on_form else 2) + len(fields) + 2,
            params=(
                ("user", user.username),
                ("bio", bio if "bio" in fields else ""),
                ("default_sort", SORTS[sort] if "default_sort" in fields else ""),
                ("front_page", FRONT_PAGES["subscribed"] if "front_page" in fields else ""),
                ("messages", "accepts_messages" in fields),
            ),
            user=user.email,
        )


# --- forums about themselves ----------------------------------------------------------------------------------------


def forum_fact(seed: int) -> Iterator[Draft]:
    all_, rng = known(seed), random.Random(f"forum.forum_fact {seed}")
    return in_turn(
        [
            _facts_of_forum(all_, rng, "created", on_post=True),
            _forums_compared(all_, rng, 4),
            _facts_of_forum(all_, rng, "moderator", on_post=False),
            _forums_compared(all_, rng, 2),
            _facts_of_forum(all_, rng, "subscribers", on_post=False),
            _forums_compared(all_, rng, 3),
        ]
    )


def _subscribers(all_: Known, forum_id: int) -> int:
    return sum(item.forum_id == forum_id for item in all_.data.subscriptions)


def _facts_of_forum(all_: Known, rng: random.Random, fact: str, *, on_post: bool) -> Iterator[Draft]:
    """From home: search, click, answer. From a post of the forum: click, answer."""
    for forum in rng.sample(all_.data.forums, k=len(all_.data.forums)):
        moderators = [item.user_id for item in all_.data.moderators if item.forum_id == forum.id]
        if fact == "moderator" and len(moderators) > 1:
            continue
        question, answer = {
            "created": ("When was the {} forum created?", day(forum.created)),
            "moderator": ("Who is the moderator of the {} forum?", all_.users[moderators[0]].username),
            "subscribers": ("How many subscribers does the {} forum have?", str(_subscribers(all_, forum.id))),
        }[fact]
        start = all_.path(rng.choice(all_.listed(forum, "new"))) if on_post else HOME
        params = (("kind", fact), ("forums", forum.name))
        yield asking(question.format(forum.name), start, (answer,), 2 if on_post else 3, params)


def _forums_compared(all_: Known, rng: random.Random, size: int) -> Iterator[Draft]:
    for _, what in zip(range(40), cycle(("subscribers", "created")), strict=False):
        forums = rng.sample(all_.data.forums, k=size)
        counts = [_subscribers(all_, forum.id) for forum in forums]
        ages = [-int(forum.created.replace("-", "")) for forum in forums]
        best = alone_at_top(counts if what == "subscribers" else ages)
        names = [forum.name for forum in forums]
        question = "Which forum has the most subscribers" if what == "subscribers" else "Which forum is the oldest"
        if best is not None:
            params = (("kind", f"compare {what}"), ("forums", "|".join(names)))
            yield asking(f"{question}: {named(names, 'or')}?", HOME, (names[best],), 2 * size + 1, params)

"""What can be done on one site with a fact from another: what is asked, the rows it leaves, and how it is done.

Each begins on the home page of its site, in a tab of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle

from clickgrad.tasks.admin.ways import to_order
from clickgrad.tasks.code.ground import EMMA, PLANNERS, ground
from clickgrad.tasks.code.ways import to_tab
from clickgrad.tasks.forum.known import known
from clickgrad.tasks.forum.ways import open_user
from clickgrad.tasks.map.picks import Deck
from clickgrad.tasks.map.ways import open_place
from clickgrad.tasks.moves import Way, click, fill, select
from clickgrad.types import Observation, RowChange, Scalar, Task
from clickgrad.worlds.map.words import LISTS
from clickgrad.worlds.people import DEFAULT_USER
from clickgrad.worlds.shop.data import shop_data
from clickgrad.worlds.shop.words import MESSAGES

_TITLES = ("Good to know", "Found today", "For your list", "A short note", "Please read", "Just in case")
_TEXT = "this is what I looked up"


@dataclass(frozen=True, slots=True)
class Deed:
    asked: str  # the intent, with {fact} where the fact is named
    rows: Callable[[str], tuple[RowChange, ...]]  # what it leaves, given the fact's value
    turns: int
    params: tuple[tuple[str, Scalar], ...]


def _insert(table: str, **values: Scalar) -> RowChange:
    return RowChange(table, "insert", tuple(values.items()))


def posts(seed: int, rng: random.Random) -> Iterator[Deed]:
    """Submit, forum, title, body, Create Post."""
    forums = [forum for forum in known(seed).data.forums if forum.name != min(f.name for f in known(seed).data.forums)]
    for title in _TITLES:
        for forum in rng.sample(forums, len(forums)):
            asked = f'Post to the forum {forum.name} with the title "{title}" and, as the body, {{fact}}.'

            def rows(value: str, forum_id: int = forum.id, title: str = title) -> tuple[RowChange, ...]:
                values: dict[str, Scalar] = {"user_id": EMMA, "title": title, "url": "", "body": value, "deleted": 0}
                return (_insert("forum_posts", forum_id=forum_id, **values),)

            yield Deed(asked, rows, 5, (("forum", forum.name), ("title", title)))


def play_post(task: Task, page: Observation, value: str) -> Way:
    page = yield click(page, "link", "Submit", "new posts are written there")
    page = yield select(page, "Forum", str(task.param("forum")), "the post belongs there")
    page = yield fill(page, "Title", str(task.param("title")), "this title was asked for")
    page = yield fill(page, "Body", value, _TEXT)
    return (yield click(page, "button", "Create Post", "the form is complete"))


def messages(seed: int, rng: random.Random) -> Iterator[Deed]:
    """Search, user, Send Message, subject, text, Send Message."""
    all_ = known(seed)
    users = [user for user in all_.others(rng) if user.accepts_messages]
    for user, subject in zip(users, cycle(_TITLES), strict=False):
        asked = (
            f'Send the forum user {user.username} a message with the subject "{subject}" and, as the text, {{fact}}.'
        )

        def rows(value: str, user_id: int = user.id, subject: str = subject) -> tuple[RowChange, ...]:
            return (_insert("forum_messages", sender_id=EMMA, recipient_id=user_id, subject=subject, body=value),)

        yield Deed(asked, rows, 6, (("recipient", user.username), ("subject", subject)))


def play_message(task: Task, page: Observation, value: str) -> Way:
    page = yield from open_user(page, str(task.param("recipient")))
    page = yield click(page, "link", "Send Message", "the message is written there")
    page = yield fill(page, "Subject", str(task.param("subject")), "this subject was asked for")
    page = yield fill(page, "Message", value, _TEXT)
    return (yield click(page, "button", "Send Message", "the message is complete"))


def issues(seed: int, rng: random.Random) -> Iterator[Deed]:
    """To the project, Issues, New Issue, title, description, Create Issue."""
    land = ground(seed)
    projects = land.with_role(EMMA, PLANNERS)
    pairs = [(project, title) for project in projects for title in _TITLES]
    for project, title in rng.sample(pairs, len(pairs)):
        number = max(issue.number for issue in land.issues(project, "all")) + 1
        fixed: dict[str, Scalar] = {"project_id": project.id, "number": number, "title": title, "author_id": EMMA}
        asked = (
            f'Create an issue in the project {project.name} with the title "{title}" and, as the description, {{fact}}.'
        )

        def rows(value: str, fixed: dict[str, Scalar] = fixed) -> tuple[RowChange, ...]:
            rest: dict[str, Scalar] = {"state": "open", "assignee_id": None, "milestone_id": None, "due_date": None}
            return (_insert("code_issues", **fixed, text=value, **rest, closed=None),)

        yield Deed(asked, rows, land.to_project(project) + 5, (("project", project.name), ("title", title)))


def play_issue(task: Task, page: Observation, value: str) -> Way:
    page = yield from to_tab(page, str(task.param("project")), "Issues")
    page = yield click(page, "link", "New Issue", "the form is on a page of its own")
    page = yield fill(page, "Title", str(task.param("title")), "this title was asked for")
    page = yield fill(page, "Description", value, _TEXT)
    return (yield click(page, "button", "Create Issue", "the form is complete"))


def letters_to_shop(seed: int, rng: random.Random) -> Iterator[Deed]:
    """Help, Contact, subject, text, Send Message."""
    for subject in cycle(MESSAGES):

        def rows(value: str, subject: str = subject) -> tuple[RowChange, ...]:
            return (_insert("contact_messages", customer_id=EMMA, email=DEFAULT_USER, subject=subject, text=value),)

        asked = f"Send the shop a message with the subject {subject} and, as the text, {{fact}}."
        yield Deed(asked, rows, 5, (("subject", subject),))


def play_letter(task: Task, page: Observation, value: str) -> Way:
    page = yield click(page, "link", "Help", "the way to write to the shop is there")
    page = yield click(page, "link", "Contact", "this is the form")
    page = yield select(page, "Subject", str(task.param("subject")), "this subject was asked for")
    page = yield fill(page, "Message", value, _TEXT)
    return (yield click(page, "button", "Send Message", "the form is complete"))


def order_notes(seed: int, rng: random.Random) -> Iterator[Deed]:
    """Orders, search, order, Add Note, text, Save Note."""
    for order in rng.sample(shop_data(seed).orders, 120):

        def rows(value: str, order_id: int = order.id) -> tuple[RowChange, ...]:
            return (_insert("order_notes", order_id=order_id, staff_id=EMMA, text=value, notify=0),)

        asked = (
            f"In the back office, add a note to order {order.id} without notifying the customer. Its text is {{fact}}."
        )
        yield Deed(asked, rows, 6, (("order", order.id),))


def play_note(task: Task, page: Observation, value: str) -> Way:
    page = yield from to_order(page, task.param("order"))
    page = yield click(page, "link", "Add Note", "the note has a form of its own")
    page = yield fill(page, "Note", value, _TEXT)
    return (yield click(page, "button", "Save Note", "the note is complete"))


def saved_places(seed: int, rng: random.Random) -> Iterator[Deed]:
    """Search, place, note, Save place."""
    deck = Deck("multi saved", seed)
    own = next(one for one in deck.data.lists if one.user_id == EMMA and one.name == LISTS[0])
    held = {saved.place_id for saved in deck.data.saved if saved.list_id == own.id}
    for _ in range(60):
        place = deck.take_not(held)

        def rows(value: str, place_id: int = place.id) -> tuple[RowChange, ...]:
            return (_insert("map_saved", list_id=own.id, place_id=place_id, note=value),)

        asked = f"On the map, save {place.name} to my list {own.name}. Its note is {{fact}}."
        yield Deed(asked, rows, 4, (("place", place.name),))


def play_saved_place(task: Task, page: Observation, value: str) -> Way:
    page = yield from open_place(page, str(task.param("place")))
    page = yield fill(page, "Note", value, _TEXT)
    return (yield click(page, "button", "Save place", "the note is complete"))

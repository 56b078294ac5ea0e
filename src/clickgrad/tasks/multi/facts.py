"""What can be looked up on one site to be used on another: the value, the way to it, and how an expert reads it.

The default user sees all of them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from clickgrad.tasks.admin.ways import to_order
from clickgrad.tasks.code.ground import ground
from clickgrad.tasks.code.ways import line_under
from clickgrad.tasks.forum.known import known
from clickgrad.tasks.forum.ways import author_of, facts_of
from clickgrad.tasks.map.picks import Deck
from clickgrad.tasks.map.ways import open_place
from clickgrad.tasks.moves import ExpertLost, Move, find, labelled, line_after, search, seek
from clickgrad.types import Observation, Task
from clickgrad.worlds.pages import money
from clickgrad.worlds.shop.data import shop_data

Reading = Generator[Move, Observation, tuple[Observation, str]]  # moves that end on a page and in a value


@dataclass(frozen=True, slots=True)
class Fact:
    said: str  # how an intent names it
    value: str
    path: str  # where the task starts, on the fact's site
    turns: int  # from there until it can be read
    of: str  # what it is a fact of, as the expert looks for it


def prices(seed: int, rng: random.Random) -> Iterator[Fact]:
    items = [item for item in shop_data(seed).products if item.enabled and not item.featured]
    for item in rng.sample(items, len(items)):
        yield Fact(f"the price of {item.name} in the shop", money(item.price_cents), "/", 1, item.name)


def read_price(task: Task, page: Observation) -> Reading:
    name = str(task.param("of"))
    page = yield search(page, name, f"I need the price of {name}")
    return page, line_after(page, find(page, "link", name)).partition(", ")[0]


def phones(seed: int, rng: random.Random) -> Iterator[Fact]:
    return _places(seed, rng, "phone number", "phone")


def addresses(seed: int, rng: random.Random) -> Iterator[Fact]:
    return _places(seed, rng, "address", "address")


def _places(seed: int, rng: random.Random, noun: str, column: str) -> Iterator[Fact]:
    """Every other one begins on the place's own page."""
    deck = Deck(f"multi {column}", seed)
    for index in range(80):
        place = deck.take(lambda place: bool(getattr(place, column)))
        deep = index % 2 == 1
        path = f"/place/{place.id}" if deep else "/"
        yield Fact(f"the {noun} of {place.name} on the map", getattr(place, column), path, 0 if deep else 2, place.name)


def read_phone(task: Task, page: Observation) -> Reading:
    page = yield from open_place(page, str(task.param("of")))
    return page, labelled(page, "Phone")


def read_address(task: Task, page: Observation) -> Reading:
    page = yield from open_place(page, str(task.param("of")))
    return page, labelled(page, "Address")


def stars(seed: int, rng: random.Random) -> Iterator[Fact]:
    land = ground(seed)
    for project in rng.sample(land.seen(), len(land.seen())):
        turns = land.to_project(project) - 1  # the list at home may show it already
        yield Fact(
            f"the number of stars of the project {project.name}", str(land.stars(project)), "/", turns, project.name
        )


def read_stars(task: Task, page: Observation) -> Reading:
    name = str(task.param("of"))
    if seek(page, "link", name) is None:
        page = yield search(page, name, "lists of projects show the stars")
    found = re.search(r"(\d+) star", line_under(page, name))
    if found is None:
        raise ExpertLost(f"no stars of {name} on {page.url}")
    return page, found[1]


def statuses(seed: int, rng: random.Random) -> Iterator[Fact]:
    """Every other one begins on the order's own page."""
    orders = shop_data(seed).orders
    for index, order in enumerate(rng.sample(orders, 120)):
        deep = index % 2 == 1
        said = f"the status of order {order.id} in the back office"
        yield Fact(said, order.status, f"/orders/{order.id}" if deep else "/", 0 if deep else 3, str(order.id))


def read_status(task: Task, page: Observation) -> Reading:
    page = yield from to_order(page, task.param("of"))
    return page, labelled(page, "Status")


def authors(seed: int, rng: random.Random) -> Iterator[Fact]:
    """Every other one begins on the post's own page."""
    all_ = known(seed)
    for index, post in enumerate(all_.far_posts(rng)):
        deep = index % 2 == 1
        said = f'the name of the author of the forum post "{post.title}"'
        path, turns = (all_.path(post), 0) if deep else ("/", 1)
        yield Fact(said, all_.author(post).username, path, turns, post.title)


def read_author(task: Task, page: Observation) -> Reading:
    title = str(task.param("of"))
    if page.title == title:
        return page, author_of(page)
    page = yield search(page, title, f"I need to find the post {title}")
    return page, facts_of(page, title).author

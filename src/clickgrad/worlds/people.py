"""The people of the universe: one cast for all sites, so that a name, an e-mail or a password is the same on each."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

DEFAULT_USER = "emma.lopez@example.com"  # the first person of every universe; a user of every site
PEOPLE = 320

FIRST_NAMES = (
    "Emma", "James", "Olivia", "Henry", "Sofia", "Lucas", "Grace", "Daniel", "Alice", "Oscar",
    "Clara", "Samuel", "Julia", "Victor", "Nora", "Peter", "Laura", "Simon", "Rosa", "Martin",
)  # fmt: skip
LAST_NAMES = (
    "Lopez", "Brown", "Miller", "Carter", "Young", "Reed", "Stone", "Baker", "Wood", "Hill",
    "King", "Price", "Cole", "Fisher", "Grant", "Lane", "Marsh", "Parker", "Shaw", "West",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Person:
    name: str  # Emma Lopez
    username: str  # emma.lopez
    email: str
    password: str  # in the clear: everybody here is made up


@cache
def people(seed: int) -> tuple[Person, ...]:
    """Everybody, the default user first. Sites take as many from the front as they have users."""
    first, *others = [(first, last) for first in FIRST_NAMES for last in LAST_NAMES]
    cast = [first, *random.Random(f"people {seed}").sample(others, PEOPLE - 1)]
    return tuple(_person(number, *names) for number, names in enumerate(cast, 1))


def _person(number: int, first: str, last: str) -> Person:
    username = f"{first}.{last}".lower()
    return Person(f"{first} {last}", username, f"{username}@example.com", f"{first.lower()}{100 + number}")

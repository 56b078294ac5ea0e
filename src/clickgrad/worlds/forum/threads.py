"""The order in which a thread is read: every comment, then the replies to it, older ones first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Place(NamedTuple):
    id: int
    depth: int


def thread_order(comments: Iterable[tuple[int, int | None]]) -> Iterator[Place]:
    """Of (id, id of the parent) in the order of time.

    (1, None), (2, None), (3, 1), (4, 3)  ->  1, 3 under 1, 4 under 3, 2
    """
    children: dict[int | None, list[int]] = {}
    for id_, parent in comments:
        children.setdefault(parent, []).append(id_)
    stack = [Place(id_, 0) for id_ in reversed(children.get(None, []))]
    while stack:
        place = stack.pop()
        yield place
        stack += [Place(id_, place.depth + 1) for id_ in reversed(children.get(place.id, []))]

"""What must be true on the site when an episode is over: each check says True, False, or why not."""

from app import START, sql

from clickgrad.tasks.own import Ended


def added(end: Ended) -> bool | str:
    return _same(_items(end), [*_start(), (end.param("list"), end.param("item"), 0)])


def ticked(end: Ended) -> bool | str:
    name, title = end.param("list"), end.param("item")
    rest = [item for item in _start() if item != (name, title, 0)]
    return _same(_items(end), [*rest, (name, title, 1)])


def _same(found: list, expected: list) -> bool | str:
    return sorted(found) == sorted(expected) or f"the items differ: {sorted(set(found) ^ set(expected))}"


def _start() -> list:
    return [(name, title, 0) for name, titles in START.items() for title in titles]


def _items(end: Ended) -> list:
    """Straight from the database of this copy; `end.fetch("/path")` would ask the site itself."""
    return sql(end.data / "todo.sqlite", "SELECT list, title, done FROM items")

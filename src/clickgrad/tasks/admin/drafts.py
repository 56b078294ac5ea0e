"""What the modules of templates share: short ways to write checks, params and lists, and to deal kinds in turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, Check, RowChange, Scalar, StateCheck, UrlCheck

UNCHANGED = StateCheck(())
SEPARATOR = " | "  # between the values of a param that holds several

Value = TypeVar("Value")


def draft(intent: str, start_path: str, turns: int, checks: tuple[Check, ...], **params: Scalar) -> Draft:
    return Draft(intent, start_path, checks, turns, tuple(params.items()))


def answers(*spellings: str) -> tuple[Check, ...]:
    return AnswerCheck(spellings), UNCHANGED


def names_all(*texts: str) -> tuple[Check, ...]:
    """The answer must name all of them."""
    return AnswerCheck(tuple(dict.fromkeys(texts)), "includes"), UNCHANGED


def ends_on(path: str, **query: str) -> tuple[Check, ...]:
    return UrlCheck("admin", path, tuple((name.rstrip("_"), value) for name, value in query.items())), UNCHANGED


def changes(*rows: RowChange) -> tuple[Check, ...]:
    return (StateCheck(rows),)


def update(table: str, key: int, **values: Scalar) -> RowChange:
    return RowChange(table, "update", tuple(values.items()), key)


def insert(table: str, **values: Scalar) -> RowChange:
    return RowChange(table, "insert", tuple(values.items()))


def several(values: Iterable[object]) -> str:
    """As one param."""
    return SEPARATOR.join(map(str, values))


def listed(values: Sequence[object], word: str = "and") -> str:
    """A, B and C."""
    *first, last = map(str, values)
    return f"{', '.join(first)} {word} {last}" if first else last


def in_turn(*kinds: Iterable[Value]) -> Iterator[Value]:
    """One of each kind, again and again, until all are used up.

    abc, d, ef -> a d e b f c
    """
    waiting = [iter(kind) for kind in kinds]
    while waiting:
        for kind in tuple(waiting):
            try:
                yield next(kind)
            except StopIteration:
                waiting.remove(kind)


def distinct(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Without those that ask the same from the same page: random combinations meet again."""
    seen: set[tuple[str, str]] = set()
    for one in drafts:
        if (one.intent, one.start_path) not in seen:
            seen.add((one.intent, one.start_path))
            yield one


def chunks(values: Sequence[Value], size: int) -> Iterator[tuple[Value, ...]]:
    """Groups of `size`; what is left over at the end is dropped."""
    return (tuple(values[at : at + size]) for at in range(0, len(values) - size + 1, size))

"""Wrong ends that look like right ones: what the checks of a task must refuse. Made from a passed episode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from clickgrad.types import (
    AnswerCheck,
    CustomCheck,
    Evidence,
    PageCheck,
    RewardCheck,
    RowChange,
    Scalar,
    StateCheck,
    Task,
    UrlCheck,
)

STRAY = RowChange("somewhere_else", "insert", (("id", 1),))  # a change no task asks for
UNTOLD = {"id", "created", "updated"}  # columns that no intent determines


def near_misses(task: Task, passed: Evidence) -> Iterator[tuple[str, Evidence]]:
    """(what is wrong with it, evidence that must fail), for each check of the task."""
    for check in task.checks:
        match check:
            case AnswerCheck():
                for answer in _wrong_answers(check):
                    yield f"answer {answer!r}", replace(passed, answer=answer)
            case UrlCheck():
                for url in _wrong_urls(check, passed.url):
                    yield f"ended on {url}", replace(passed, url=url)
            case PageCheck():
                yield "an empty page", replace(passed, page_text="")
            case StateCheck():
                for what, changes in _wrong_changes(check, passed.changes):
                    yield what, replace(passed, changes=tuple(changes))
            case RewardCheck(at_least):
                for reward in (None, 0.0, -1.0, at_least - 0.01):
                    yield f"a reward of {reward} from the page", replace(passed, page_reward=reward)
            case CustomCheck():
                pass  # nobody else knows what such a check looks at


def loose_columns(task: Task, passed: Evidence) -> set[str]:
    """Columns of inserted rows that no check looks at, as `table.column`: each should be one the intent leaves open."""
    named: dict[str, set[str]] = {}
    for check in task.checks:
        if isinstance(check, StateCheck):
            for change in check.changes:
                named.setdefault(change.table, set()).update(name for name, _ in change.values)
    return {
        f"{change.table}.{name}"
        for change in passed.changes
        if change.op == "insert"
        for name, _ in change.values
        if name not in named.get(change.table, set()) | UNTOLD
    }


def _wrong_answers(check: AnswerCheck) -> Iterator[str | None]:
    yield from (None, "")
    for guess in ("N/A", "done", "0"):
        if guess not in check.expected:
            yield guess
    for text in check.expected[:1]:
        yield f"not {text} but another" if check.mode == "exact" else "another"
        if number := re.search(r"\d+", text):
            yield text[: number.start()] + str(int(number[0]) + 1) + text[number.end() :]
    if check.mode == "includes" and len(check.expected) > 1:
        for index in range(len(check.expected)):
            yield ", ".join(text for other, text in enumerate(check.expected) if other != index)


def _wrong_urls(check: UrlCheck, url: str) -> Iterator[str]:
    origin = re.match(r"https?://[^/]+", url)
    assert origin
    yield f"{origin[0]}/somewhere/else"
    yield urlsplit(url)._replace(netloc="elsewhere.localhost").geturl()
    yield urlsplit(url)._replace(fragment="/somewhere/else").geturl()
    if check.fragment.strip("!/"):
        yield urlsplit(url)._replace(fragment="").geturl()
    for name, value in check.query:
        kept = [pair for pair in url.partition("?")[2].split("&") if pair and not pair.startswith(f"{name}=")]
        changed = [*kept, f"{name}=something-else"]
        yield f"{url.partition('?')[0]}?{'&'.join(changed)}"
        if value:
            yield f"{url.partition('?')[0]}?{'&'.join(kept)}"


def _wrong_changes(check: StateCheck, changes: Sequence[RowChange]) -> Iterator[tuple[str, Sequence[RowChange]]]:
    yield "something else changed too", [*changes, STRAY]
    named = {(change.table, name) for change in check.changes for name, _ in change.values}
    for index, change in enumerate(changes):
        rest = [*changes[:index], *changes[index + 1 :]]
        yield f"no {change.op} of {change.table}", rest
        if change.op == "insert":
            yield f"{change.op} of {change.table} twice", [*changes, change]
        for position, (name, value) in enumerate(change.values):
            if change.op != "delete" and (change.table, name) in named:
                values = [*change.values]
                values[position] = (name, _other(value))
                yield f"another {change.table}.{name}", [*rest, replace(change, values=tuple(values))]


def _other(value: Scalar) -> Scalar:
    match value:
        case None:
            return 1
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value} x"

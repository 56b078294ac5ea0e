"""What the scripts share: reading an intent, finding elements by name whatever their role, and the usual moves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from clickgrad.tasks.moves import ExpertLost, Move, Way, about
from clickgrad.types import Click, Element, Hover, Observation, ScrollDown, Select, Task, Type, Wait

ORDINALS = {"1st": 1, "2nd": 2, "3rd": 3, **{f"{number}th": number for number in range(4, 21)}}


Seek = Callable[[Observation], Element | None]


def quoted(task: Task) -> list[str]:
    return re.findall(r'"([^"]*)"', task.intent)


def found(task: Task, pattern: str) -> tuple[str, ...]:
    """The groups of a pattern that the intent contains."""
    match = re.search(pattern, task.intent)
    if match is None:
        raise ExpertLost(f"the intent {task.intent!r} does not say {pattern!r}")
    return tuple(group or "" for group in match.groups())


def bare(text: str) -> str:
    """Without the punctuation that a word in running text carries along."""
    return text.strip(" .,;:")


def seek_named(page: Observation, name: str, *roles: str) -> Element | None:
    fitting = [element for element in page.elements if not roles or element.role in roles]
    exact = (element for element in fitting if element.name == name)
    return next(exact, next((element for element in fitting if bare(element.name) == bare(name)), None))


def named(page: Observation, name: str, *roles: str) -> Element:
    element = seek_named(page, name, *roles)
    if element is None:
        raise ExpertLost(f"no {' or '.join(roles) or 'element'} {name!r} on {page.url}")
    return element


def of_role(page: Observation, role: str) -> list[Element]:
    return [element for element in page.elements if element.role == role]


def nth(page: Observation, role: str, number: int) -> Element:
    """Counted from 1."""
    elements = of_role(page, role)
    if not 0 < number <= len(elements):
        raise ExpertLost(f"no {role} number {number} on {page.url}")
    return elements[number - 1]


def press(element: Element, why: str) -> Move:
    return Move(Click(element.id), about(element), why)


def press_named(page: Observation, name: str, why: str = "this is what I was asked for") -> Move:
    return press(named(page, name), why)


def write(element: Element, text: str, why: str = "this is the text that belongs here") -> Move:
    return Move(Type(element.id, text), about(element), why)


def choose(element: Element, option: str, why: str = "this is the option I want") -> Move:
    return Move(Select(element.id, option), about(element), why)


def point_at(element: Element, why: str = "it opens what is below it") -> Move:
    return Move(Hover(element.id), about(element), why)


def look_down(why: str = "it may be further down") -> Move:
    return Move(ScrollDown(), "Note: not here yet", why)


def wait(why: str = "the page is still at it") -> Move:
    return Move(Wait(), "Note: waiting", why)


def write_all(page: Observation, texts: Iterable[tuple[int, str]]) -> Way:
    """(number of the text box, text) one after the other."""
    for number, text in texts:
        page = yield write(nth(page, "textbox", number), text)
    return page


def down_to(page: Observation, seek: Seek) -> Way:
    """Scroll until it is there, or until the page ends."""
    while seek(page) is None:
        if "does not scroll further" in page.notice:
            raise ExpertLost(f"not found on {page.url}, down to its end")
        page = yield look_down()
    return page


def sure(element: Element | None, name: str) -> Element:
    if element is None:
        raise ExpertLost(f"no {name!r} any more")
    return element

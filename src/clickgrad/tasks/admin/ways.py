"""Ways through the back office that several experts take."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clickgrad.tasks.admin.drafts import SEPARATOR
from clickgrad.tasks.moves import (
    ExpertLost,
    Move,
    Way,
    click,
    fill,
    find,
    line_after,
    search,
    select,
    texts,
)
from clickgrad.types import Observation, Task


def several(task: Task, name: str) -> list[str]:
    return str(task.param(name)).split(SEPARATOR)


def to_section(page: Observation, name: str) -> Way:
    """By the menu, unless it is the page already."""
    if page.title == name:
        return page
    return (yield click(page, "link", name, f"{name} is where I can do this"))


def to_report(page: Observation, name: str) -> Way:
    if page.title == name:
        return page
    page = yield from to_section(page, "Reports")
    return (yield click(page, "link", name, f"the report {name} shows this"))


def to_order(page: Observation, number: object) -> Way:
    name = f"Order {number}"
    if page.title == name:
        return page
    page = yield from to_section(page, "Orders")
    page = yield search(page, str(number), f"I need to find {name}")
    return (yield click(page, "link", name, "its own page says more and has the buttons"))


def to_product(page: Observation, name: str) -> Way:
    if page.title == name:
        return page
    page = yield from to_section(page, "Products")
    page = yield search(page, name, f"I need to find {name}")
    return (yield click(page, "link", name, "I need the form of this product"))


def to_customer(page: Observation, name: str) -> Way:
    if page.title == name:
        return page
    page = yield from to_section(page, "Customers")
    page = yield search(page, name, f"I need to find {name}")
    return (yield click(page, "link", name, "I need this customer's own page"))


def set_period(page: Observation, first: str, last: str) -> Way:
    page = yield fill(page, "From", first, "the period begins on this day")
    page = yield fill(page, "To", last, "the period ends on this day")
    return (yield click(page, "button", "Apply", "the list changes only when I apply the dates"))


def narrow(page: Observation, name: str, option: str) -> Way:
    """Choose in a list's filter, unless it is chosen already."""
    if find(page, "select", name).value == option:
        return page
    return (yield select(page, name, option, f"only {option} is wanted in {name}"))


def rows(page: Observation, kind: str, *marks: str) -> list[str]:
    """The links such as `Review 12` whose facts hold all the marks."""
    links = [element for element in page.elements if re.fullmatch(rf"{kind} \d+", element.name)]
    facts = {element.name: line_after(page, element).split(", ") for element in links}
    return [name for name, held in facts.items() if all(mark in held for mark in marks)]


def open_row(page: Observation, kind: str, marks: Sequence[str], why: str) -> Move:
    found = rows(page, kind, *marks)
    if not found:
        raise ExpertLost(f"no {kind} with {', '.join(marks)} on {page.url}")
    return click(page, "link", found[0], why)


def report_lines(page: Observation, unit: str) -> list[tuple[str, str]]:
    """(name, figures) of lines such as `Steel Mug: 14 sold, $35.00`, in the order of the report."""
    found = (re.fullmatch(rf"(.+?): (\d+ {unit}\b.*)", line) for line in texts(page))
    return [(match[1], match[2]) for match in found if match and match[1] != "All together"]


def figures(page: Observation, unit: str, name: str) -> str:
    for candidate, numbers in report_lines(page, unit):
        if candidate == name:
            return numbers
    raise ExpertLost(f"no line {name!r} on {page.url}")

"""What experts are made of: reading a page as an agent sees it, and the moves that follow.

A script is a generator: it gets the task and the first page, yields moves and is sent the page each one led to.

    def add_to_cart(task: Task, page: Observation) -> Script:
        page = yield click(page, "link", str(task.param("product")), "its page has the button")
        page = yield click(page, "button", "Add to Cart", "this is what I was asked to do")
        yield finish("done", "it is in the cart")

Scripts find elements by role and name and read answers off the page. From the task they take what the intent says
(`params`), never what the checks expect.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from clickgrad.errors import ClickgradError
from clickgrad.types import Action, Click, Element, Exit, Observation, Search, Select, Task, Type


class ExpertLost(ClickgradError):
    """The page does not show what the expert came for."""


@dataclass(frozen=True, slots=True)
class Move:
    action: Action
    remark: str  # one short line, `Element: ...` or `Note: ...`
    why: str  # a clause in the first person that the long reasoning is made of


Script = Generator[Move, Observation, None]
Way = Generator[Move, Observation, Observation]  # part of a script: moves that end on a page
MakeScript = Callable[[Task, Observation], Script]


# --- reading a page -------------------------------------------------------------------------------------------------


def seek(page: Observation, role: str, name: str, nth: int = 0) -> Element | None:
    """The `nth` element of that role and name, counted from the top."""
    found = [element for element in page.elements if element.role == role and element.name == name]
    return found[nth] if nth < len(found) else None


def find(page: Observation, role: str, name: str, nth: int = 0) -> Element:
    element = seek(page, role, name, nth)
    if element is None:
        raise ExpertLost(f"no {role} {name!r} on {page.url}")
    return element


def texts(page: Observation) -> tuple[str, ...]:
    """What the page's lines say, in its own words: texts, and the names of elements."""
    return page.texts


def line_of(page: Observation, element: Element) -> int:
    if element.line is None:
        raise ExpertLost(f"no line for {element.name!r} on {page.url}")
    return element.line


def line_after(page: Observation, element: Element) -> str:
    """The text that follows an element, such as the price under a product's link."""
    number = line_of(page, element) + 1
    if number >= len(page.texts):
        raise ExpertLost(f"no text after {element.name!r} on {page.url}")
    return page.texts[number]


def labelled(page: Observation, label: str) -> str:
    """The value of a line such as `Brand: Acorn`."""
    for line in texts(page):
        if line.startswith(f"{label}: "):
            return line.removeprefix(f"{label}: ")
    raise ExpertLost(f"no line {label!r} on {page.url}")


# --- moves ----------------------------------------------------------------------------------------------------------


def about(element: Element) -> str:
    """Named as the outline names it, so that writing it down is copying."""
    return f"Element: {element.role} {element.name} [{element.id}]"


def click(page: Observation, role: str, name: str, why: str, nth: int = 0) -> Move:
    element = find(page, role, name, nth)
    return Move(Click(element.id), about(element), why)


def select(page: Observation, name: str, option: str, why: str, nth: int = 0) -> Move:
    element = find(page, "select", name, nth)
    if option not in element.options:
        raise ExpertLost(f"no option {option!r} in {name!r} on {page.url}")
    return Move(Select(element.id, option), about(element), why)


def fill(page: Observation, name: str, text: str, why: str, nth: int = 0) -> Move:
    element = find(page, "textbox", name, nth)
    return Move(Type(element.id, text), about(element), why)


def search(page: Observation, text: str, why: str, name: str = "Search") -> Move:
    element = find(page, "textbox", name)
    return Move(Search(element.id, text), about(element), why)


def finish(answer: str, note: str, why: str = "this is all I was asked for") -> Move:
    return Move(Exit(answer), f"Note: {note}", why)


def noted(move: Move, note: str) -> Move:
    """The same move, with a fact that is needed on later pages: remarks are the only memory of this one."""
    return replace(move, remark=f"Note: {note}")

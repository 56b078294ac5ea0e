"""Scripts for pages on which the right things have to be clicked."""

from __future__ import annotations

import re

from clickgrad.tasks.miniwob.reading import (
    ORDINALS,
    choose,
    found,
    named,
    nth,
    of_role,
    point_at,
    press,
    press_named,
    quoted,
    seek_named,
    wait,
)
from clickgrad.tasks.moves import ExpertLost, MakeScript, Script, texts
from clickgrad.types import Element, Observation, Task


def only_button(task: Task, page: Observation) -> Script:
    yield press(nth(page, "button", 1), "it is the only button")


def buttons_in_turn(task: Task, page: Observation) -> Script:
    """Click button ONE, then click button TWO."""
    for name in re.findall(r"button (\w+)", task.intent):
        page = yield press_named(page, name)


def quoted_button(task: Task, page: Observation) -> Script:
    """Click on the "okay" button."""
    yield press(named(page, quoted(task)[0], "button"), "it has the label I was given")


def dialog(task: Task, page: Observation) -> Script:
    """Click the button in the dialog box labeled "Cancel". The cross is called Close."""
    label = quoted(task)[0]
    yield press_named(page, "Close" if label == "x" else label)


def option(task: Task, page: Observation) -> Script:
    """Select AU and click Submit."""
    (name,) = found(task, r"Select (.*) and click Submit")
    page = yield press(named(page, name, "radio"), "this is the option I was given")
    yield press_named(page, "Submit")


def checkboxes(task: Task, page: Observation) -> Script:
    """Select nb, 8qiSp3m and click Submit."""
    (names,) = found(task, r"Select (.*) and click Submit")
    for name in [] if names == "nothing" else names.split(", "):
        page = yield press(named(page, name, "checkbox"), "it is one of those I was given")
    yield press_named(page, "Submit", "all boxes are as they should be")


def list_items(task: Task, page: Observation) -> Script:
    """Select Corrine, Catherine from the scroll list and click Submit."""
    (names,) = found(task, r"Select (.*) from the (?:scroll )?list")
    for name in names.split(", "):
        page = yield choose(nth(page, "select", 1), name)
    yield press_named(page, "Submit")


def tab(task: Task, page: Observation) -> Script:
    """Click on Tab #2."""
    (name,) = found(task, r"Click on (.*)\.$")
    yield press(named(page, name, "tab"), "this is the tab I was given")


def link(task: Task, page: Observation) -> Script:
    """Click on the link "Eget"."""
    yield press(named(page, quoted(task)[0], "button", "link"), "it is the link I was given")


def folded_link(task: Task, page: Observation) -> Script:
    """Switch between the tabs, or expand the sections, to find and click on the link "aliquet"."""
    word, names = quoted(task)[0], [element.name for element in of_role(page, "tab")]
    for name in ["", *names]:
        if name:
            page = yield press(named(page, name, "tab"), "the link may be in here")
        if link := seek_named(page, word, "button", "link"):
            yield press(link, "it is the link I was given")
            return
    raise ExpertLost(f"no link {word!r} under any of {names}")


def section(task: Task, page: Observation) -> Script:
    """Expand the section below and click submit."""
    page = yield press(nth(page, "tab", 1), "it unfolds the section")
    yield press(of_role(page, "button")[-1], "the section is open")


def menu(task: Task, page: Observation) -> Script:
    """Select Martelle>Ayn: the way through the menus, from left to right."""
    *ways, last = found(task, r"Select (.*)")[0].split(">")
    for name, below in zip(ways, [*ways, last][1:], strict=True):
        page = yield point_at(named(page, name, "menuitem"))
        while seek_named(page, below, "menuitem") is None:
            page = yield wait("the menu opens after a moment")
    yield press(named(page, last, "menuitem"), "this is the item I was given")


def tree(task: Task, page: Observation) -> Script:
    """Find and click on the folder or file named "Briana": folders are opened one after the other."""
    wanted, opened = quoted(task)[0], set[str]()
    while not (goal := seek_named(page, wanted)):
        folder = next((one for one in _folders(page) if one.name not in opened), None)
        if folder is None:
            raise ExpertLost(f"no folder or file {wanted!r} on {page.url}")
        opened.add(folder.name)
        page = yield press(folder, "it may be in this folder")
    yield press(goal, "this is what I was looking for")


def _folders(page: Observation) -> list[Element]:
    """What follows the mark by which a folder is opened."""
    pairs = zip(page.elements, page.elements[1:], strict=False)
    return [after for mark, after in pairs if mark.name.startswith("hitarea")]


def focus(task: Task, page: Observation) -> Script:
    """Focus into the 3rd input textbox."""
    place = re.search(r"\d\w\w", task.intent)
    yield press(nth(page, "textbox", ORDINALS[place[0]] if place else 1), "clicking puts the cursor there")


def cards(task: Task, page: Observation) -> Script:
    """Find and pick the card with the greatest number, then press submit."""
    values = [element for element in of_role(page, "button") if element.name.isdigit()]
    page = yield press(max(values, key=lambda element: int(element.name)), "it has the greatest number")
    yield press_named(page, "Submit")


def odd_or_even(task: Task, page: Observation) -> Script:
    """Between each pair of buttons Odd and Even stands its number."""
    numbers = [int(line) for line in texts(page) if re.fullmatch(r"-?\d+", line)]
    for index, number in enumerate(numbers):
        name = "Odd" if number % 2 else "Even"
        buttons = [element for element in page.elements if element.name == name]
        page = yield press(buttons[index], f"{number} is {name.lower()}")
    yield press_named(page, "Submit")


CLICKING: dict[str, MakeScript] = {
    "click-test": only_button,
    "click-test-2": buttons_in_turn,
    "click-test-transfer": buttons_in_turn,
    "click-button": quoted_button,
    "click-button-sequence": buttons_in_turn,
    "unicode-test": quoted_button,
    "click-dialog": dialog,
    "click-dialog-2": dialog,
    "click-option": option,
    "click-checkboxes": checkboxes,
    "click-checkboxes-large": checkboxes,
    "click-checkboxes-transfer": checkboxes,
    "choose-list": list_items,
    "click-scroll-list": list_items,
    "click-tab": tab,
    "click-link": link,
    "click-tab-2": folded_link,
    "click-tab-2-easy": folded_link,
    "click-tab-2-medium": folded_link,
    "click-tab-2-hard": folded_link,
    "click-collapsible": section,
    "click-collapsible-nodelay": section,
    "click-collapsible-2": folded_link,
    "click-collapsible-2-nodelay": folded_link,
    "click-menu": menu,
    "navigate-tree": tree,
    "focus-text": focus,
    "focus-text-2": focus,
    "find-greatest": cards,
    "odd-or-even": odd_or_even,
}

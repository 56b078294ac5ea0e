"""A move explained at length, in the first person: what the CoT variant of the demonstrations thinks before it acts.

It is written from what the expert knows at that moment: the goal, the page, its notes so far, and why it moves so.
"""

from __future__ import annotations

from collections.abc import Sequence

from clickgrad.tasks.moves import Move
from clickgrad.types import (
    AnswerDialog,
    Click,
    Deselect,
    DoubleClick,
    Drag,
    Element,
    Exit,
    GoBackward,
    GoForward,
    Hover,
    Observation,
    PressEnter,
    PressKey,
    RightClick,
    Scroll,
    ScrollDown,
    ScrollUp,
    Search,
    Select,
    SwitchTab,
    Task,
    Type,
    Upload,
    Wait,
)

NAMED = 5  # elements that are mentioned as choices


def think_aloud(task: Task, page: Observation, move: Move, notes: Sequence[str]) -> str:
    """`notes` are the facts written down in earlier turns."""
    sentences = [f'My task is: "{task.intent}"', f'I am on the page "{page.title}".']
    if notes:
        sentences.append(f"From the pages before I remember: {'; '.join(notes)}.")
    else:
        sentences.append("I have not noted anything yet.")
    sentences.append(_choices(page))
    if page.notice:
        sentences.append(f"The page told me: {page.notice}")
    sentences.append(f"I think about what to do now: {move.why}.")
    sentences.append(_decision(page, move))
    return " ".join(sentences)


def _choices(page: Observation) -> str:
    named = [f"the {element.role} {element.name}" for element in page.elements if element.name][:NAMED]
    if not named:
        return "There is nothing here that I could act on."
    more = len(page.elements) - len(named)
    return f"Here I could use {', '.join(named)}" + (f", and {more} more elements." if more > 0 else ".")


def _decision(page: Observation, move: Move) -> str:
    match move.action:
        case Exit(message):
            return f'{move.remark}. So the task is finished, and I answer "{message}".'
        case Click(element):
            return f"So I will click {_named(page, element)}."
        case RightClick(element):
            return f"So I will right click {_named(page, element)}."
        case Hover(element):
            return f"So I will point at {_named(page, element)}."
        case Type(element, text):
            return f'So I will type "{text}" into {_named(page, element)}.'
        case Search(element, text):
            return f'So I will search for "{text}" in {_named(page, element)}.'
        case Select(element, option):
            return f'So I will choose "{option}" in {_named(page, element)}.'
        case SwitchTab(tab):
            return f'So I will go to the tab {tab}, "{page.tabs[tab]}".'
        case ScrollDown() | ScrollUp():
            return f"So I will scroll {'down' if isinstance(move.action, ScrollDown) else 'up'}."
        case GoBackward() | GoForward():
            return f"So I will go {'back' if isinstance(move.action, GoBackward) else 'forward'} one page."
        case PressEnter():
            return "So I will press Enter."
        case Wait():
            return "So I will wait for the page."
        case PressKey(keys):
            return f"So I will press {keys}."
        case DoubleClick(element):
            return f"So I will double click {_named(page, element)}."
        case Drag(element, to):
            return f"So I will drag {_named(page, element)} to {_named(page, to)}."
        case Scroll(element, direction):
            return f"So I will scroll {direction} in {_named(page, element)}."
        case Upload(element, file):
            return f'So I will give the file "{file}" to {_named(page, element)}.'
        case AnswerDialog(accept, text):
            return "So I will " + (f'accept the dialog with "{text}".' if accept else "dismiss the dialog.")
        case Deselect(element, option):
            return f'So I will take "{option}" out of the choice in {_named(page, element)}.'


def _named(page: Observation, number: int) -> str:
    element: Element = next(element for element in page.elements if element.id == number)
    return f"the {element.role} {element.name} [{element.id}]"

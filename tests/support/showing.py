"""A show as a process of its own: its address, what its page looks like, and a person who does what an expert would."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING

from commands import start

from clickgrad.codec import from_plain
from clickgrad.tasks.experts import Expert
from clickgrad.types import Action, Click, Exit, Observation, Search, Select, Task, Type

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE_S = 120.0


@dataclass(frozen=True)
class Show:
    address: str
    process: Popen[str]


@contextmanager
def showing(arguments: Sequence[str | Path], folder: Path) -> Iterator[Show]:
    """`clickgrad watch`, `record` or `demo`; ends when the block does, if not by itself."""
    process = start([*arguments, "--port", "0", "--no-open"], folder)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), process.stderr and process.stderr.read()
    try:
        yield Show(address.partition("#")[0].rstrip("/"), process)
    finally:
        process.terminate()
        process.communicate(timeout=120)


@dataclass
class Player:
    """Sits in front of the page and acts on its picture."""

    page: Page
    live: Path  # where the show tells of its episodes
    press: Callable[[Page, Action], None]
    turns: int = 0

    def play(self, task: Task) -> None:
        expert = Expert(task)
        self.turns = 0
        while True:
            action = expert.move(self.look(task)).action
            self.page.wait_for_selector(".reach:not(.waiting) button")
            self.press(self.page, action)
            if isinstance(action, Exit):
                break
        self.page.wait_for_selector("section[data-person] .verdict", timeout=PATIENCE_S * 1000)

    def look(self, task: Task) -> Observation:
        """What the person sees, once it is a page later than the last."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for file in self.live.glob("[0-9a-f]*.json"):
                state = json.loads(file.read_text()) if not file.name.endswith(".now.json") else {}
                if state.get("task", {}).get("id") == task.id and state["policy"] == "person":
                    turns = state.get("turns", [])
                    if state["phase"] == "thinking" and len(turns) > self.turns and state["pictures"] > self.turns:
                        self.turns = len(turns)
                        self.page.wait_for_selector(f"section[data-person] img[src*='stamp={self.turns}-']")
                        return from_plain(Observation, turns[-1]["observation"])
            time.sleep(0.02)
        raise AssertionError("the page did not come")


def with_mouse(page: Page, action: Action) -> None:
    match action:
        case Click(element):
            _point(page, element)
        case Type(element, text) | Search(element, text):
            _point(page, element)
            page.fill("#entry", text)
            page.click(".entry button[type=submit]" if isinstance(action, Search) else "text=Only type")
        case Select(element, option):
            _point(page, element)
            page.select_option("#entry", option)
            page.click(".entry button[type=submit]")
        case Exit(message):
            page.fill("#answer", message)
            page.click("#finish")
        case _:
            raise AssertionError(f"nothing for {action}")


def _point(page: Page, element: int) -> None:
    """A click at the place where the picture shows it, on whatever lies there."""
    place = page.locator(f"[data-element='{element}']")
    place.evaluate("place => place.scrollIntoView({block: 'center'})")
    box = place.bounding_box()
    assert box
    page.mouse.click(box["x"] + min(6, box["width"] / 2), box["y"] + box["height"] / 2)


def with_keys(page: Page, action: Action) -> None:
    """Tab, Enter and letters alone."""
    match action:
        case Click(element):
            _walk(page, f"[data-element='{element}']")
            page.keyboard.press("Enter")
        case Type(element, text) | Search(element, text):
            _walk(page, f"[data-element='{element}']")
            page.keyboard.press("Enter")
            page.keyboard.type(text)
            page.keyboard.press("Enter" if isinstance(action, Search) else "Tab")
        case Exit(message):
            _walk(page, "#answer")
            page.keyboard.press("Control+a")
            page.keyboard.type(message)
            page.keyboard.press("Enter")
        case _:
            raise AssertionError(f"nothing for {action}")


def _walk(page: Page, to: str) -> None:
    for _ in range(300):
        if page.evaluate("to => document.activeElement === document.querySelector(to)", to):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {to}")

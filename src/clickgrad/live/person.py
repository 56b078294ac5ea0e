"""A person as a policy: what they do to the picture of a page becomes the reply of an agent, in the same grammar.

So the episode, its verdict and its trajectory come from the very code that an agent's come from. What an agent could
not say is told at once and costs no turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from clickgrad.agent.grammar import BARE, ON_ELEMENT, WITH_TEXT, parse, render
from clickgrad.agent.lenient import Grammar
from clickgrad.errors import PolicyError
from clickgrad.policy.scripted import written
from clickgrad.tasks.moves import about
from clickgrad.types import (
    Action,
    Completion,
    Element,
    Exit,
    GoBackward,
    GoForward,
    Observation,
    Prompt,
    Sampling,
    SwitchTab,
)

LEFT = "the person left before the end: unfinished"
NOWHERE = "There is nothing here that an agent could name. Use something with a frame around it."
NOT_NOW = "The page is not ready yet; wait for its picture."
CHANGED = "The page has changed in the meantime; look again."


class Person:
    name = "person"
    version = 0

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._page: Observation | None = None
        self._turn = 0
        self._reply: asyncio.Future[str] | None = None
        self._left = False

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        self._turn += 1
        if self._left:
            raise PolicyError(LEFT)
        self._page = prompt.observation
        self._reply = asyncio.get_running_loop().create_future()
        try:
            return written(await self._reply)
        finally:
            self._reply = None

    def begin(self) -> None:
        """Another task."""
        self._turn, self._left = 0, False

    def leave(self) -> None:
        """Ends the episode under way, which is kept as unfinished."""
        self._left = True
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(PolicyError(LEFT))

    def act(self, wish: Mapping[str, Any]) -> str:
        """Do it; or what is to be told at once, when an agent could not."""
        if self._reply is None or self._reply.done() or self._page is None:
            return NOT_NOW
        if wish.get("turn") != self._turn:
            return CHANGED
        meant = understand(wish, self._page)
        if isinstance(meant, str):
            return meant
        action, remark = meant
        reply = render(action, remark, self._grammar.reply_format)
        if parse(reply, self._grammar.reply_format, self._grammar.actions) != action:
            return f"Our grammar cannot say that: {reply!r} would be read as something else."
        self._reply.set_result(reply)
        return ""

    def forget(self, episode: str) -> None:
        """Nothing is kept by episode."""

    def close(self) -> None:
        self.leave()


def understand(wish: Mapping[str, Any], page: Observation) -> tuple[Action, str] | str:
    """The action and the remark an expert would make, or why there is none. The element's id is that of the page."""
    verb, text = str(wish.get("do", "")), wish.get("text")
    match verb:
        case "exit":
            message = str(text or "").strip() or "done"
            return Exit(message), f"Note: {_line(wish.get('note')) or message}"
        case "back":
            return GoBackward(), "Note: back to the page before"
        case "forward":
            return GoForward(), "Note: forward again"
        case "Switch Tab":
            tab = wish.get("tab")
            if not isinstance(tab, int) or not 0 <= tab < len(page.tabs):
                return f"There is no tab {tab}."
            return SwitchTab(tab), f"Note: the tab {_line(page.tabs[tab])}"
        case _ if verb in BARE:
            return BARE[verb](), f"Note: {verb.lower()}"
        case _ if verb in ON_ELEMENT or verb in WITH_TEXT:
            element = _element(wish.get("element"), page)
            if element is None:
                return NOWHERE
            if verb in ON_ELEMENT:
                return ON_ELEMENT[verb](element.id), about(element)
            if not isinstance(text, str):
                return f"{verb} needs a text."
            return WITH_TEXT[verb](element.id, text), about(element)
    return f"Agents have no action for that ({_line(verb) or 'nothing'}); the list beside the page has all there are."


def _element(number: object, page: Observation) -> Element | None:
    return next((element for element in page.elements if element.id == number), None)


def _line(text: object) -> str:
    return " ".join(str(text or "").split())[:200]

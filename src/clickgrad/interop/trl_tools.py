"""TRL: sessions of an OpenEnv server as tools, for `GRPOTrainer(environment_factory=web_tools(url))`.

Each method is a tool that the model may call. The reward is what the checks say when the model calls `finish`, or of
the state it left when it stops calling tools. A rollout whose session crashed has no reward (None): TRL leaves it out
of baseline and loss.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from clickgrad.agent.grammar import render
from clickgrad.errors import InfraError, boundary
from clickgrad.interop.openenv_client import WebAction, WebClient, WebObservation
from clickgrad.types import Action, Click, Exit, GoBackward, ScrollDown, ScrollUp, Search, Select, Type

OVER = "The episode is over."
FAILED = "The environment failed; stop here."


class WebTools:
    """One session. TRL makes as many as a batch has rollouts, and resets them for the next."""

    url = "http://127.0.0.1:8000"

    def __init__(self) -> None:
        self._client = WebClient(base_url=self.url).sync()
        self._seen: WebObservation | None = None  # None after a crash

    def reset(self, task: str | None = None, seed: int | None = None, **row: Any) -> str:
        """The task and its first page, to stand after the prompt of the row."""
        self._seen = None
        with suppress(InfraError), boundary(InfraError, "beginning an episode"):
            self._seen = self._client.reset(task=task, seed=seed).observation
        if self._seen is None:  # once may be chance; what fails twice is somebody's to mend
            self._seen = self._client.reset(task=task, seed=seed).observation
        return f"Task: {self._seen.intent}\n\n{self._seen.page}"

    def get_reward(self) -> float | None:
        """1 or 0; None when the machinery failed."""
        if self._seen is None:
            return None
        return float(self._seen.standing or 0.0)

    def click(self, element: int) -> str:
        """Click an element.

        Args:
            element: The number that follows the element on the page, in brackets.

        Returns:
            The page that it led to.
        """
        return self._act(Click(element))

    def type_text(self, element: int, text: str) -> str:
        """Type a text into a field, in place of what it holds.

        Args:
            element: The number of the field.
            text: What to type.

        Returns:
            The page after it.
        """
        return self._act(Type(element, text))

    def search(self, element: int, text: str) -> str:
        """Type a text into a field and submit it.

        Args:
            element: The number of the field.
            text: What to look for.

        Returns:
            The page that it led to.
        """
        return self._act(Search(element, text))

    def select_option(self, element: int, option: str) -> str:
        """Choose an option of a select.

        Args:
            element: The number of the select.
            option: The option, as the page spells it.

        Returns:
            The page after it.
        """
        return self._act(Select(element, option))

    def scroll_down(self) -> str:
        """Scroll the page down.

        Returns:
            The page after it.
        """
        return self._act(ScrollDown())

    def scroll_up(self) -> str:
        """Scroll the page up.

        Returns:
            The page after it.
        """
        return self._act(ScrollUp())

    def go_back(self) -> str:
        """Go back to the page before.

        Returns:
            The page that it led to.
        """
        return self._act(GoBackward())

    def finish(self, answer: str) -> str:
        """End the task, with the answer if it asks for one.

        Args:
            answer: The answer, or what was done.

        Returns:
            That the episode is over.
        """
        return self._act(Exit(answer))

    def _act(self, action: Action) -> str:
        if self._seen is None:
            return FAILED
        if self._seen.done:
            return OVER
        self._seen = None
        with suppress(InfraError), boundary(InfraError, "a turn"):
            self._seen = self._client.step(WebAction(reply=render(action, "", "plain"))).observation
        if self._seen is None:
            return FAILED
        return OVER if self._seen.done else self._seen.page


def web_tools(url: str) -> type[WebTools]:
    """For `environment_factory`, which makes its environments without arguments."""
    return type("WebTools", (WebTools,), {"url": url})

"""The seam between an agent and a browser: what every session can do, whether Chromium or the fake is behind it."""

from __future__ import annotations

from typing import Protocol

from clickgrad.types import BlockedHost, Observation, PageAction


class Session(Protocol):
    """One agent's own browser window, from its start page to `close`. Single use: there is no reset."""

    @property
    def url(self) -> str:
        """The address of the current tab."""

    @property
    def blocked(self) -> tuple[BlockedHost, ...]:
        """What the pages so far tried to reach outside the session's hosts. Can be asked after `close`, too."""

    async def observe(self) -> Observation:
        """The current tab as the agent sees it now. Element ids of earlier observations are void from here on."""

    async def perform(self, action: PageAction) -> str:
        """Act, wait until the page has settled, and return what the agent should know: "" when it just worked.

        The same notice is part of the next observation. Only a broken browser raises.
        """

    async def page_text(self) -> str:
        """All text of the current page, in the viewport or not."""

    async def screenshot(self) -> bytes:
        """The viewport as JPEG."""

    async def close(self) -> None:
        """End the session. May be called twice; never takes long."""

"""The page's own time: it stands still while an agent thinks and runs on after an action, as fast as there is work.

Chromium calls it virtual time. A timer of 400 ms is over at once when nothing else is left to do. So a page gets to do
all that an action has caused within the time given, and a page that is done costs a millisecond. The page cannot forge
it. Requests take everybody's time: whoever lets the page's time run looks after those (`Tab`). Chromium would wait for
them by itself, but then does not read the answers of some, images among them.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_POLICY = "Emulation.setVirtualTimePolicy"


class PageTime:
    """Of one tab. `clock` is what the page's clock shows at first, in seconds since 1970; 0 is the time of day."""

    def __init__(self, protocol: CDPSession, clock: float = 0.0) -> None:
        self._protocol = protocol
        self._over = asyncio.Event()
        self._clock = {"initialVirtualTime": clock} if clock else {}
        protocol.on("Emulation.virtualTimeBudgetExpired", lambda _: self._over.set())

    async def stop(self) -> None:
        """From here on the page's time runs only when told to."""
        await self._protocol.send(_POLICY, {"policy": "pause", **self._clock})
        self._clock = {}

    async def run(self, budget_ms: float) -> None:
        """Let so much of the page's time pass."""
        self._over.clear()
        await self._protocol.send(_POLICY, {"policy": "advance", "budget": budget_ms})
        await self._over.wait()

"""A page that asks for things without end would drown the browser that others share: its session is ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

REQUESTS = 1000  # the heaviest pages of WebArena's sites ask for a few hundred things
WITHIN_S = 10.0


class FloodGate:
    """Calls `on_flood` once, when a session's pages have made too many requests in too short a time."""

    def __init__(self, context: BrowserContext, on_flood: Callable[[], None]) -> None:
        self._on_flood = on_flood
        self._since = 0.0
        self._count = 0
        context.on("request", lambda _: self._note())

    def _note(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._count < REQUESTS and now - self._since > WITHIN_S:
            self._since, self._count = now, 0
        self._count += 1
        if self._count == REQUESTS:
            self._on_flood()

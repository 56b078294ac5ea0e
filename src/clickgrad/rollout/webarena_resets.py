"""Putting shared sites back to their start: when nobody is on them, and how. Knows nothing of browsers and tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from clickgrad.errors import WorldError
from clickgrad.tasks.webarena.sites import Hosting
from clickgrad.worlds.site_http import ask
from clickgrad.worlds.site_process import run_command

RESET_S = 900.0  # WebArena's images take up to ten minutes
STATUS_EVERY_S = 5.0
WAKE_S = 60.0  # the first page after a reset is slow
READY = "Ready for duty!"  # what WebArena's reset server says when it is done
STARTED, RUNNING = 200, 418


class Resets:
    """Lets episodes in; when a reset is due, lets no more in, waits for those inside to end, and resets."""

    def __init__(self, reset: Callable[[], Awaitable[None]] | None, every: int) -> None:
        self._reset = reset
        self._every = every
        self._due = reset is not None
        self._inside = 0
        self._since = 0
        self._change = asyncio.Condition()

    @asynccontextmanager
    async def episode(self) -> AsyncIterator[None]:
        async with self._change:
            await self._change.wait_for(lambda: not self._due or not self._inside)
            if self._due and self._reset is not None:
                await self._reset()
                self._due, self._since = False, 0
            self._inside += 1
            self._since += 1
            self._due = self._every > 0 and self._since >= self._every
        try:
            yield
        finally:
            async with self._change:
                self._inside -= 1
                self._change.notify_all()


async def reset_sites(hosting: Hosting, urls: Iterable[str], status_every_s: float = STATUS_EVERY_S) -> None:
    """Returns when every site answers again."""
    if hosting.reset_command:
        await run_command(hosting.reset_command, Path.cwd(), RESET_S)
    else:
        await _ask_reset_server(hosting.reset_url, status_every_s)
    for url in urls:
        await asyncio.to_thread(ask, url, "GET", WAKE_S)


async def _ask_reset_server(url: str, status_every_s: float) -> None:
    reply = await asyncio.to_thread(ask, f"{url}/reset", "GET", WAKE_S)
    if reply.status not in (STARTED, RUNNING):
        raise WorldError(f"the reset server at {url} answers {reply.status}: {reply.text[:200]}")
    clock = asyncio.get_running_loop().time
    deadline = clock() + RESET_S
    while clock() < deadline:
        if (await asyncio.to_thread(ask, f"{url}/status", "GET", WAKE_S)).text == READY:
            return
        await asyncio.sleep(status_every_s)
    raise WorldError(f"the sites are not back {RESET_S:.0f} s after the reset")

"""A web server on loopback in the test's own event loop, which knows who ever knocked, and episodes on its pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from clickgrad.browser import Browser
from clickgrad.rollout.venue import Visit
from clickgrad.types import Evidence, Task


@dataclass(frozen=True)
class Answer:
    body: str = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


Respond = Callable[[str], Awaitable[Answer]]  # by the path with its query


@dataclass
class Loopback:
    port: int = 0
    connections: int = 0
    paths: list[str] = field(default_factory=list)
    serving: int = 0  # requests being answered at the moment
    most_at_once: int = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


@asynccontextmanager
async def serve(respond: Respond) -> AsyncIterator[Loopback]:
    site = Loopback()
    talks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        site.connections += 1
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        try:
            while head := await _read_head(reader):
                await _answer(site, respond, head, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            talks.discard(task)
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)


async def _read_head(reader: asyncio.StreamReader) -> str:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return ""
    lengths = [line.partition(":")[2] for line in head.splitlines() if line.lower().startswith("content-length:")]
    if lengths:
        await reader.readexactly(int(lengths[0]))
    return head


async def _answer(site: Loopback, respond: Respond, head: str, writer: asyncio.StreamWriter) -> None:
    path = head.split(" ")[1]
    site.paths.append(path)
    site.serving += 1
    site.most_at_once = max(site.most_at_once, site.serving)
    try:
        answer = await respond(path)
    finally:
        site.serving -= 1
    body = answer.body.encode()
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body))), *answer.headers)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    writer.write(f"HTTP/1.1 {answer.status} X\r\n{lines}\r\n".encode() + body)
    await writer.drain()


class SiteVenue:
    """Episodes on whatever page their task starts on, with `hosts` to reach."""

    def __init__(self, browser: Browser, hosts: Sequence[str] | None = None) -> None:
        self._browser = browser
        self._hosts = hosts

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        session = await self._browser.open(task.start_url, hosts=self._hosts)

        async def evidence(answer: str | None) -> Evidence:
            return Evidence(answer, session.url, await session.page_text(), ())

        try:
            yield Visit(session, evidence)
        finally:
            await session.close()


async def until(happened: Callable[[], bool], within_s: float = 20) -> None:
    """For what nobody announces, such as the end of a process."""
    async with asyncio.timeout(within_s):
        while not happened():  # noqa: ASYNC110
            await asyncio.sleep(0.05)

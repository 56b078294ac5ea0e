"""What is told of pages, against what everybody else says can be acted on there: the accessibility tree, the listeners
that the browser knows, the hand over an element. Every difference is listed, with its reason.

Recall is the share of elements that can be seen and acted on that were told; those that only wrap or hand on what was
told are listed as left out and not counted. Precision is the share of what was told that somebody else knows of.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

from clickgrad.bench.figures import median, percentile
from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.browser.pool import Browser
from clickgrad.display import say
from clickgrad.errors import UserError
from clickgrad.tasks.suites import load_tasks
from clickgrad.worlds import Arena
from clickgrad.worlds.miniwob import Miniwob

LOOKS = 3  # at each page; the quickest counts
ROLES = re.compile(
    r"button|link|checkbox|radio|tab|menuitem(checkbox|radio)?|option|switch|combobox|searchbox|textbox|slider"
    r"|spinbutton|treeitem"
)


@dataclass(frozen=True, slots=True)
class Difference:
    page: str
    kind: str  # missed, left out, told besides
    what: str
    why: str  # who says that it can be acted on
    reason: str


@dataclass(frozen=True, slots=True)
class EyesFigures:
    pages: int
    recall: float
    precision: float
    observe_ms_p50: float
    observe_ms_p95: float
    elements: int  # that can be seen and acted on, by anybody's word
    told: int
    missed: int
    told_besides: int
    left_out: int
    differences: tuple[Difference, ...]

    def plain(self) -> dict[str, object]:
        return asdict(self)

    def text(self) -> str:
        lines = [f"{one.page}: {one.kind}: {one.what} ({one.why}) {one.reason}" for one in self.differences]
        rates = f"recall {self.recall:.4f}, precision {self.precision:.4f} on {self.pages} pages"
        counts = f"{self.elements} elements, {self.missed} missed, {self.told_besides} of {self.told} told besides"
        return "\n".join([*lines, f"{rates}: {counts}; observing {self.observe_ms_p50:.1f} ms (p50)"])


@dataclass(frozen=True, slots=True)
class _Seen:
    found: int
    told: int
    ms: float
    differences: tuple[Difference, ...]


def bench_eyes(zoo: Path, suites: Sequence[str], quiet: bool) -> EyesFigures:
    unknown = sorted(set(suites) - {"zoo", "miniwob", "pocket"})
    if unknown:
        raise UserError(f"--suites: {unknown[0]} is none; there are zoo, miniwob and pocket")
    if "zoo" in suites and not any(zoo.glob("*.html")):
        raise UserError(f"--pages {zoo}: no *.html there; give the folder of test pages, as tests/pages")
    return asyncio.run(_measure(zoo, _names(zoo), suites, quiet))


async def _measure(zoo: Path, pages: Sequence[str], suites: Sequence[str], quiet: bool) -> EyesFigures:
    openers: dict[str, Callable[[], AsyncIterator[tuple[str, ChromiumSession]]]] = {
        "zoo": partial(_zoo, zoo, pages),
        "miniwob": _miniwob,
        "pocket": _pocket,
    }
    seen: list[_Seen] = []
    for suite in suites:
        before = len(seen)
        async for name, session in openers[suite]():
            seen.append(await _look(name, session))
        if not quiet:
            say(f"{suite}: {len(seen) - before} pages")
    return _summary(seen)


def _summary(seen: Sequence[_Seen]) -> EyesFigures:
    differences = tuple(one for page in seen for one in page.differences)
    missed, besides, left_out = (
        sum(one.kind == kind for one in differences) for kind in ("missed", "told besides", "left out")
    )
    found, told = sum(page.found for page in seen), sum(page.told for page in seen)
    milliseconds = [page.ms for page in seen]
    return EyesFigures(
        pages=len(seen),
        recall=found / max(1, found + missed),
        precision=(told - besides) / max(1, told),
        observe_ms_p50=median(milliseconds),
        observe_ms_p95=percentile(milliseconds, 0.95),
        elements=found + missed,
        told=told,
        missed=missed,
        told_besides=besides,
        left_out=left_out,
        differences=differences,
    )


async def _look(name: str, session: ChromiumSession) -> _Seen:
    milliseconds = []
    for _ in range(LOOKS):
        started = time.perf_counter()
        await session.observe()
        milliseconds.append(1000 * (time.perf_counter() - started))
    answer = json.loads(str(await session.inspect(_source(), await _accessible(session))))
    differences = tuple(
        Difference(name, one["kind"], one["what"], one["why"], one["reason"]) for one in answer["differences"]
    )
    return _Seen(answer["found"], answer["told"], min(milliseconds), differences)


async def _accessible(session: ChromiumSession) -> list[int]:
    """The nodes that the accessibility tree calls controls."""
    protocol = await session.page.context.new_cdp_session(session.page)
    nodes = (await protocol.send("Accessibility.getFullAXTree"))["nodes"]
    await protocol.detach()
    found = (
        node.get("backendDOMNodeId")
        for node in nodes
        if not node["ignored"] and ROLES.fullmatch(node["role"].get("value", ""))
    )
    return [number for number in found if number is not None]


def _source() -> str:
    text = resources.files("clickgrad.bench").joinpath("eyes.js").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))


# --- the pages ---


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = partial(_Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def _names(folder: Path) -> list[str]:
    """Those that need no library: such as are not there would be seen without their scripts."""
    return sorted(path.name for path in folder.glob("*.html") if "/npm/" not in path.read_text("utf-8"))


async def _zoo(folder: Path, pages: Sequence[str]) -> AsyncIterator[tuple[str, ChromiumSession]]:
    with _served(folder) as address:
        async with Browser({"zoo.localhost": address}) as browser:
            for page in pages:
                async with _opened(browser, f"http://zoo.localhost/{page}") as session:
                    yield f"zoo/{page.removesuffix('.html')}", session


async def _miniwob() -> AsyncIterator[tuple[str, ChromiumSession]]:
    tasks = {task.template: task for task in load_tasks("miniwob", "all")}
    with Miniwob() as pages:
        async with Browser(pages.hosts) as browser:
            for template, task in sorted(tasks.items()):
                game = pages.begin()
                async with _opened(browser, task.start_url, game.headers) as session:
                    yield f"miniwob/{template}", session
                pages.forget(game)


async def _pocket() -> AsyncIterator[tuple[str, ChromiumSession]]:
    """A page of every kind on which a task begins; addresses that differ in numbers and names only are one kind."""
    kinds: dict[tuple[str, bool], tuple[str, str | None]] = {}
    for task in load_tasks("pocket", "all"):
        for url in task.start_urls:
            kinds.setdefault((_kind(url), task.user is None), (url, task.user))
    with Arena() as arena:
        async with Browser(arena.hosts) as browser:
            for (kind, _), (url, user) in sorted(kinds.items()):
                async with AsyncExitStack() as stack:
                    world = arena.fork()
                    stack.callback(world.close)
                    cookies = world.login(user) if user else ()
                    session = await browser.open(url, world.headers, cookies)
                    stack.push_async_callback(session.close)
                    yield f"pocket/{kind}", session


def _kind(url: str) -> str:
    """
    >>> _kind("http://shop.localhost/product/17?tab=reviews")
    'shop.localhost/product/N'
    """
    parts = urlsplit(url)
    return f"{parts.hostname}{re.sub(r'[0-9]+', 'N', parts.path)}"


@asynccontextmanager
async def _opened(browser: Browser, url: str, headers: dict[str, str] | None = None) -> AsyncIterator[ChromiumSession]:
    session = await browser.open(url, headers)
    try:
        yield session
    finally:
        await session.close()

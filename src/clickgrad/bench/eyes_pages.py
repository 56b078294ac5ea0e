"""The pages of `bench eyes`, each in a session of its own: the zoo, MiniWoB++, every route of Pocket Arena."""

from __future__ import annotations

import json
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from starlette.routing import Match, Route

from clickgrad.browser.chromium_session import ChromiumSession
from clickgrad.browser.pool import Browser
from clickgrad.tasks.suites import load_tasks
from clickgrad.worlds import Arena
from clickgrad.worlds.miniwob import Miniwob

SITES = ("admin", "code", "forum", "map", "shop")
# Where links lead, and forms that only ask.
LINKS = """(nodes, { dom }) => {
  const asking = [...dom.queryAllOf(document, "form:not([method=post i])")].map((form) => `${dom.getAttribute(form, "action") || ""}?q=a`);
  const links = [...dom.queryAllOf(document, "a[href]")].map((link) => dom.getAttribute(link, "href"));
  return JSON.stringify([...links, ...asking].map((place) => new URL(place, location.href).href));
}"""  # noqa: E501
VISITS = 2  # of a route: not every page of a kind has the links that another has

Opened = tuple[str, ChromiumSession]


@dataclass(frozen=True)
class Zoo:
    folder: Path
    libraries: Path  # of npm, by name and version; pages that ask for others are left out

    @cached_property
    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.html") if self._is_whole(path))

    def _is_whole(self, page: Path) -> bool:
        wanted = {part.partition("/")[0] for part in page.read_text("utf-8").split("/npm/")[1:]}
        return all((self.libraries / library).is_dir() for library in wanted)

    async def pages(self) -> AsyncIterator[Opened]:
        with _served(self) as address:
            async with Browser({"zoo.localhost": address}) as browser:
                for name in self.names:
                    async with _opened(browser, f"http://zoo.localhost/{name}") as session:
                        yield f"zoo/{name.removesuffix('.html')}", session


class _Handler(SimpleHTTPRequestHandler):
    """Pages of the zoo; libraries below /npm/."""

    def __init__(self, zoo: Zoo, *args: object) -> None:
        self._zoo = zoo
        super().__init__(*args, directory=str(zoo.folder))  # type: ignore[arg-type]

    def translate_path(self, path: str) -> str:
        place = super().translate_path(path)
        inside = Path(place).relative_to(self._zoo.folder.absolute())
        return str(self._zoo.libraries.joinpath(*inside.parts[1:])) if inside.parts[:1] == ("npm",) else place

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _served(zoo: Zoo) -> Iterator[str]:
    whole = Zoo(zoo.folder.absolute(), zoo.libraries.absolute())
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, whole)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


async def miniwob_pages() -> AsyncIterator[Opened]:
    tasks = {task.template: task for task in load_tasks("miniwob", "all")}
    with Miniwob() as pages:
        async with Browser(pages.hosts) as browser:
            for template, task in sorted(tasks.items()):
                game = pages.begin()
                async with _opened(browser, task.start_url, game.headers) as session:
                    yield f"miniwob/{template}", session
                pages.forget(game)


async def pocket_pages() -> AsyncIterator[Opened]:
    """Pages of every route, for somebody logged in and for nobody: where tasks begin, and where links lead."""
    waiting = deque((url, task.user) for task in load_tasks("pocket", "all") for url in task.start_urls)
    waiting.extend((f"http://{site}.localhost/", None) for site in SITES)
    seen: Counter[tuple[str, bool]] = Counter()
    visited: set[tuple[str, str | None]] = set()
    with Arena() as arena:
        async with Browser(arena.hosts) as browser:
            while waiting:
                url, user = waiting.popleft()
                route = page_route(url)
                if not route or (url, user) in visited or seen[route, user is None] >= VISITS:
                    continue
                seen[route, user is None] += 1
                visited.add((url, user))
                world = arena.fork()
                try:
                    session = await browser.open(url, world.headers, world.login(user) if user else ())
                    yield f"pocket/{route}", session
                    links = json.loads(str(await session.inspect(LINKS, [])))
                    waiting.extend((link, user) for link in links)
                    await session.close()
                finally:
                    world.close()


def page_route(url: str) -> str:
    """
    >>> page_route("http://shop.localhost/product/17?tab=reviews")
    'shop/product/{id}'
    """
    place = urlsplit(url)
    site = (place.hostname or "").removesuffix(".localhost")
    if site not in SITES:
        return ""
    scope = {"type": "http", "method": "GET", "path": place.path or "/"}
    routes = import_module(f"clickgrad.worlds.{site}.app").app.routes
    found = (route.path for route in routes if isinstance(route, Route) and route.matches(scope)[0] is Match.FULL)
    path = next(found, "")
    return "" if path == "/{rest:path}" or path.endswith((".css", ".js")) else f"{site}{path}"


@asynccontextmanager
async def _opened(browser: Browser, url: str, headers: dict[str, str] | None = None) -> AsyncIterator[ChromiumSession]:
    session = await browser.open(url, headers)
    try:
        yield session
    finally:
        await session.close()

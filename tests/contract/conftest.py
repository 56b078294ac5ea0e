"""Servers, browsers and the one site that the fake and Chromium both show."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from npm_cache import CACHE
from zoo import PAGES as ZOO

from clickgrad.browser import Browser, FakeBrowser, FakeElement, FakePage, find_chromium

PAGES = Path(__file__).parent / "pages"
ORIGIN = "http://shop.localhost"

FAKE_SITE = {
    f"{ORIGIN}/": FakePage(
        "Home",
        (
            "Welcome to the shop",
            FakeElement("link", "Mugs", to=f"{ORIGIN}/mugs"),
            FakeElement("textbox", "Search", to=f"{ORIGIN}/results"),
            FakeElement("select", "Sort by", value="Name", options=("Name", "Price low to high")),
            FakeElement("checkbox", "Gift"),
            FakeElement("button", "Buy", disabled=True),
        ),
    ),
    f"{ORIGIN}/mugs": FakePage("Mugs", ("All mugs", FakeElement("link", "Home", to=f"{ORIGIN}/"), "Blue mug, $12.50")),
    f"{ORIGIN}/results": FakePage("Results", ("Search results", FakeElement("link", "Home", to=f"{ORIGIN}/"))),
    f"{ORIGIN}/covered": FakePage(
        "Covered",
        (
            "A note lies over the button",
            FakeElement("button", "Buy", covered=True),
            FakeElement("link", "Home", to=f"{ORIGIN}/"),
        ),
    ),
    f"{ORIGIN}/long": FakePage(
        "Long",
        (*(f"Item {number}" for number in range(60)), FakeElement("link", "The end", to=f"{ORIGIN}/")),
        screen=18,
    ),
}


@dataclass
class Site:
    """A loopback server. `/never` is answered only when the server ends, `/empty` with 204: stay where you are."""

    address: str
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    ending: threading.Event = field(default_factory=threading.Event)


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet per answer, or delayed acknowledgements cost 40 ms each

        def do_GET(self) -> None:
            site.requests.append((self.path, dict(self.headers)))
            path = urlsplit(self.path).path
            if path == "/never":
                site.ending.wait()
            if path == "/empty":
                self.send_response(204)
                self.end_headers()
                return
            file = PAGES / f"{path.strip('/') or 'home'}.html"
            body = file.read_bytes() if file.is_file() else b"not found"
            self.send_response(200 if file.is_file() else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that ends leaves broken pipes behind."""


def _serve() -> Iterator[Site]:
    site = Site("")
    with _Server(("127.0.0.1", 0), _handler(site)) as server:
        site.address = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield site
        site.ending.set()
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    yield from _serve()


@pytest.fixture
def other_site() -> Iterator[Site]:
    yield from _serve()


@pytest.fixture(scope="session")
def hosts(site: Site) -> dict[str, str]:
    if find_chromium() is None:
        pytest.skip("no Chromium on this machine")
    return {"shop.localhost": site.address}


@pytest.fixture(scope="session")
async def chromium(anyio_backend: str, hosts: dict[str, str]) -> AsyncIterator[Browser]:
    async with Browser(hosts, timeout_s=6.0) as browser:
        yield browser


@pytest.fixture
def fake() -> FakeBrowser:
    return FakeBrowser(FAKE_SITE)


@pytest.fixture
def fake_html() -> FakeBrowser:
    return FakeBrowser(FAKE_SITE, "html")


class _ZooHandler(SimpleHTTPRequestHandler):
    """Pages by their names, libraries of npm below /npm/."""

    def translate_path(self, path: str) -> str:
        place = urlsplit(path).path
        if place.startswith("/npm/"):
            return str(CACHE / place.removeprefix("/npm/"))
        return str(ZOO / f"{place.strip('/')}.html")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def zoo_hosts() -> Iterator[dict[str, str]]:
    if find_chromium() is None:
        pytest.skip("no Chromium on this machine")
    with _Server(("127.0.0.1", 0), _ZooHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield {"zoo.localhost": f"127.0.0.1:{server.server_address[1]}"}
        server.shutdown()
        thread.join()

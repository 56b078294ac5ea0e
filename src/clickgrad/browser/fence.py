"""The fence: which places a session may reach, in two walls below every page, and what was stopped at them.

The outer wall is the browser's: its resolver knows the given hosts and no other name, not even an address literal. The
inner wall is the session's: Chromium goes straight to the session's hosts and is told a proxy for everything else, one
that does not exist. So a navigation, a redirect, a sub-resource or a socket to another place fails before there is a
connection, whatever made it, and nobody is asked about the requests that are allowed: they cost nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from clickgrad.browser.snapshot import clean
from clickgrad.types import BlockedHost

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page, ProxySettings

NOWHERE = "http://outside.invalid:9"  # the outer wall does not resolve it, so it is not even looked for
OTHER_HOSTS = "(other hosts)"
_HOSTS_TOLD = 32  # a page can make up names without end
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
_LEAVES_NO_MACHINE = ("about", "blob", "data")


def resolver_rules(hosts: Mapping[str, str]) -> str:
    """The outer wall. A host without a port stands for port 80.

    >>> resolver_rules({"shop.localhost": "127.0.0.1:8000"})
    'MAP shop.localhost:80 127.0.0.1:8000, MAP * ~NOTFOUND'
    """
    rules = [f"MAP {_entry(*_place(host))} {address}" for host, address in hosts.items()]
    return ", ".join([*rules, "MAP * ~NOTFOUND"])


@dataclass(frozen=True, slots=True)
class Fence:
    """The inner wall, by host and port.

    >>> fence = Fence.around(["shop.localhost", "127.0.0.1:7770"])
    >>> fence.allows("http://shop.localhost/cart"), fence.allows("http://127.0.0.1:7771/")
    (True, False)
    """

    places: frozenset[tuple[str, int]]

    @classmethod
    def around(cls, hosts: Iterable[str]) -> Fence:
        return cls(frozenset(map(_place, hosts)))

    def allows(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS.get(parts.scheme)
        except ValueError:  # what a page asks for need not be an address
            return False
        if parts.scheme in _LEAVES_NO_MACHINE:
            return True
        return parts.scheme in _PORTS and (parts.hostname, port) in self.places

    @property
    def proxy(self) -> ProxySettings:
        # Loopback would go around any proxy by itself but for the first word, which the later ones overrule.
        return {
            "server": NOWHERE,
            "bypass": ",".join(["<-loopback>", *sorted(_entry(*place) for place in self.places)]),
        }


class BlockedRequests:
    """Counts what a session's pages asked for in vain because it lies outside."""

    def __init__(self, fence: Fence, context: BrowserContext) -> None:
        self._fence = fence
        self._by_host: Counter[str] = Counter()
        context.on("requestfailed", lambda request: self._note(request.url))

    def listed(self) -> tuple[BlockedHost, ...]:
        return tuple(BlockedHost(host, count) for host, count in self._by_host.most_common())

    def watch_sockets(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._note(socket.url))

    def _note(self, url: str) -> None:
        if self._fence.allows(url):
            return
        host = _named(url)
        known = host in self._by_host or len(self._by_host) < _HOSTS_TOLD
        self._by_host[host if known else OTHER_HOSTS] += 1


def _named(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return OTHER_HOSTS
    return clean(parts.netloc or parts.scheme)


def _place(host: str) -> tuple[str, int]:
    parts = urlsplit(f"//{host}")
    return parts.hostname or "", parts.port or 80


def _entry(name: str, port: int) -> str:
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"

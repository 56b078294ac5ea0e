"""The owner of the sites: builds the universe, runs the server, forks worlds and ends them."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from clickgrad.errors import WorldError
from clickgrad.worlds.admin import ADMIN
from clickgrad.worlds.code import CODE
from clickgrad.worlds.forum import FORUM
from clickgrad.worlds.front import front_page
from clickgrad.worlds.gateway import gateway
from clickgrad.worlds.map import MAP
from clickgrad.worlds.server import ThreadedServer
from clickgrad.worlds.shop import SHOP
from clickgrad.worlds.universe import build_universe
from clickgrad.worlds.world import World

SITES = (SHOP, ADMIN, CODE, FORUM, MAP)


class Arena:
    """All sites, served while the `with` block lasts.

    >>> with Arena() as arena:
    ...     world = arena.fork()
    ...     world.query("SELECT name FROM customers WHERE id = 1")
    (('Emma Lopez',),)

    `default_world=True` also lets in requests that name no world: they share one, for a person with a plain
    browser, who finds a front page at the bare address.
    """

    def __init__(self, seed: int = 0, *, port: int = 0, default_world: bool = False) -> None:
        self._universe = build_universe(SITES, seed)
        self._port = port
        self._front = front_page(SITES, seed) if default_world else None
        self._default: World | None = None
        self._worlds: dict[str, World] = {}
        self._lock = threading.Lock()
        self._server: ThreadedServer | None = None

    def __enter__(self) -> Self:
        server = ThreadedServer(gateway(SITES, self._find, self._front), self._port)
        server.start()
        self._server = server
        if self._front is not None:
            self._default = self.fork()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server, self._server = self._running(), None
        for world in tuple(self._worlds.values()):
            world.close()
        server.stop()

    @property
    def hosts(self) -> dict[str, str]:
        """Public host name -> the address that serves it. Pages are at `http://<host>/`, without a port."""
        return {site.host: self._running().address for site in SITES}

    @property
    def image_bytes(self) -> int:
        """How large a world is when it begins."""
        return len(self._universe.image)

    def fork(self) -> World:
        """A new world in the start state, alive until it or the arena is closed."""
        self._running()
        world = World(self._universe, SITES, on_close=self._forget)
        with self._lock:
            self._worlds[world.token] = world
        return world

    def _running(self) -> ThreadedServer:
        if self._server is None:
            raise WorldError("the arena is not open: use it in a `with` block")
        return self._server

    def _find(self, token: str | None) -> World | None:
        return self._default if token is None else self._worlds.get(token)

    def _forget(self, world: World) -> None:
        with self._lock:
            self._worlds.pop(world.token, None)

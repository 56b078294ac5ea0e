"""Clients of a bundled site, each in a world of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import httpx

from clickgrad.worlds import Arena, World
from clickgrad.worlds.people import DEFAULT_USER

OpenSite = Callable[..., httpx.Client]  # by a world, logged in as `user` unless that is None


@contextmanager
def site_clients(arena: Arena, host: str) -> Iterator[OpenSite]:
    with ExitStack() as clients:

        def opened(world: World, user: str | None = DEFAULT_USER) -> httpx.Client:
            known = world.login(user) if user else ()
            client = httpx.Client(
                base_url=f"http://{arena.hosts[host]}",
                headers={**world.headers, "host": host},
                cookies={cookie.name: cookie.value for cookie in known if cookie.host == host},
                verify=False,  # reading the certificates takes longer than a test, and there is nothing to verify
                trust_env=False,
            )
            return clients.enter_context(client)

        yield opened

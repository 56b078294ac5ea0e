"""The front door of the one server: the host names the site, a header names the world.

The header is set on the browser context, out of the page's reach. Nothing of a world but its pages can be had here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from clickgrad.worlds.site import Site

if TYPE_CHECKING:
    from clickgrad.worlds.world import World

WORLD_HEADER = "x-clickgrad-world"
PLAIN_HOSTS = ("localhost", "127.0.0.1")


def gateway(
    sites: Sequence[Site], find_world: Callable[[str | None], World | None], front: ASGIApp | None = None
) -> ASGIApp:
    """An app that hands each request to its site with `scope["world"]` set. `front` answers at plain addresses."""
    apps: Mapping[str, ASGIApp] = {site.host: site.app for site in sites}

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").partition(":")[0].lower()
        app = apps.get(host)
        world = find_world(headers.get(WORLD_HEADER))
        if front is not None and host in PLAIN_HOSTS:
            await front(scope, receive, send)
        elif app is None:
            await PlainTextResponse("There is no such site here.", 421)(scope, receive, send)
        elif world is None:
            await PlainTextResponse("This request belongs to no world.", 421)(scope, receive, send)
        else:
            await app({**scope, "world": world}, receive, send)

    return serve

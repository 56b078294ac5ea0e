"""Who may ask the viewer: only pages that it served itself, under a name that cannot be somebody else's."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Guard:
    """Host and Origin of every request, and what every answer says about itself.

    A page elsewhere may have its own name point to this address, or send forms and requests here through the visitor's
    browser. The first comes with a name that is not ours in Host, the second with an Origin that is not ours. A numeric
    address belongs to nobody's domain, so it may stand in Host when the viewer listens to other machines, too.
    """

    def __init__(self, app: ASGIApp, only_loopback: bool) -> None:
        self._app = app
        self._only_loopback = only_loopback
        self._names = LOOPBACK if only_loopback else LOOPBACK | {socket.gethostname().lower(), socket.getfqdn().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_ours(host):
            await PlainTextResponse("Invalid host header", 400)(scope, receive, send)
            return
        if (origin is None and scope["method"] not in ("GET", "HEAD")) or origin not in (None, f"http://{host}"):
            await PlainTextResponse("Only pages of this viewer may ask", 403)(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = MutableHeaders(scope=message)
                told.setdefault("Content-Security-Policy", POLICY)
                told["X-Content-Type-Options"] = "nosniff"
                told["Referrer-Policy"] = "no-referrer"
                told["Cross-Origin-Resource-Policy"] = "same-origin"
                told["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or (not self._only_loopback and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

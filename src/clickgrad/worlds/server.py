"""An ASGI app served from a thread of its own on the loopback address; start and stop have deadlines."""

from __future__ import annotations

import asyncio
import socket
import threading

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from clickgrad.errors import UserError, WorldError

START_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 5.0
THREAD = "clickgrad-worlds"


class _AnnouncingServer(uvicorn.Server):
    """uvicorn's server, telling another thread when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


class ThreadedServer:
    """Listens from the moment it is made; `stop` must follow `start`."""

    def __init__(self, app: ASGIApp, port: int = 0) -> None:
        self._socket = _bind(port)
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(
            _as_proxy(app),
            log_config=None,
            log_level="critical",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            date_header=False,  # identical histories give identical bytes
            timeout_graceful_shutdown=1,
        )
        self._server = _AnnouncingServer(config)
        self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)

    def start(self) -> None:
        self._thread.start()
        if not self._server.up.wait(START_TIMEOUT_S):
            self._server.should_exit = True
            raise WorldError(f"the sites did not start within {START_TIMEOUT_S:.0f} s")

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(STOP_TIMEOUT_S)
        self._socket.close()
        if self._thread.is_alive():
            raise WorldError(f"the sites did not stop within {STOP_TIMEOUT_S:.0f} s")

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))


def _as_proxy(app: ASGIApp) -> ASGIApp:
    """Also takes requests as a proxy gets them, `GET http://shop.localhost/cart`. A browser that has this server for
    its proxy needs no names resolved, and reaches nothing else (interop/browsergym_tasks.py)."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("http://"):
            path = "/" + scope["path"].removeprefix("http://").partition("/")[2]
            raw = b"/" + scope["raw_path"].removeprefix(b"http://").partition(b"/")[2]
            scope = {**scope, "path": path, "raw_path": raw}
        await app(scope, receive, send)

    return serve


def _bind(port: int) -> socket.socket:
    # The protocol is named because asyncio sets TCP_NODELAY only then; without it every page waits 40 ms for an ACK.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UserError(f"cannot listen on port {port}: {error}; choose another port") from error
    return listener

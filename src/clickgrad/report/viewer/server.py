"""The viewer's server: who may ask, what is answered, and that nothing outside of the folder ever is."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
from importlib import resources
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clickgrad.errors import UserError
from clickgrad.report.page import read_report
from clickgrad.report.runs import links_out
from clickgrad.report.studies import read_study
from clickgrad.report.viewer.library import Filter, Library, NotHere, whole_number

STATIC = {
    "index.html": "text/html",
    "style.css": "text/css",
    "icon.svg": "image/svg+xml",
    **dict.fromkeys(("app.js", "dom.js", "runs.js", "list.js", "metrics.js", "episode.js"), "text/javascript"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def view(root: Path, host: str, port: int) -> None:
    """Serve until interrupted."""
    if not root.is_dir():
        raise UserError(f"there is no folder {root}: give a run folder, or a folder of runs")
    listener = _bind(host, port)
    config = uvicorn.Config(
        make_app(root, only_loopback=_is_loopback(host)),
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    name = f"[{host}]" if ":" in host else host
    print(f"http://{name}:{listener.getsockname()[1]}/")
    if not _is_loopback(host):
        print(f"Everyone who reaches {host} can read what lies in {root}.")
    print("Ctrl-C ends it; it changes nothing in the runs but keeps an index beside their trajectories.", flush=True)
    try:
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
    except KeyboardInterrupt:
        return
    finally:
        listener.close()


def make_app(root: Path, only_loopback: bool = True) -> Starlette:
    pages = _Pages(Library(root))
    # A page elsewhere that has its own name point to 127.0.0.1 must not read runs through the visitor's browser.
    hosts = ["127.0.0.1", "localhost", "[::1]"] if only_loopback else ["*"]
    return Starlette(
        routes=[
            Route("/", pages.index),
            Route("/static/{name}", pages.static),
            Route("/api/runs", pages.runs),
            Route("/api/metrics", pages.metrics),
            Route("/api/episodes", pages.episodes),
            Route("/api/episode", pages.episode),
            Route("/screenshot", pages.screenshot),
            Route("/report", pages.report),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts), Middleware(_Headers)],
        exception_handlers={NotHere: _not_here},
    )


class _Json(JSONResponse):
    """In ASCII: half a character, which a record may hold, has no other encoding."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class _Pages:
    """Handlers run one after the other on the event loop, so the library needs no lock."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def index(self, request: Request) -> Response:
        return _static("index.html")

    async def static(self, request: Request) -> Response:
        return _static(request.path_params["name"])

    async def runs(self, request: Request) -> Response:
        self._library.refresh()
        library = self._library
        return _Json({"root": library.root.name, "runs": library.runs(), "pending": library.pending})

    async def metrics(self, request: Request) -> Response:
        self._library.refresh()
        return _Json(self._library.metrics(request.query_params.get("run", ".")))

    async def episodes(self, request: Request) -> Response:
        asked = request.query_params
        wanted = Filter(**{name: asked.get(name, "") for name in ("site", "reward", "end", "step", "task", "text")})
        start = whole_number(asked.get("start", "0"))
        if start is None:
            return _Json({"error": "start is no number"}, status_code=400)
        self._library.refresh()
        return _Json(self._library.episodes(asked.get("run", "."), wanted, start))

    async def episode(self, request: Request) -> Response:
        self._library.refresh()
        return _Json(self._library.episode(request.query_params.get("id", "")))

    async def screenshot(self, request: Request) -> Response:
        asked = request.query_params
        self._library.refresh()
        path, kind = self._library.screenshot(asked.get("run", "."), asked.get("name", ""))
        return FileResponse(path, media_type=kind)

    async def report(self, request: Request) -> Response:
        self._library.refresh()
        run = self._library.run(request.query_params.get("run", "."))
        if links := links_out(run.path):
            raise NotHere(f"no report: {links[0]!r} leads out of the run")
        report = read_study(run.path) or read_report(run.path)
        page = report.html(run.path.name).encode("utf-8", "replace")  # half a character is no text
        return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


class _Headers:
    """What every answer says about itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                headers["Cross-Origin-Resource-Policy"] = "same-origin"
                headers["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, send_with_headers)


async def _not_here(request: Request, error: Exception) -> Response:
    return _Json({"error": str(error)}, status_code=404)


def _static(name: str) -> Response:
    if name not in STATIC:
        raise NotHere(f"no file {name!r}")
    content = resources.files("clickgrad.report.viewer").joinpath("static", name).read_bytes()
    return Response(content, media_type=STATIC[name])


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        raise UserError(f"cannot listen on {host}: {error}; give another --host") from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror}; choose another --port") from None
    return listener

"""The viewer's server: who may ask, what is answered, and that nothing outside of the folder ever is."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import socket
import sys
import webbrowser
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from clickgrad.errors import ClickgradError, UserError
from clickgrad.report.index import read_json
from clickgrad.report.page import read_report
from clickgrad.report.runs import links_out
from clickgrad.report.studies import read_study
from clickgrad.report.viewer.errors import NotHere
from clickgrad.report.viewer.guard import Guard
from clickgrad.report.viewer.library import Filter, Library, whole_number
from clickgrad.report.viewer.live import LivePlaces, Studio, stream
from clickgrad.report.viewer.plainly import tell_plainly

STATIC = {
    "index.html": "text/html",
    "style.css": "text/css",
    "icon.svg": "image/svg+xml",
    **dict.fromkeys(
        ("app.js", "dom.js", "runs.js", "list.js", "metrics.js", "episode.js", "tree.js", "live.js", "hands.js"),
        "text/javascript",
    ),
}
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
MOST_ASKED = 100_000  # bytes of a wish


Draw = Callable[[Path, str], Awaitable[int]]  # pictures of a stored episode, by its file and name; how many


@dataclass(frozen=True, slots=True)
class Extras:
    """What a viewer can do besides showing files, where whoever opens it has a browser and policies."""

    draw: Draw | None = None
    studio: Studio | None = None


def view(root: Path, host: str, port: int, extras: Extras | None = None, browse: bool = False) -> None:
    """Serve until interrupted."""
    if not root.is_dir():
        raise UserError(f"there is no folder {root}: give a run folder, or a folder of runs")
    listener = bind(host, port)
    address = address_of(listener, host)
    print(address)
    if not is_loopback(host):
        print(f"Everyone who reaches {host} can read what lies in {root}.")
    print(
        "Ctrl-C ends it; it changes nothing in the runs but keeps an index beside their trajectories, and pictures "
        "that you ask for.",
        flush=True,
    )
    if browse:
        open_browser(address)
    try:
        asyncio.run(uvicorn.Server(server_config(make_app(root, is_loopback(host), extras))).serve(sockets=[listener]))
    except KeyboardInterrupt:
        return
    finally:
        listener.close()


def server_config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=1,
    )


def make_app(root: Path, only_loopback: bool = True, extras: Extras | None = None) -> Starlette:
    pages = _Pages(Library(root), extras or Extras())
    return Starlette(
        routes=[
            Route("/", pages.index),
            Route("/static/{name}", pages.static),
            Route("/api/runs", pages.runs),
            Route("/api/metrics", pages.metrics),
            Route("/api/episodes", pages.episodes),
            Route("/api/episode", pages.episode),
            Route("/api/told", pages.told),
            Route("/api/live", pages.live),
            Route("/api/draw", pages.draw, methods=["POST"]),
            Route("/live/stream", pages.stream),
            Route("/live/picture", pages.live_picture),
            Route("/live/ask", pages.ask, methods=["POST"]),
            Route("/screenshot", pages.screenshot),
            Route("/report", pages.report),
        ],
        middleware=[Middleware(Guard, only_loopback=only_loopback)],
        exception_handlers={NotHere: _not_here},
    )


class _Json(JSONResponse):
    """In ASCII: half a character, which a record may hold, has no other encoding."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class _Pages:
    """Handlers run one after the other on the event loop, so the library needs no lock."""

    def __init__(self, library: Library, extras: Extras) -> None:
        self._library = library
        self._extras = extras
        self._places = LivePlaces(library.root)

    async def index(self, request: Request) -> Response:
        return _static("index.html")

    async def static(self, request: Request) -> Response:
        return _static(request.path_params["name"])

    async def runs(self, request: Request) -> Response:
        self._library.refresh()
        library = self._library
        studio, draws = self._extras.studio is not None, self._extras.draw is not None
        told = {"root": library.root.name, "runs": library.runs(), "pending": library.pending}
        return _Json(told | {"studio": studio, "draws": draws})

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

    async def told(self, request: Request) -> Response:
        """The verdict in words: apart, because names have to be looked up, which takes a moment the first time."""
        self._library.refresh()
        judged = self._library.judged(request.query_params.get("id", ""))
        return _Json({"plainly": await asyncio.to_thread(tell_plainly, *judged)})

    async def live(self, request: Request) -> Response:
        self._look()
        self._places.touch()
        return _Json({"episodes": self._places.listed()})

    async def stream(self, request: Request) -> Response:
        self._look()
        names = [name for name in request.query_params.getlist("id") if name][:2]
        if not names and self._extras.studio is None:
            raise NotHere("nothing is played here: name a running episode")
        told = stream(self._places, names, self._extras.studio if not names else None)
        return StreamingResponse(told, media_type="text/event-stream")

    async def live_picture(self, request: Request) -> Response:
        self._look()
        picture = self._places.picture(request.query_params.get("id", ""))
        return FileResponse(picture, media_type="image/jpeg")

    async def ask(self, request: Request) -> Response:
        """A wish of the person in front of the page."""
        if self._extras.studio is None:
            raise NotHere("nothing is played here")
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_ASKED:
                return _Json({"error": "that is too long"}, status_code=413)
        try:
            wish = read_json(body)
        except (ValueError, RecursionError):
            wish = None
        if not isinstance(wish, dict):
            return _Json({"error": "that is no JSON object"}, status_code=400)
        return _Json(await self._extras.studio.ask(wish))

    async def draw(self, request: Request) -> Response:
        self._library.refresh()
        if self._extras.draw is None:
            raise NotHere("this viewer has no browser to draw with: start it by `clickgrad view`")
        file, episode = self._library.locate(request.query_params.get("id", ""))
        try:
            return _Json({"pictures": await self._extras.draw(file, episode)})
        except ClickgradError as error:
            return _Json({"error": str(error)}, status_code=409)

    def _look(self) -> None:
        self._library.refresh(0.0)
        self._places.look_at(self._library.folders)

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


async def _not_here(request: Request, error: Exception) -> Response:
    return _Json({"error": str(error)}, status_code=404)


def _static(name: str) -> Response:
    if name not in STATIC:
        raise NotHere(f"no file {name!r}")
    content = resources.files("clickgrad.report.viewer").joinpath("static", name).read_bytes()
    return Response(content, media_type=STATIC[name])


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address_of(listener: socket.socket, host: str) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}/"


def open_browser(address: str) -> bool:
    """In the user's own browser, where there is a display. A browser in the terminal would take it over."""
    has_display = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    try:
        return bool(has_display) and webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


def bind(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise UserError(f"--port {port}: give a number from 0 to 65535; 0 takes any free one")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        raise UserError(f"cannot listen on {host}: {error}; give another --host") from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen()  # who comes before the server is up waits, and is not refused
    except OSError as error:
        listener.close()
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror}; choose another --port") from None
    return listener

"""MiniWoB++ as a site: the pages of the PyPI package `miniwob`, each started by its seed. Knows no tasks.

Appended to the pages' own core.js, a script of ours starts the problem and tells this server what the page asks for
and, when it is over, the reward it gave. Which game a page belongs to is told by a header that pages cannot read.
"""

from __future__ import annotations

import re
import secrets
import threading
from dataclasses import dataclass, field
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from clickgrad.errors import UserError
from clickgrad.worlds.gateway import WORLD_HEADER
from clickgrad.worlds.server import ThreadedServer

HOST = "miniwob.localhost"


@dataclass(slots=True)
class Game:
    """One episode on one page, as the page tells it."""

    token: str = field(default_factory=lambda: secrets.token_hex(8))
    started: threading.Event = field(default_factory=threading.Event)
    utterance: str = ""
    reward: float | None = None  # without the share that time takes; None until the page is done

    @property
    def headers(self) -> dict[str, str]:
        return {WORLD_HEADER: self.token}


class Miniwob:
    """The pages, served while the `with` block lasts."""

    def __init__(self) -> None:
        folder = html_folder()
        self._games: dict[str, Game] = {}
        self._pages = {name: folder / "miniwob" / f"{name}.html" for name in page_names()}
        self._whole: dict[str, str] = {}  # pages with their scripts, by name
        routes = [
            Route("/miniwob/{name}.html", self._serve_page),
            Route("/told", self._hear, methods=["POST"]),
            Mount("/", StaticFiles(directory=folder)),
        ]
        self._server = ThreadedServer(Starlette(routes=routes))

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()

    @property
    def hosts(self) -> dict[str, str]:
        return {HOST: self._server.address}

    def begin(self) -> Game:
        game = Game()
        self._games[game.token] = game
        return game

    def forget(self, game: Game) -> None:
        self._games.pop(game.token, None)

    async def _serve_page(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._pages:
            return Response(status_code=404)
        if name not in self._whole:
            self._whole[name] = _with_scripts(self._pages[name])
        return Response(self._whole[name], media_type="text/html")

    async def _hear(self, request: Request) -> Response:
        fact = await request.json()
        game = self._games.get(request.headers.get(WORLD_HEADER, ""))
        if game is None:
            return Response(status_code=421)
        if "utterance" in fact and not game.started.is_set():
            game.utterance = fact["utterance"]
            game.started.set()
        if "reward" in fact and game.reward is None:  # the first end is the episode's
            game.reward = float(fact["reward"])
        return Response(status_code=204)


def html_folder() -> Path:
    # Not imported: the package itself wants selenium, and only its pages are used.
    package = find_spec("miniwob")
    if package is None or package.origin is None:
        raise UserError("the suite miniwob needs the package of that name: pip install --no-deps miniwob")
    return Path(package.origin).parent / "html"


def page_names() -> tuple[str, ...]:
    return tuple(sorted(page.stem for page in (html_folder() / "miniwob").glob("*.html")))


def page_url(name: str, seed: int) -> str:
    return f"http://{HOST}/miniwob/{name}.html?seed={seed}"


def _with_scripts(page: Path) -> str:
    """The page in one piece: every session would have to ask for its scripts anew."""

    def script(tag: re.Match[str]) -> str:
        file = (page.parent / tag["path"]).resolve()
        text = file.read_text("utf-8") + (_load_script() if file.name == "core.js" else "")
        if "<!--" in text:  # which means something else between HTML's tags
            return tag[0]
        return "<script>" + text.replace("</script", "<\\/script") + "</script>"

    def style(tag: re.Match[str]) -> str:
        return f"<style>{(page.parent / tag['path']).read_text('utf-8')}</style>"

    text = re.sub(r'<script src="(?P<path>[^":?]+\.js)"></script>', script, page.read_text("utf-8"))
    return re.sub(r'<link rel="stylesheet" type="text/css" href="(?P<path>[^"]+/core\.css)">', style, text)


def _load_script() -> str:
    return resources.files("clickgrad.worlds").joinpath("miniwob.js").read_text("utf-8")

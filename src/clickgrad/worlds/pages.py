"""How every site answers a request: who asks, for what, on which database, and how the answer is drawn.

Handlers are plain functions from a `Visit` to a response. They run inside one transaction of the visitor's world; a
`Refusal` undoes it and becomes an error page.

    PAGES = Pages("shop", Path(__file__).parent, find_customer, what_every_page_shows)
    app = PAGES.app([PAGES.get("/cart", cart), PAGES.post("/cart/{id}/remove", remove_item)])
"""

from __future__ import annotations

import mimetypes
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from clickgrad.worlds.site import SESSION_COOKIE, read_session, sign_session
from clickgrad.worlds.world import World

User = TypeVar("User")

MAX_FORM_BYTES = 64_000
MAX_FORM_FIELDS = 50
MAX_ID = 2**31


class Refusal(Exception):
    """The request cannot be served; the visitor is told why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class LoginNeeded(Exception):
    """The page is only for users who are logged in."""


NOT_FOUND = Refusal(404, "This page does not exist.")


@dataclass(frozen=True, slots=True)
class Visit(Generic[User]):
    db: sqlite3.Connection
    user: User | None
    url: str  # path and query
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]

    def require_user(self) -> User:
        if self.user is None:
            raise LoginNeeded
        return self.user

    def path_id(self, name: str = "id") -> int:
        """The `{id}` of the route; a page with a malformed id does not exist."""
        number = parse_count(self.path[name])
        if number is None:
            raise NOT_FOUND
        return number

    def typed(self, name: str) -> str:
        """A field of the form as the visitor filled it in, without the space around it."""
        return self.form.get(name, "").strip()


class Pages(Generic[User]):
    """One site's look: its templates and static files, its users, and what each of its pages shows besides its own."""

    def __init__(
        self,
        site: str,
        folder: Path,
        find_user: Callable[[sqlite3.Connection, int], User | None],
        frame: Callable[[Visit[User]], Mapping[str, object]],
    ) -> None:
        self._site = site
        self._find_user = find_user
        self._frame = frame
        self._static = {
            path.name: path.read_bytes() for path in sorted(folder.glob("*.css")) + sorted(folder.glob("*.js"))
        }
        self.templates = Environment(
            loader=FileSystemLoader(folder / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        self.templates.filters.update(money=money, day=day)

    def app(self, routes: Sequence[BaseRoute]) -> Starlette:
        """The site: its routes, its static files (`/style.css`, ...), and an error page for all the rest."""
        static = [Route(f"/{name}", self._serve_static(name)) for name in self._static]
        app = Starlette(routes=[*static, *routes, self.get("/{rest:path}", _unknown)])
        app.router.redirect_slashes = False
        return app

    def get(self, path: str, handler: Callable[[Visit[User]], Response]) -> Route:
        """A page."""
        return Route(path, self._endpoint(handler), methods=["GET"])

    def post(self, path: str, handler: Callable[[Visit[User]], Response]) -> Route:
        """What a form does."""
        return Route(path, self._endpoint(handler), methods=["POST"])

    def _endpoint(self, handler: Callable[[Visit[User]], Response]) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            try:
                form = await _read_form(request) if request.method == "POST" else {}
                return self._in_transaction(request, form, handler)
            except LoginNeeded:
                came_from = _url(request) if request.method == "GET" else "/"
                return redirect(f"/login?next={quote(came_from, safe='')}")
            except Refusal as refusal:
                status, message = refusal.status, refusal.message
                return self._in_transaction(
                    request, {}, lambda visit: self.render(visit, "error.html", status, message=message)
                )

        return serve

    def render(self, visit: Visit[User], template: str, status: int = 200, **values: object) -> Response:
        """`user` and what the frame gives are there in every template."""
        page = self.templates.get_template(template).render(user=visit.user, **self._frame(visit), **values)
        # no-store: going back shows the world as it is, not a page from the browser's memory.
        return HTMLResponse(page, status, headers={"cache-control": "no-store"})

    def login_form(self, visit: Visit[User]) -> Response:
        return self._login_page(visit, "", safe_next(visit.query.get("next", "")), "")

    def check_login(self, visit: Visit[User], field: str, sql: str, wrong: str) -> Response:
        """`sql` finds the id by what was typed into `field`, in lower case (?1), and the password (?2)."""
        name, target = visit.typed(field), safe_next(visit.form.get("next", ""))
        row = visit.db.execute(sql, (name.lower(), visit.form.get("password", ""))).fetchone()
        return self._login_page(visit, name, target, wrong) if row is None else self.log_in(row[0], target)

    def log_in(self, user_id: int, target: str) -> Response:
        response = redirect(safe_next(target))
        response.set_cookie(SESSION_COOKIE, sign_session(self._site, user_id), httponly=True, samesite="lax")
        return response

    def log_out(self, _: Visit[User]) -> Response:
        response = redirect("/")
        # An empty session cookie, not an expired one: the Expires header would carry the real time.
        response.set_cookie(SESSION_COOKIE, "", httponly=True, samesite="lax")
        return response

    def _login_page(self, visit: Visit[User], name: str, target: str, error: str) -> Response:
        return self.render(visit, "login.html", 422 if error else 200, name=name, next=target, error=error)

    def _in_transaction(
        self, request: Request, form: Mapping[str, str], handler: Callable[[Visit[User]], Response]
    ) -> Response:
        world: World = request.scope["world"]
        with world.transaction() as db:
            user_id = read_session(self._site, request.cookies.get(SESSION_COOKIE, ""))
            user = None if user_id is None else self._find_user(db, user_id)
            return handler(Visit(db, user, _url(request), request.path_params, dict(request.query_params), form))

    def _serve_static(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        kind = mimetypes.guess_type(name)[0]

        async def serve(_: Request) -> Response:
            return Response(self._static[name], media_type=kind, headers={"cache-control": "max-age=3600"})

        return serve


def redirect(path: str) -> Response:
    return RedirectResponse(path, 303)


def safe_next(path: str) -> str:
    """Only paths of this site: `//host` and `/\\host` would lead elsewhere."""
    local = path.startswith("/") and path[1:2] not in ("/", "\\") and path.isprintable() and path.isascii()
    return path if local else "/"


def parse_count(text: str) -> int | None:
    """A plain whole number, or None for anything else."""
    text = text.strip()
    if not (text.isascii() and text.isdecimal()) or len(text) > 10:
        return None
    return int(text) if int(text) < MAX_ID else None


def money(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def day(stamp: str) -> str:
    """2025-03-04 09:12 -> March 4, 2025."""
    when = date.fromisoformat(stamp[:10])
    return f"{_MONTHS[when.month - 1]} {when.day}, {when.year}"


def _unknown(_: Visit[User]) -> Response:
    raise NOT_FOUND


def _url(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


async def _read_form(request: Request) -> dict[str, str]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            raise Refusal(413, "The form is too large.")
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS))
    except ValueError:
        raise Refusal(400, "The form could not be read.") from None


# Spelled out because `calendar.month_name` follows the machine's locale.
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

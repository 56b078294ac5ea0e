"""Doubles of three WebArena sites and of the reset server, with just what the venue's tests touch.

Each is a server of its own on loopback: a shop with the interface for programs, a forum, code hosting. All have one
account, forms to log in, and pages that ask for it; `reset` takes back what was written and forgets who is logged in.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from clickgrad.worlds.server import ThreadedServer

NAME, PASSWORD = "emma", "s3cret-word"
MEMBERS = (("byteblaze", "Owner"), ("vinta", "Guest"))


@dataclass
class Site:
    """`known` holds the cookies of those who logged in."""

    login_path: str
    logins: int = 0
    known: set[str] = field(default_factory=set)
    written: list[str] = field(default_factory=list)
    on_pages: int = 0  # requests by someone who is logged in

    def page(self, title: str, body: str) -> Response:
        return HTMLResponse(f"<!doctype html><title>{title}</title><body>{body}</body>")

    def form(self, wrong: bool = False) -> Response:
        said = "<p>Wrong name or password.</p>" if wrong else ""
        return self.page(
            "Log in",
            "<form action='/search'><input name='q' placeholder='Search'></form>"
            f"{said}<form method='post' action='{self.login_path}'><label>Name <input name='name'></label>"
            "<label>Password <input name='password' type='password'></label><button>Log in</button></form>",
        )

    def knows(self, request: Request) -> bool:
        return request.cookies.get("session", "") in self.known

    async def login(self, request: Request) -> Response:
        if request.method == "GET":
            return RedirectResponse("/", 303) if self.knows(request) else self.form()
        given = await request.form()
        if (given["name"], given["password"]) != (NAME, PASSWORD):
            return self.form(wrong=True)
        self.logins += 1
        answer = RedirectResponse("/", 303)
        answer.set_cookie("session", f"visitor-{self.logins}", httponly=True)
        self.known.add(f"visitor-{self.logins}")
        return answer

    def reset(self) -> None:
        self.known.clear()
        self.written.clear()


class Doubles:
    def __init__(self) -> None:
        self.shop = Site("/customer/account/login/")
        self.forum = Site("/login")
        self.code = Site("/users/sign_in")
        self.resets = 0
        self._settling = 0
        self._lock = threading.Lock()

    # --- the sites ---

    async def home(self, request: Request) -> Response:
        site = self._site(request)
        if not site.knows(request):
            return self._site(request).form()
        site.on_pages += 1
        return site.page("Home", f"<h1>Welcome, {NAME}</h1><a href='/cart'>Cart</a>")

    async def cart(self, request: Request) -> Response:
        return self.shop.page("Cart", "<div class='cart'>2 items &amp; a gift</div>")

    async def order(self, request: Request) -> Response:
        return self.shop.page("Order", f"<p class='status'>Order {request.path_params['number']}: pending</p>")

    async def post(self, request: Request) -> Response:
        if request.method == "POST":
            self.forum.written.append(str((await request.form())["comment"]))
            return RedirectResponse(request.url.path, 303)
        comments = "".join(f"<p class='comment'>{escape(text)}</p>" for text in self.forum.written)
        return self.forum.page(
            "A post", f"<h1>A post</h1>{comments}<form method='post'><input name='comment'><button>Send</button></form>"
        )

    async def members(self, request: Request) -> Response:
        if not self.code.knows(request):
            return self.code.form()
        rows = "".join(
            f"<tr><td data-label='Account'><span class='gl-avatar-labeled-sublabel'>@{name}</span></td>"
            f"<td class='col-max-role'><span>{role}</span></td></tr>"
            for name, role in MEMBERS
        )
        return self.code.page("Members", f"<table>{rows}</table>")

    # --- the interface for programs, and the reset server ---

    async def token(self, request: Request) -> Response:
        given = await request.json()
        return JSONResponse("t0ken" if given["password"] == PASSWORD else None, 200 if given["username"] else 401)

    async def orders(self, request: Request) -> Response:
        asked = request.headers.get("authorization"), request.query_params["searchCriteria[pageSize]"]
        return JSONResponse({"items": [{"increment_id": "000000190"}]} if asked == ("Bearer t0ken", "1") else {}, 200)

    async def reviews(self, request: Request) -> Response:
        review = {"nickname": "Emma", "ratings": [{"rating_name": "Rating", "percent": 80}]}
        return JSONResponse([review] if request.path_params["sku"] == "B01" else [])

    async def reset(self, request: Request) -> Response:
        with self._lock:
            self.resets += 1
            self._settling = 2
            for site in (self.shop, self.forum, self.code):
                site.reset()
        return PlainTextResponse("started")

    async def status(self, request: Request) -> Response:
        with self._lock:
            self._settling -= 1
            return PlainTextResponse("Getting there" if self._settling > 0 else "Ready for duty!")

    # --- serving ---

    def _site(self, request: Request) -> Site:
        return {"shop": self.shop, "forum": self.forum, "code": self.code}[request.scope["app"].state.name]

    def _app(self, name: str, site: Site, *routes: Route) -> Starlette:
        login = Route(site.login_path, site.login, methods=["GET", "POST"])
        app = Starlette(routes=[Route("/", self.home), login, *routes])
        app.state.name = name
        return app

    @contextmanager
    def serve(self) -> Iterator[dict[str, str]]:
        """The WA_* variables that lead there."""
        shop = self._app(
            "shop",
            self.shop,
            Route("/cart", self.cart),
            Route("/sales/order/view/order_id/{number}/", self.order),
            Route("/rest/default/V1/integration/admin/token", self.token, methods=["POST"]),
            Route("/rest/V1/orders", self.orders),
            Route("/rest/V1/products/{sku}/reviews", self.reviews),
            Route("/reset", self.reset),
            Route("/status", self.status),
        )
        forum = self._app(
            "forum", self.forum, Route("/f/{forum}/{number}/{rest:path}", self.post, methods=["GET", "POST"])
        )
        code = self._app("code", self.code, Route("/byteblaze/dotfiles/-/project_members", self.members))
        servers = [ThreadedServer(app) for app in (shop, forum, code)]
        for server in servers:
            server.start()
        try:
            addresses = [f"http://{server.address}" for server in servers]
            yield self._variables(*addresses)
        finally:
            for server in servers:
                server.stop()

    def _variables(self, shop: str, forum: str, code: str) -> dict[str, str]:
        hosted = {"SHOPPING": shop, "REDDIT": forum, "GITLAB": code, "HOMEPAGE": shop}
        unhosted = dict.fromkeys(("SHOPPING_ADMIN", "WIKIPEDIA", "MAP"), "todo")
        variables = {f"WA_{name}": url for name, url in (hosted | unhosted).items()}
        for site in ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB"):
            variables |= {f"WA_{site}_USERNAME": NAME, f"WA_{site}_PASSWORD": PASSWORD}
        return variables

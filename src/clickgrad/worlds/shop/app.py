"""The shop's routes."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from clickgrad.worlds.shop import account, browse, buying
from clickgrad.worlds.shop.visit import NOT_FOUND, Visit, endpoint

_STYLE = Path(__file__).with_name("style.css").read_bytes()


async def style(_: Request) -> Response:
    return Response(_STYLE, media_type="text/css", headers={"cache-control": "max-age=3600"})


def unknown(_: Visit) -> Response:
    raise NOT_FOUND


app = Starlette(
    routes=[
        Route("/", endpoint(browse.home)),
        Route("/style.css", style),
        Route("/search", endpoint(browse.search)),
        Route("/category/{slug}", endpoint(browse.category)),
        Route("/product/{id}", endpoint(browse.product)),
        Route("/product/{id}/review", endpoint(browse.review_form), methods=["GET"]),
        Route("/product/{id}/review", endpoint(browse.write_review), methods=["POST"]),
        Route("/product/{id}/cart", endpoint(buying.add_to_cart), methods=["POST"]),
        Route("/cart", endpoint(buying.cart), methods=["GET"]),
        Route("/cart/{id}/update", endpoint(buying.update_item), methods=["POST"]),
        Route("/cart/{id}/remove", endpoint(buying.remove_item), methods=["POST"]),
        Route("/checkout", endpoint(buying.checkout), methods=["GET"]),
        Route("/checkout", endpoint(buying.place_order), methods=["POST"]),
        Route("/orders", endpoint(account.orders)),
        Route("/orders/{id}", endpoint(account.order)),
        Route("/account", endpoint(account.account)),
        Route("/login", endpoint(account.login_form), methods=["GET"]),
        Route("/login", endpoint(account.login), methods=["POST"]),
        Route("/logout", endpoint(account.logout), methods=["POST"]),
        Route("/{rest:path}", endpoint(unknown)),
    ]
)
app.router.redirect_slashes = False

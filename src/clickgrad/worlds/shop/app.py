"""The shop's routes."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import Response
from starlette.routing import Route

from clickgrad.worlds.shop import account, addresses, browse, cart, checkout, information, orders, reviews, wishes
from clickgrad.worlds.shop.pages import PAGES, Visit

Handler = Callable[[Visit], Response]


def _get(path: str, handler: Handler) -> Route:
    return Route(path, PAGES.endpoint(handler), methods=["GET"])


def _post(path: str, handler: Handler) -> Route:
    return Route(path, PAGES.endpoint(handler), methods=["POST"])


app = PAGES.app(
    [
        _get("/", browse.home),
        _get("/search", browse.search),
        _get("/suggest", browse.suggest),
        _get("/category/{slug}", browse.category),
        _get("/product/{id}", browse.product),
        _get("/product/{id}/reviews", reviews.reviews),
        _get("/product/{id}/review", reviews.review_form),
        _post("/product/{id}/review", reviews.write_review),
        _post("/product/{id}/cart", cart.add_to_cart),
        _post("/product/{id}/wish", wishes.add_wish),
        _get("/cart", cart.cart),
        _post("/cart/coupon", cart.add_coupon),
        _post("/cart/coupon/remove", cart.remove_coupon),
        _post("/cart/{id}/update", cart.update_item),
        _post("/cart/{id}/remove", cart.remove_item),
        _get("/checkout", checkout.checkout),
        _post("/checkout", checkout.place_order),
        _get("/wishlist", wishes.wish_list),
        _post("/wishlist/{id}/cart", wishes.move_to_cart),
        _post("/wishlist/{id}/remove", wishes.remove_wish),
        _get("/orders", orders.orders),
        _get("/orders/{id}", orders.order),
        _post("/orders/{id}/cancel", orders.cancel),
        _post("/orders/{id}/reorder", orders.reorder),
        _get("/orders/{id}/return", orders.return_form),
        _post("/orders/{id}/return", orders.request_return),
        _get("/addresses", addresses.address_book),
        _get("/addresses/new", addresses.new_address),
        _post("/addresses/new", addresses.add_address),
        _get("/addresses/{id}", addresses.edit_address),
        _post("/addresses/{id}", addresses.save_address),
        _post("/addresses/{id}/default", addresses.make_default),
        _post("/addresses/{id}/delete", addresses.delete_address),
        _get("/account", account.account),
        _get("/account/edit", account.account_form),
        _post("/account/edit", account.save_account),
        _get("/account/password", account.password_form),
        _post("/account/password", account.save_password),
        _get("/login", PAGES.login_form),
        _post("/login", account.login),
        _post("/logout", PAGES.log_out),
        _get("/register", account.register_form),
        _post("/register", account.register),
        _get("/help", information.index),
        _get("/pages/{slug}", information.page),
        _get("/contact", information.contact_form),
        _post("/contact", information.send_message),
        _get("/newsletter", information.newsletter_form),
        _post("/newsletter", information.subscribe),
        _post("/newsletter/leave", information.unsubscribe),
    ]
)

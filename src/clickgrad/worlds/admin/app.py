"""The back office's routes. All but the front door and the log-in are for staff only."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import Response
from starlette.routing import Route

from clickgrad.worlds.admin import customers, marketing, moderation, orders, products, reports, settings, staff
from clickgrad.worlds.admin.pages import PAGES, Visit

Handler = Callable[[Visit], Response]


def for_staff(handler: Handler) -> Handler:
    def serve(visit: Visit) -> Response:
        visit.require_user()
        return handler(visit)

    return serve


def home(visit: Visit) -> Response:
    """The front door: the dashboard for those who are in, the log-in for those who are not."""
    return PAGES.login_form(visit) if visit.user is None else reports.dashboard(visit)


def get(path: str, handler: Handler) -> Route:
    return PAGES.get(path, for_staff(handler))


def post(path: str, handler: Handler) -> Route:
    return PAGES.post(path, for_staff(handler))


app = PAGES.app(
    [
        PAGES.get("/", home),
        get("/orders", orders.orders),
        get("/orders/{id}", orders.order),
        get("/orders/{id}/ship", orders.ship_form),
        post("/orders/{id}/ship", orders.ship),
        get("/orders/{id}/note", orders.note_form),
        post("/orders/{id}/note", orders.add_note),
        post("/orders/{id}/{step}", orders.step),
        get("/returns", moderation.returns),
        get("/returns/{id}", moderation.return_),
        post("/returns/{id}/{step}", moderation.return_step),
        get("/products", products.products),
        get("/products/new", products.new_form),
        post("/products/new", products.create),
        get("/products/{id}", products.product),
        post("/products/{id}", products.save),
        get("/customers", customers.customers),
        get("/customers/{id}", customers.customer),
        post("/customers/{id}", customers.save),
        get("/newsletter", customers.newsletter),
        post("/newsletter", customers.add_subscriber),
        get("/newsletter/{id}", customers.subscriber),
        post("/newsletter/{id}/remove", customers.remove_subscriber),
        get("/messages", customers.messages),
        get("/messages/{id}", customers.message),
        get("/reviews", moderation.reviews),
        get("/reviews/{id}", moderation.review),
        get("/reviews/{id}/delete", moderation.delete_form),
        post("/reviews/{id}/delete", moderation.delete_review),
        post("/reviews/{id}/{step}", moderation.review_step),
        get("/promotions", marketing.promotions),
        get("/promotions/new", marketing.new_promotion),
        post("/promotions/new", marketing.create_promotion),
        get("/promotions/{id}", marketing.promotion),
        post("/promotions/{id}", marketing.save_promotion),
        get("/pages", marketing.cms_pages),
        get("/pages/new", marketing.new_page),
        post("/pages/new", marketing.create_page),
        get("/pages/{id}", marketing.cms_page),
        post("/pages/{id}", marketing.save_page),
        get("/reports", reports.reports),
        get("/reports/bestsellers", reports.bestsellers),
        get("/reports/sales", reports.sales),
        get("/reports/search-terms", reports.search_terms),
        get("/reports/customers", reports.customers),
        get("/reports/low-stock", reports.low_stock),
        get("/reports/reviews", reports.reviews),
        get("/settings", settings.settings),
        post("/settings", settings.save),
        get("/account", staff.account),
        PAGES.get("/login", PAGES.login_form),
        PAGES.post("/login", staff.login),
        PAGES.post("/logout", PAGES.log_out),
    ]
)

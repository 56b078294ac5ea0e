"""The forum's routes."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import Response
from starlette.routing import Route

from clickgrad.worlds.forum import browse, comments, messages, posts, users
from clickgrad.worlds.forum.pages import PAGES, Visit

Handler = Callable[[Visit], Response]


def _get(path: str, handler: Handler) -> Route:
    return Route(path, PAGES.endpoint(handler), methods=["GET"])


def _post(path: str, handler: Handler) -> Route:
    return Route(path, PAGES.endpoint(handler), methods=["POST"])


app = PAGES.app(
    [
        _get("/", browse.home),
        _get("/forums", browse.forums),
        _get("/search", browse.search),
        _get("/submit", posts.submit_form),
        _post("/submit", posts.submit),
        _get("/f/{slug}", browse.forum),
        _post("/f/{slug}/subscribe", browse.subscribe),
        _post("/f/{slug}/unsubscribe", browse.unsubscribe),
        _get("/f/{slug}/{id}", posts.post),
        _post("/f/{slug}/{id}/vote", posts.vote),
        _get("/f/{slug}/{id}/edit", posts.edit_form),
        _post("/f/{slug}/{id}/edit", posts.edit),
        _post("/f/{slug}/{id}/delete", posts.delete),
        _post("/f/{slug}/{id}/comment", posts.comment),
        _get("/comment/{id}/reply", comments.reply_form),
        _post("/comment/{id}/reply", comments.reply),
        _get("/comment/{id}/edit", comments.edit_form),
        _post("/comment/{id}/edit", comments.edit),
        _post("/comment/{id}/delete", comments.delete),
        _post("/comment/{id}/vote", comments.vote),
        _get("/user/{username}", users.posts),
        _get("/user/{username}/comments", users.comments),
        _get("/settings", users.settings_form),
        _post("/settings", users.save_settings),
        _get("/inbox", messages.inbox),
        _get("/sent", messages.sent),
        _get("/message/new", messages.compose_form),
        _post("/message/new", messages.compose),
        _get("/message/{id}", messages.message),
        _post("/message/{id}/reply", messages.reply),
        _get("/login", PAGES.login_form),
        _post("/login", users.login),
        _post("/logout", PAGES.log_out),
    ]
)

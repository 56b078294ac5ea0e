"""The forum's routes."""

from __future__ import annotations

from clickgrad.worlds.forum import browse, comments, messages, posts, users
from clickgrad.worlds.forum.pages import PAGES

get, post = PAGES.get, PAGES.post

app = PAGES.app(
    [
        get("/", browse.home),
        get("/forums", browse.forums),
        get("/search", browse.search),
        get("/submit", posts.submit_form),
        post("/submit", posts.submit),
        get("/f/{slug}", browse.forum),
        post("/f/{slug}/subscribe", browse.subscribe),
        post("/f/{slug}/unsubscribe", browse.unsubscribe),
        get("/f/{slug}/{id}", posts.post),
        post("/f/{slug}/{id}/vote", posts.vote),
        get("/f/{slug}/{id}/edit", posts.edit_form),
        post("/f/{slug}/{id}/edit", posts.edit),
        post("/f/{slug}/{id}/delete", posts.delete),
        post("/f/{slug}/{id}/comment", posts.comment),
        get("/comment/{id}/reply", comments.reply_form),
        post("/comment/{id}/reply", comments.reply),
        get("/comment/{id}/edit", comments.edit_form),
        post("/comment/{id}/edit", comments.edit),
        post("/comment/{id}/delete", comments.delete),
        post("/comment/{id}/vote", comments.vote),
        get("/user/{username}", users.posts),
        get("/user/{username}/comments", users.comments),
        get("/settings", users.settings_form),
        post("/settings", users.save_settings),
        get("/inbox", messages.inbox),
        get("/sent", messages.sent),
        get("/message/new", messages.compose_form),
        post("/message/new", messages.compose),
        get("/message/{id}", messages.message),
        post("/message/{id}/reply", messages.reply),
        get("/login", PAGES.login_form),
        post("/login", users.login),
        post("/logout", PAGES.log_out),
    ]
)

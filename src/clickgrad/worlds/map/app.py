"""The map's routes."""

from __future__ import annotations

from clickgrad.worlds.map import account, browse, directions, notes, saved
from clickgrad.worlds.map.pages import PAGES

get, post = PAGES.get, PAGES.post

app = PAGES.app(
    [
        get("/", browse.home),
        get("/map", browse.show_map),
        get("/search", browse.search),
        get("/categories", browse.categories),
        get("/here", browse.here),
        get("/place/{id}", browse.place),
        get("/place/{id}/nearby", browse.nearby),
        get("/place/{id}/share", browse.share),
        post("/place/{id}/save", saved.save_place),
        get("/place/{id}/report", notes.report_form),
        post("/place/{id}/report", notes.report),
        get("/place/{id}/edit", notes.edit_form),
        post("/place/{id}/edit", notes.suggest_edit),
        get("/directions", directions.directions),
        get("/saved", saved.lists),
        post("/saved", saved.create_list),
        get("/saved/item/{id}", saved.item_form),
        post("/saved/item/{id}", saved.update_item),
        post("/saved/item/{id}/remove", saved.remove_item),
        get("/saved/{id}", saved.show_list),
        get("/saved/{id}/edit", saved.list_form),
        post("/saved/{id}/edit", saved.rename_list),
        post("/saved/{id}/delete", saved.delete_list),
        get("/notes", notes.notes),
        get("/notes/{id}", notes.note),
        post("/notes/{id}/resolve", notes.resolve_note),
        get("/account", account.account),
        get("/login", PAGES.login_form),
        post("/login", account.login),
        post("/logout", PAGES.log_out),
    ]
)

"""The map's routes."""

from __future__ import annotations

from starlette.routing import Route

from clickgrad.worlds.map import account, browse, directions, notes, saved
from clickgrad.worlds.map.pages import PAGES

endpoint = PAGES.endpoint

app = PAGES.app(
    [
        Route("/", endpoint(browse.home)),
        Route("/map", endpoint(browse.show_map)),
        Route("/search", endpoint(browse.search)),
        Route("/categories", endpoint(browse.categories)),
        Route("/here", endpoint(browse.here)),
        Route("/place/{id}", endpoint(browse.place)),
        Route("/place/{id}/nearby", endpoint(browse.nearby)),
        Route("/place/{id}/share", endpoint(browse.share)),
        Route("/place/{id}/save", endpoint(saved.save_place), methods=["POST"]),
        Route("/place/{id}/report", endpoint(notes.report_form), methods=["GET"]),
        Route("/place/{id}/report", endpoint(notes.report), methods=["POST"]),
        Route("/place/{id}/edit", endpoint(notes.edit_form), methods=["GET"]),
        Route("/place/{id}/edit", endpoint(notes.suggest_edit), methods=["POST"]),
        Route("/directions", endpoint(directions.directions)),
        Route("/saved", endpoint(saved.lists), methods=["GET"]),
        Route("/saved", endpoint(saved.create_list), methods=["POST"]),
        Route("/saved/item/{id}", endpoint(saved.item_form), methods=["GET"]),
        Route("/saved/item/{id}", endpoint(saved.update_item), methods=["POST"]),
        Route("/saved/item/{id}/remove", endpoint(saved.remove_item), methods=["POST"]),
        Route("/saved/{id}", endpoint(saved.show_list)),
        Route("/saved/{id}/edit", endpoint(saved.list_form), methods=["GET"]),
        Route("/saved/{id}/edit", endpoint(saved.rename_list), methods=["POST"]),
        Route("/saved/{id}/delete", endpoint(saved.delete_list), methods=["POST"]),
        Route("/notes", endpoint(notes.notes)),
        Route("/notes/{id}", endpoint(notes.note)),
        Route("/notes/{id}/resolve", endpoint(notes.resolve_note), methods=["POST"]),
        Route("/account", endpoint(account.account)),
        Route("/login", endpoint(PAGES.login_form), methods=["GET"]),
        Route("/login", endpoint(account.login), methods=["POST"]),
        Route("/logout", endpoint(PAGES.log_out), methods=["POST"]),
    ]
)

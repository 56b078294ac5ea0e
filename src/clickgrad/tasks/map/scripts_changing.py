"""How the templates that change the world are done."""

from __future__ import annotations

from clickgrad.tasks.map.scripts_finding import named
from clickgrad.tasks.map.ways import open_place
from clickgrad.tasks.moves import Script, Way, click, fill, find, finish, seek, select
from clickgrad.types import Observation, Task


def _save(page: Observation, name: str, wanted: str, note: str) -> Way:
    """Save one place to one list, from anywhere."""
    page = yield from open_place(page, name)
    if find(page, "select", "List").value != wanted:
        page = yield select(page, "List", wanted, "this list was asked for")
    if note:
        page = yield fill(page, "Note", note, "this note was asked for")
    return (yield click(page, "button", "Save place", "the list is chosen"))


def save_places(task: Task, page: Observation) -> Script:
    params = dict(task.params)
    for letter, name in zip("abcdef", named(task), strict=False):
        page = yield from _save(page, name, str(params["list"]), str(params.get(f"note_{letter}") or ""))
    yield finish("done", f"saved to {params['list']}")


def edit_saved(task: Task, page: Observation) -> Script:
    params, kind, own = dict(task.params), str(task.param("kind")), str(task.param("list"))
    for letter, name in zip("abcdef", named(task), strict=False):
        if page.title != f"Edit {name}":
            page = yield from _open_list(page, own, name)
            page = yield click(page, "link", f"Edit {name}", "there I can change it")
        if kind == "remove":
            page = yield click(page, "button", "Remove from list", "this is what I was asked to do")
            continue
        if kind == "move":
            page = yield select(page, "List", str(params["target"]), "it should be in this list")
        else:
            page = yield fill(page, "Note", str(params[f"note_{letter}"]), "this note was asked for")
        page = yield click(page, "button", "Save changes", "the form is complete")
    yield finish("done", f"{own} is changed")


def _open_list(page: Observation, own: str, name: str) -> Way:
    if seek(page, "link", f"Edit {name}") is not None:
        return page
    if page.title != own:
        page = yield click(page, "link", "Saved", "my lists are there")
        page = yield click(page, "link", own, f"{name} is in this list")
    return page


def map_note(task: Task, page: Observation) -> Script:
    kind = task.param("kind")
    if kind == "resolve":
        yield from _resolve(task, page)
        return
    params = dict(task.params)
    for letter, name in zip("abcdef", named(task), strict=False):
        page = yield from open_place(page, name)
        if kind == "report":
            page = yield click(page, "link", "Report a problem", "the form is on a page of its own")
            page = yield select(page, "Problem", str(params[f"problem_{letter}"]), "this is the problem")
            page = yield fill(page, "Text", str(params[f"text_{letter}"]), "this text was asked for")
            page = yield click(page, "button", "Send note", "the form is complete")
        else:
            page = yield click(page, "link", "Suggest an edit", "the form is on a page of its own")
            page = yield select(page, "Field", "Phone", "the phone should change")
            page = yield fill(page, "New value", str(params[f"value_{letter}"]), "this number was asked for")
            page = yield click(page, "button", "Send suggestion", "the form is complete")
    yield finish("done", "it is sent")


def _resolve(task: Task, page: Observation) -> Script:
    name = f"Note {task.param('note')}"
    if page.title != name:
        page = yield click(page, "link", "Notes", "notes are listed there")
        page = yield click(page, "link", "My notes", "the note is one of mine")
        while seek(page, "link", name) is None:
            page = yield click(page, "link", "Next", "this page of the list does not have it")
        page = yield click(page, "link", name, "its own page has the button")
    page = yield click(page, "button", "Resolve note", "this is what I was asked to do")
    yield finish("done", f"{name} is resolved")


def manage_lists(task: Task, page: Observation) -> Script:
    kind, own, name = (str(task.param(key)) for key in ("kind", "list", "name"))
    if kind in ("create", "fill"):
        page = yield click(page, "link", "Saved", "my lists are there")
        page = yield fill(page, "New list", name, "the list should have this name")
        page = yield click(page, "button", "Create list", "the name is filled in")
        for place in named(task):
            page = yield from _save(page, place, name, "")
        yield finish("done", f"the list {name} is there")
        return
    if page.title != own:
        page = yield click(page, "link", "Saved", "my lists are there")
        page = yield click(page, "link", own, "this is the list to change")
    page = yield click(page, "link", "List settings", "there I can change the list itself")
    if kind == "rename":
        page = yield fill(page, "Name", name, "this is the new name")
        page = yield click(page, "button", "Rename list", "the name is filled in")
    else:
        page = yield click(page, "button", "Delete list", "this is what I was asked to do")
    yield finish("done", f"the list is {kind}d")

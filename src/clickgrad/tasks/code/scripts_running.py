"""How the templates that run projects are done."""

from __future__ import annotations

from clickgrad.tasks.code.ways import click_it, listed, names, to_project, to_request, to_tab
from clickgrad.tasks.moves import ExpertLost, Script, Way, click, fill, find, finish, noted, seek, select
from clickgrad.types import Observation, Task


def create_project(task: Task, page: Observation) -> Script:
    if page.title != "New Project":
        page = yield click(page, "link", "New Project", "the form is on a page of its own")
    page = yield fill(page, "Name", str(task.param("name")), "this name was asked for")
    if description := task.param("description"):
        page = yield fill(page, "Description", str(description), "this description was asked for")
    for name in ("Visibility", "Language", "License"):
        value = task.param(name.lower())
        if value and find(page, "select", name).value != value:
            page = yield select(page, name, str(value), f"{value} was asked for")
    if task.param("readme"):
        page = yield click(page, "checkbox", "Add a README", "a README was asked for")
    page = yield click(page, "button", "Create Project", "the form is complete")
    if people := str(task.param("people")):
        page = yield click(page, "link", "Members", "members are invited there")
        for person in people.split("|"):
            username, _, role = person.partition(" ")
            page = yield from invite(page, username, role)
    yield finish("done", "the project is created")


def invite(page: Observation, username: str, role: str) -> Way:
    """From a page with a link to the form, or from the form."""
    if seek(page, "link", "Invite Member") is not None:
        page = yield click(page, "link", "Invite Member", "the form is on a page of its own")
    page = yield fill(page, "Username or email", username, "this person was named")
    if find(page, "select", "Role").value != role:
        page = yield select(page, "Role", role, "this role was asked for")
    return (yield click(page, "button", "Invite", "the form is complete"))


def star_or_fork(task: Task, page: Observation) -> Script:
    kind = str(task.param("kind"))
    if kind == "top":
        yield from _star_top(task, page)
        return
    for name in names(task):
        page = yield from to_project(page, name)
        if kind == "Fork":
            page = yield click(page, "link", "Fork", "this leads to the form")
            page = yield click(page, "button", "Fork Project", "the name can stay as it is")
        else:
            page = yield click(page, "button", kind, "this is what I was asked to do")
    yield finish("done", "it is done")


def _star_top(task: Task, page: Observation) -> Script:
    if language := str(task.param("language")):
        page = yield select(page, "Language", language, "only this language was asked for")
    page = yield select(page, "Sort by", "Most stars", "then the ones I look for come first")
    page = yield click(page, "button", "Apply", "the list changes only when I apply the settings")
    top = listed(page, r", \d+ stars?, ")[: int(str(task.param("number")))]
    if not top:
        raise ExpertLost(f"no project on {page.url}")
    wanted = [element.name for element in top]
    page = yield noted(click_it(top[0], "I start with the first one"), f"the projects are {', '.join(wanted)}")
    page = yield click(page, "button", "Star", "this is what I was asked to do")
    for name in wanted[1:]:
        page = yield from to_project(page, name)
        page = yield click(page, "button", "Star", "this is what I was asked to do")
    yield finish("done", f"{', '.join(wanted)} have my star")


def manage_members(task: Task, page: Observation) -> Script:
    project, kind = str(task.param("project")), task.param("kind")
    for entry in names(task, "people"):
        person, _, role = entry.partition(":")
        if kind == "invite":
            if page.title != f"Invite Member · {project}":
                page = yield from to_tab(page, project, "Members")
            page = yield from invite(page, person, role)
            continue
        if page.title != f"{person} · {project}":
            page = yield from to_tab(page, project, "Members")
            page = yield click(page, "link", f"Edit {person}", "this leads to the membership")
        if kind == "remove":
            page = yield click(page, "button", "Remove Member", "this is what I was asked to do")
        else:
            page = yield select(page, "Role", role, "this role was asked for")
            page = yield click(page, "button", "Save Role", "nothing else has to change")
    yield finish("done", "the members are as they should be")


def merge_requests(task: Task, page: Observation) -> Script:
    project, params = str(task.param("project")), dict(task.params)
    for title in names(task, "titles"):
        page = yield from to_request(page, project, title, str(params.get("state", "Open")))
        if text := params.get("text"):
            page = yield fill(page, "Write a comment", str(text), "this comment was asked for")
            page = yield click(page, "button", "Comment", "the comment is written")
        if setting := params.get("setting"):
            page = yield click(page, "link", "Edit", "the form is on a page of its own")
            page = yield select(page, str(setting), str(params["person"]), "this person was named")
            page = yield click(page, "button", "Save Changes", "nothing else has to change")
        if button := params.get("button"):
            page = yield click(page, "button", str(button), "this is what I was asked to do")
    yield finish("done", "it is done")


def project_settings(task: Task, page: Observation) -> Script:
    params = dict(task.params)
    for project in names(task):
        page = yield from to_tab(page, project, "Settings")
        for name in ("Name", "Description", "Topics"):
            if value := params.get(f"new {name.lower()}"):
                page = yield fill(page, name, str(value), "this was asked for")
        if visibility := params.get("new visibility"):
            page = yield select(page, "Visibility", str(visibility), "this was asked for")
        page = yield click(page, "button", "Save Changes", "nothing else has to change")
    yield finish("done", "the settings are saved")

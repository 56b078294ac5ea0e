"""How the templates about people and their own things are done, and how to find out that something cannot be done."""

from __future__ import annotations

from clickgrad.tasks.code.ways import click_starting, names, to_project, to_tab
from clickgrad.tasks.moves import ExpertLost, Script, Way, click, fill, find, finish, search, seek, select
from clickgrad.types import Observation, Task


def to_profile(page: Observation, name: str) -> Way:
    page = yield search(page, name, f"I need to find {name}")
    page = yield click_starting(page, "link", "Users (", "I look for a person, not for a project")
    return (yield click(page, "link", name, "this is the person"))


def people(task: Task, page: Observation) -> Script:
    params = dict(task.params)
    if params["kind"] == "follow":
        for name in names(task, "people"):
            page = yield from to_profile(page, name)
            page = yield click(page, "button", "Follow", "this is what I was asked to do")
        yield finish("done", "I follow them now")
        return
    if page.title != "Edit Profile":
        page = yield click(page, "link", str(params["me"]), "my profile is there")
        page = yield click(page, "link", "Edit Profile", "the form is on a page of its own")
    for label in ("Status", "Job", "Location", "Bio"):
        if value := params.get(label.lower()):
            page = yield fill(page, label, str(value), "this was asked for")
    page = yield click(page, "button", "Save Profile", "nothing else has to change")
    yield finish("done", "the profile is saved")


def create_snippet(task: Task, page: Observation) -> Script:
    params = dict(task.params)
    if params["kind"] == "delete":
        if page.title != params["title"]:
            page = yield click(page, "link", str(params["title"]), "this is the snippet")
        page = yield click(page, "button", "Delete Snippet", "this is what I was asked to do")
        yield finish("done", "the snippet is gone")
        return
    if page.title != "New Snippet":
        page = yield click(page, "link", "Snippets", "snippets have a page of their own")
        page = yield click(page, "link", "New Snippet", "the form is on a page of its own")
    page = yield fill(page, "Title", str(params["title"]), "this title was asked for")
    page = yield fill(page, "File name", str(params["file_name"]), "this file name was asked for")
    if find(page, "select", "Visibility").value != params["visibility"]:
        page = yield select(page, "Visibility", str(params["visibility"]), "this was asked for")
    page = yield fill(page, "Content", str(params["content"]), "this content was asked for")
    page = yield click(page, "button", "Create Snippet", "the form is complete")
    yield finish("done", "the snippet is created")


def unachievable(task: Task, page: Observation) -> Script:
    """Look first, then say that it cannot be done."""
    params = dict(task.params)
    match params["kind"]:
        case "project":
            name = str(params["project"])
            page = yield search(page, name, f"I need to find the project {name}")
            _must_lack(page, "link", name)
            note = f"there is no project {name}"
        case "profile":
            page = yield from to_profile(page, str(params["person"]))
            note = "the profile does not say it"
        case "members":
            note = ""
            for project in names(task):
                page = yield from to_tab(page, project, "Members", note)
                _must_lack(page, "link", str(params["person"]))
                note = f"{params['person']} is no member of {project}"
        case "issue":
            project, title = str(params["project"]), str(params["title"])
            page = yield from to_tab(page, project, "Issues")
            page = yield select(page, "State", "All", "it may be open or closed")
            page = yield search(page, title, "I need to find the issue", "Search issues")
            _must_lack(page, "link", title)
            note = f"{project} has no such issue"
        case _:
            page = yield from to_project(page, str(params["project"]))
            _must_lack(page, "link", "Settings")
            note = "I am not allowed to open the settings"
    yield finish("N/A", note, "this cannot be done here")


def _must_lack(page: Observation, role: str, name: str) -> None:
    if seek(page, role, name) is not None:
        raise ExpertLost(f"there is a {role} {name!r} on {page.url}")

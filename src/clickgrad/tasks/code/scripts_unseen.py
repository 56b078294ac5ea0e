"""How the templates kept out of training are done."""

from __future__ import annotations

from clickgrad.tasks.code.scripts_running import invite
from clickgrad.tasks.code.ways import names, to_project, to_tab
from clickgrad.tasks.moves import ExpertLost, Script, click, fill, find, finish, select, texts
from clickgrad.types import Observation, Task


def open_merge_request(task: Task, page: Observation) -> Script:
    project, params = str(task.param("project")), dict(task.params)
    if page.title != f"New Merge Request · {project}":
        page = yield from to_tab(page, project, "Merge Requests")
        page = yield click(page, "link", "New Merge Request", "the form is on a page of its own")
    page = yield select(page, "Source branch", str(params["source"]), "this branch is to be merged")
    page = yield fill(page, "Title", str(params["title"]), "this title was asked for")
    for role in ("assignee", "reviewer"):
        if person := params.get(role):
            page = yield select(page, role.capitalize(), str(person), "this person was named")
    page = yield click(page, "button", "Create Merge Request", "the form is complete")
    yield finish("done", "the merge request is open")


def create_group(task: Task, page: Observation) -> Script:
    visibility = str(task.param("visibility"))
    if page.title != "New Group":
        page = yield click(page, "link", "Groups", "groups have a page of their own")
        page = yield click(page, "link", "New Group", "the form is on a page of its own")
    page = yield fill(page, "Group name", str(task.param("name")), "this name was asked for")
    if find(page, "select", "Visibility").value != visibility:
        page = yield select(page, "Visibility", visibility, "this was asked for")
    page = yield click(page, "button", "Create Group", "the form is complete")
    if people := str(task.param("people")):
        page = yield click(page, "link", "Group Members", "members are invited there")
        for person in people.split("|"):
            username, _, role = person.partition(" ")
            page = yield from invite(page, username, role)
    yield finish("done", "the group is there")


def file_fact(task: Task, page: Observation) -> Script:
    setting, values = str(task.param("setting")), dict[str, str]()
    note = ""
    for project in names(task):
        page = yield from to_project(page, project, note)
        page = yield click(page, "link", "config.toml", "the settings are in this file")
        values[project] = _value(page, setting)
        note = f"{project} {setting} {values[project]}"
    if task.param("kind") == "one":
        yield finish(values[project], note, "the file says it")
        return
    best = max(values, key=lambda name: int(values[name]))
    yield finish(best, note, f"the largest of {', '.join(values.values())} is {values[best]}")


def _value(page: Observation, setting: str) -> str:
    for line in texts(page):
        if line.startswith(f"{setting} = "):
            return line.partition(" = ")[2].strip('"')
    raise ExpertLost(f"no setting {setting!r} on {page.url}")

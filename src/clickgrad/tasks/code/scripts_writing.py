"""How the templates that change what a project plans are done."""

from __future__ import annotations

from clickgrad.tasks.code.ways import names, to_issue, to_issue_anywhere, to_request, to_tab
from clickgrad.tasks.moves import ExpertLost, Script, Way, click, fill, find, finish, select
from clickgrad.types import Observation, Task


def create_issue(task: Task, page: Observation) -> Script:
    project = str(task.param("project"))
    if page.title != f"New Issue · {project}":
        page = yield from to_tab(page, project, "Issues")
        page = yield click(page, "link", "New Issue", "the form is on a page of its own")
    page = yield fill(page, "Title", str(task.param("title")), "this title was asked for")
    if text := task.param("text"):
        page = yield fill(page, "Description", str(text), "this description was asked for")
    for name in ("Assignee", "Milestone"):
        if value := task.param(name.lower()):
            page = yield select(page, name, str(value), f"{value} was asked for")
    if due := task.param("due"):
        page = yield fill(page, "Due date", str(due), "it is due on this day")
    if label := task.param("label"):
        page = yield click(page, "checkbox", str(label), "this label was asked for")
    page = yield click(page, "button", "Create Issue", "the form is complete")
    yield finish("done", "the issue is created")


def comment(task: Task, page: Observation) -> Script:
    for title in names(task, "titles"):
        if task.param("kind") == "anywhere":
            page = yield from to_issue_anywhere(page, title)
        elif task.param("kind") == "request":
            page = yield from to_request(page, str(task.param("project")), title)
        page = yield fill(page, "Write a comment", str(task.param("text")), "this text was asked for")
        page = yield click(page, "button", "Comment", "the comment is written")
    yield finish("done", "the comment is there")


def update_issues(task: Task, page: Observation) -> Script:
    project, params = str(task.param("project")), dict(task.params)
    for title in names(task, "titles"):
        page = yield from to_issue(page, project, title, bool(params.get("closed")))
        if button := params.get("button"):
            page = yield click(page, "button", str(button), "this is what I was asked to do")
        else:
            page = yield click(page, "link", "Edit", "the form is on a page of its own")
            page = yield from _set(page, str(params["setting"]), str(params["value"]))
            page = yield click(page, "button", "Save Changes", "nothing else has to change")
    yield finish("done", "the issue is changed")


def _set(page: Observation, setting: str, value: str) -> Way:
    why = f"{value} was asked for"
    match setting:
        case "label":
            if find(page, "checkbox", value).value == "on":
                raise ExpertLost(f"the label {value} is already on at {page.url}")
            return (yield click(page, "checkbox", value, why))
        case "due":
            return (yield fill(page, "Due date", value, why))
        case _:
            return (yield select(page, setting.capitalize(), value, why))


def add_to_project(task: Task, page: Observation) -> Script:
    match task.param("kind"):
        case "labels":
            yield from _labels(task, page)
        case "branch":
            yield from _branch(task, page)
        case _:
            yield from _milestone(task, page)


def _labels(task: Task, page: Observation) -> Script:
    project = str(task.param("project"))
    for name, color in zip(names(task, "names"), names(task, "colors"), strict=True):
        if page.title == f"Issues · {project}":
            page = yield click(page, "link", "Labels", "labels have a page of their own")
        if page.title == f"Labels · {project}":
            page = yield click(page, "link", "New Label", "the form is on a page of its own")
        page = yield fill(page, "Name", name, "this name was asked for")
        if find(page, "select", "Color").value != color:
            page = yield select(page, "Color", color, "this color was asked for")
        page = yield click(page, "button", "Create Label", "the form is complete")
    yield finish("done", "the label is created")


def _branch(task: Task, page: Observation) -> Script:
    project, source = str(task.param("project")), str(task.param("source"))
    if page.title != f"New Branch · {project}":
        page = yield click(page, "link", "Branches", "branches have a page of their own")
        page = yield click(page, "link", "New Branch", "the form is on a page of its own")
    page = yield fill(page, "Branch name", str(task.param("name")), "this name was asked for")
    if find(page, "select", "Create from").value != source:
        page = yield select(page, "Create from", source, "it starts from this branch")
    page = yield click(page, "button", "Create Branch", "the form is complete")
    yield finish("done", "the branch is created")


def _milestone(task: Task, page: Observation) -> Script:
    project = str(task.param("project"))
    if page.title != f"New Milestone · {project}":
        page = yield from to_tab(page, project, "Issues")
        page = yield click(page, "link", "Milestones", "milestones have a page of their own")
        page = yield click(page, "link", "New Milestone", "the form is on a page of its own")
    page = yield fill(page, "Title", str(task.param("title")), "this title was asked for")
    page = yield fill(page, "Start date", str(task.param("start")), "it starts on this day")
    page = yield fill(page, "Due date", str(task.param("due")), "it is due on this day")
    page = yield click(page, "button", "Create Milestone", "the form is complete")
    yield finish("done", "the milestone is created")

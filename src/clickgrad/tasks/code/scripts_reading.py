"""How the templates about issues that change nothing are done, and those about what waits for the user."""

from __future__ import annotations

import re

from clickgrad.tasks.code.ways import (
    click_it,
    click_starting,
    listed,
    names,
    to_issue,
    to_issue_anywhere,
    to_tab,
)
from clickgrad.tasks.moves import ExpertLost, Script, Way, click, fill, finish, labelled, noted, seek, select, texts
from clickgrad.types import Observation, Task

_MORE = ("Author", "Assignee", "Milestone")


def issue_fact(task: Task, page: Observation) -> Script:
    fact, titles = str(task.param("fact")), names(task, "titles")
    found: list[str] = []
    note = ""
    for title in titles:
        if task.param("kind") == "anywhere":
            page = yield from to_issue_anywhere(page, title, note)
        else:
            page = yield from to_issue(page, str(task.param("project")), title)
        found.append(_last_comment(page) if fact == "comment" else labelled(page, fact))
        note = f"{fact}: {found[-1]}"
    yield finish(", ".join(found), note, "the issue says what I was asked for")


def _last_comment(page: Observation) -> str:
    written = [found[1] for line in texts(page) if (found := re.match(r"(\w+ \w+), \w+ \d+, \d{4}: ", line))]
    if not written:
        raise ExpertLost(f"no comment on {page.url}")
    return written[-1]


def apply_filters(task: Task, page: Observation) -> Way:
    """What the task names: the settings in sight first, then those behind More filters."""
    params = dict(task.params)
    for name in ("State", "Label", "Sort by"):
        if value := params.get(name.split()[0]):
            page = yield select(page, name, str(value), f"{value} was asked for")
    wanted = [name for name in _MORE if params.get(name)]
    if wanted and seek(page, "select", wanted[0]) is None:
        page = yield click(page, "button", "More filters", f"{wanted[0].lower()} is not among the settings I see")
    for name in wanted:
        page = yield select(page, name, str(params[name]), f"{params[name]} was asked for")
    return (yield click(page, "button", "Apply", "the list changes only when I apply the settings"))


def count_issues(task: Task, page: Observation) -> Script:
    total, note = 0, ""
    for project in names(task):
        page = yield from to_tab(page, project, "Issues", note)
        page = yield from apply_filters(task, page)
        number = next((int(line.split()[0]) for line in texts(page) if re.fullmatch(r"\d+ issues?", line)), None)
        if number is None:
            raise ExpertLost(f"no number of issues on {page.url}")
        total += number
        note = f"{project} has {number} such issues"
    yield finish(str(total), note, "the list says how many there are")


def filter_issues(task: Task, page: Observation) -> Script:
    page = yield from to_tab(page, str(task.param("projects")), "Issues")
    page = yield from apply_filters(task, page)
    yield finish("done", "the list is shown")


def my_work(task: Task, page: Observation) -> Script:
    params = dict(task.params)
    for _ in range(int(str(params.get("times", 1)))):
        page = yield click(page, "link", "To-Do List", "it shows what waits for me")
        if tab := str(params["tab"]):
            page = yield click_starting(page, "link", tab, "this is the list I need")
        if params["kind"] == "list":
            break
        page = yield select(page, "Sort by", str(params["sort"]), "then the one I look for comes first")
        page = yield click(page, "button", "Apply", "the list changes only when I apply the order")
        waiting = listed(page, r"^[\w ]+ [#!]\d+")
        if not waiting:
            raise ExpertLost(f"nothing to do on {page.url}")
        page = yield noted(click_it(waiting[0], "it is the first in this order"), f"first is {waiting[0].name}")
        if text := params["text"]:
            page = yield fill(page, "Write a comment", str(text), "this comment was asked for")
            page = yield click(page, "button", "Comment", "the comment is written")
        if end := params["end"]:
            page = yield click(page, "button", str(end), "this was asked for too")
    yield finish("done", "all is done")

"""How the templates that look at projects are done."""

from __future__ import annotations

import re

from clickgrad.tasks.code.ways import click_it, line_under, listed, names, to_project, to_tab
from clickgrad.tasks.moves import ExpertLost, Script, click, find, finish, labelled, noted, search, seek, select, texts
from clickgrad.types import Observation, Task


def project_fact(task: Task, page: Observation) -> Script:
    fact, projects = str(task.param("fact")), names(task)
    if fact in ("stars", "forks"):
        name = projects[0]
        if seek(page, "link", name) is None:
            page = yield search(page, name, "lists of projects show this")
        number = _number_before(line_under(page, name), fact)
        yield finish(number, f"{name} has {number} {fact}", "the line under the project says it")
        return
    values: list[str] = []
    for index, name in enumerate(projects):
        note = f"{projects[index - 1]} {fact}: {values[-1]}" if values else ""
        page = yield from to_project(page, name, note)
        values.append(labelled(page, fact))
    note = f"{projects[-1]} {fact}: {values[-1]}"
    if fact == "Commits" and len(values) > 1:
        yield finish(str(sum(map(int, values))), note, f"I add up {' and '.join(values)}")
    else:
        yield finish("; ".join(values), note, "the page says what I was asked for")


def _number_before(line: str, noun: str) -> str:
    found = re.search(rf"(\d+) {noun.removesuffix('s')}", line)
    if found is None:
        raise ExpertLost(f"no number of {noun} in {line!r}")
    return found[1]


def compare_projects(task: Task, page: Observation) -> Script:
    if task.param("kind") == "commits":
        yield from _most_commits(task, page)
        return
    if page.title != "Explore Projects":
        page = yield click(page, "link", "Explore", "all projects are listed there")
    language = str(task.param("language"))
    if language and find(page, "select", "Language").value != language:
        page = yield select(page, "Language", language, "only this language was asked for")
    page = yield select(page, "Sort by", str(task.param("sort")), "this order puts what I look for at the top")
    page = yield click(page, "button", "Apply", "the list changes only when I apply the settings")
    ranked = listed(page, r", \d+ stars?, ")
    rank = int(str(task.param("rank")))
    if len(ranked) <= rank:
        raise ExpertLost(f"too few projects on {page.url}")
    name = ranked[rank].name
    yield finish(name, f"number {rank + 1} is {name}", "in this order I only count from the top")


def _most_commits(task: Task, page: Observation) -> Script:
    counts: dict[str, int] = {}
    note = ""
    for name in names(task):
        page = yield from to_project(page, name, note)
        counts[name] = int(labelled(page, "Commits"))
        note = f"{name} has {counts[name]} commits"
    best = max(counts, key=lambda name: counts[name])
    yield finish(best, note, f"the largest of {', '.join(map(str, counts.values()))} is {counts[best]}")


def commits(task: Task, page: Observation) -> Script:
    if task.param("kind") == "top":
        yield from _top_contributor(task, page)
        return
    author, date = str(task.param("author")), task.param("date")
    total, note = 0, ""
    projects = names(task)
    for project in projects:
        page = yield from to_tab(page, project, "Commits", note)
        page = yield select(page, "Author", author, "only this author counts")
        page = yield click(page, "button", "Apply", "the list changes only when I apply the author")
        lines = texts(page)
        if date:
            number = lines.count(f"{author}, {date}")
        else:
            number = next(int(line.split()[0]) for line in lines if re.fullmatch(r"\d+ commits?", line))
        note = f"{author} made {number} commits to {project}"
        total += number
    yield finish(str(total), note, "this is the number I was asked for" if len(projects) == 1 else "I add them up")


def _top_contributor(task: Task, page: Observation) -> Script:
    page = yield from to_tab(page, str(task.param("projects")), "Commits")
    page = yield click(page, "link", "Contributors", "it lists people by their commits")
    people = listed(page, r"^\d+ commits?, latest")
    if not people:
        raise ExpertLost(f"no contributor on {page.url}")
    top = people[0]
    if fact := task.param("fact"):
        page = yield noted(click_it(top, "the profile says more"), f"{top.name} has the most commits")
        value = labelled(page, str(fact))
        yield finish(value, f"{fact}: {value}", "the profile names it")
    else:
        yield finish(top.name, f"the first one is {top.name}", "the first one has the most commits")


def member_role(task: Task, page: Observation) -> Script:
    kind = task.param("kind")
    note = ""
    answer = ""
    for project in names(task):
        page = yield from to_tab(page, project, "Members", note)
        if kind == "owner":
            yield from _about_owner(task, page)
            return
        person = str(task.param("person"))
        role = line_under(page, person).partition(",")[0] if seek(page, "link", person) else "no member"
        note = f"{person} in {project}: {role}"
        if kind == "role":
            answer = role
        elif role == task.param("role"):
            answer = project
    yield finish(answer, note, "this is what I was asked for")


def _about_owner(task: Task, page: Observation) -> Script:
    owners = listed(page, r"^Owner, since ")
    if not owners:
        raise ExpertLost(f"no owner on {page.url}")
    page = yield noted(click_it(owners[0], "the profile says more"), f"{owners[0].name} is the Owner")
    value = labelled(page, str(task.param("fact")))
    yield finish(value, f"{task.param('fact')}: {value}", "the profile names it")

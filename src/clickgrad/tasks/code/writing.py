"""Templates that write and change issues, and comments on them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import cycle
from typing import NamedTuple

from clickgrad.tasks.code.ground import (
    EMMA,
    PLANNERS,
    Ground,
    alternate,
    ground,
    listing,
    sets_of,
    shuffled,
    task,
)
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, Scalar, StateCheck
from clickgrad.worlds.code.pages import STAMP
from clickgrad.worlds.code.rows import Issue, Label, MergeRequest, Milestone, Project
from clickgrad.worlds.code.words import DETAILS
from clickgrad.worlds.people import DEFAULT_USER
from clickgrad.worlds.site import NOW

_COMMENTS = (
    "I can work on this next week", "Please add a screenshot", "This is fixed in the main branch",
    "Let us talk about it on Monday", "I could not repeat this", "The design team should look at it",
    "Works for me now", "Can we close this?", "We need this for the next release", "I have started on it",
    "Thanks for the details", "See the new guide for an example",
)  # fmt: skip


def insert(table: str, **values: Scalar) -> RowChange:
    return RowChange(table, "insert", tuple(values.items()))


def update(table: str, key: int, **values: Scalar) -> RowChange:
    return RowChange(table, "update", tuple(values.items()), key)


def later(rng: random.Random, first: int, last: int) -> str:
    """A day so many days from now."""
    return (NOW.date() + timedelta(days=rng.randint(first, last))).isoformat()


# --- new issues -----------------------------------------------------------------------------------------------------


def create_issue(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.create_issue {seed}")
    teams = land.teams(rng, PLANNERS)
    third = len(teams) // 3
    titles = iter(shuffled(rng, land.unused_titles()))
    kinds = (
        ("form", ((),)),
        ("list", (("label",), ("assignee", "label"), ("assignee", "milestone"), ("due_date",))),
        ("home", (("text", "assignee", "label", "due_date"), ("assignee", "milestone", "due_date", "label"))),
    )
    return alternate(
        *(_new_issues(land, rng, teams[index::3][:third], titles, *kind) for index, kind in enumerate(kinds))
    )


class _Settings(NamedTuple):
    """What a new issue is to have besides its title."""

    text: str | None
    label: Label | None
    assignee: int | None
    milestone: Milestone | None
    due: str | None

    def said(self, land: Ground) -> list[str]:
        words = (
            f'the description "{self.text}"' if self.text else "",
            f"the label {self.label.name}" if self.label else "",
            f"the assignee {land.name(self.assignee)}" if self.assignee else "",
            f"the milestone {self.milestone.title}" if self.milestone else "",
            f"the due date {self.due}" if self.due else "",
        )
        return [word for word in words if word]


def _new_settings(land: Ground, rng: random.Random, project: Project, kind: Sequence[str]) -> _Settings:
    return _Settings(
        text=rng.choice(DETAILS["bug"][0]) if "text" in kind else None,
        label=rng.choice(land.labels(project)) if "label" in kind else None,
        assignee=rng.choice(land.members(project, PLANNERS)) if "assignee" in kind else None,
        milestone=rng.choice(land.milestones(project)[1:]) if "milestone" in kind else None,
        due=later(rng, 5, 80) if "due_date" in kind else None,
    )


def _issue_rows(land: Ground, project: Project, user: int, title: str, new: _Settings) -> tuple[RowChange, ...]:
    issue_id = len(land.data.code_issues) + 1
    values: dict[str, Scalar] = {
        "id": issue_id,
        "project_id": project.id,
        "number": max(issue.number for issue in land.issues(project, "all")) + 1,
        "title": title,
        "state": "open",
        "author_id": user,
        "assignee_id": new.assignee,
        "milestone_id": new.milestone.id if new.milestone else None,
        "due_date": new.due,
        "closed": None,
    }
    values |= {"text": new.text} if new.text else {}
    labelled = insert("code_issue_labels", issue_id=issue_id, label_id=new.label.id) if new.label else None
    return insert("code_issues", **values), *([labelled] if labelled else [])


def _new_issues(
    land: Ground,
    rng: random.Random,
    teams: Sequence[tuple[Project, int]],
    titles: Iterator[str],
    start: str,
    kinds: Sequence[Sequence[str]],
) -> Iterator[Draft]:
    for (project, user), kind in zip(teams, cycle(kinds), strict=False):
        title, new = next(titles), _new_settings(land, rng, project, kind)
        asked = listing([f'the title "{title}"', *new.said(land)])
        way = {"form": 0, "list": 1, "home": land.to_project(project, user) + 2}[start]
        paths = {"form": f"{project.path}/issues/new", "list": f"{project.path}/issues", "home": "/"}
        where = "" if start == "form" else f" in {project.name}"
        yield task(
            f"Create an issue{where} with {asked}.",
            paths[start],
            (StateCheck(_issue_rows(land, project, user, title, new)),),
            way + 1 + len(new.said(land)) + 2,
            land.user(user).email,
            project=project.name,
            title=title,
            text=new.text,
            label=new.label.name if new.label else None,
            assignee=land.name(new.assignee) if new.assignee else None,
            milestone=new.milestone.title if new.milestone else None,
            due=new.due,
        )


# --- comments -------------------------------------------------------------------------------------------------------


def comment(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.comment {seed}")
    seen = {project.id for project in land.seen()}
    issues = shuffled(rng, [issue for issue in land.data.code_issues if issue.project_id in seen])
    requests = shuffled(rng, [item for item in land.data.code_merge_requests if item.project_id in seen])
    opened = [request for request in requests if request.state == "open"]
    return alternate(
        _comment_here(land, rng, [*issues[:20], *requests[:20]]),
        alternate(
            _comment_anywhere(land, rng, issues[20:60]),
            _comment_on_request(land, rng, opened[:40], "project"),
            _comment_on_request(land, rng, opened[40:], "home"),
        ),
        _comment_on_several(land, rng, issues[60:]),
    )


def _said(user: int, text: str, on: Issue | MergeRequest) -> RowChange:
    is_issue = isinstance(on, Issue)
    issue, request = (on.id, None) if is_issue else (None, on.id)
    return insert("code_comments", issue_id=issue, merge_request_id=request, author_id=user, text=text)


def _comment_here(land: Ground, rng: random.Random, items: Sequence[Issue | MergeRequest]) -> Iterator[Draft]:
    for item in shuffled(rng, items):
        text = rng.choice(_COMMENTS)
        kind = "issues" if isinstance(item, Issue) else "merge_requests"
        word = "issue" if isinstance(item, Issue) else "merge request"
        yield task(
            f'Write the comment "{text}" on this {word}.',
            f"{land.project(item.project_id).path}/{kind}/{item.number}",
            (StateCheck((_said(EMMA, text, item),)),),
            3,
            DEFAULT_USER,
            kind="here",
            titles=item.title,
            text=text,
        )


def _comment_anywhere(land: Ground, rng: random.Random, issues: Sequence[Issue]) -> Iterator[Draft]:
    for issue in issues:
        text = rng.choice(_COMMENTS)
        yield task(
            f'Comment "{text}" on the issue "{issue.title}".',
            "/",
            (StateCheck((_said(EMMA, text, issue),)),),
            6,
            DEFAULT_USER,
            kind="anywhere",
            titles=issue.title,
            text=text,
        )


def _comment_on_request(
    land: Ground, rng: random.Random, requests: Sequence[MergeRequest], start: str
) -> Iterator[Draft]:
    for request in requests:
        project, text = land.project(request.project_id), rng.choice(_COMMENTS)
        listed = request in land.requests(project)[:6]
        way = land.to_project(project) if start == "home" else 0
        yield task(
            f'Comment "{text}" on the merge request "{request.title}" of {project.name}.',
            "/" if start == "home" else project.path,
            (StateCheck((_said(EMMA, text, request),)),),
            way + 1 + (1 if listed else 2) + 3,
            DEFAULT_USER,
            kind="request",
            project=project.name,
            titles=request.title,
            text=text,
        )


def _comment_on_several(land: Ground, rng: random.Random, issues: Sequence[Issue]) -> Iterator[Draft]:
    short = [issue for issue in issues if len(issue.title.split()) <= 6]
    for sample, size in zip(sets_of(rng, short, 3), cycle((2, 3)), strict=False):
        chosen, text = sample[:size], rng.choice(_COMMENTS)
        titles = [f'"{issue.title}"' for issue in chosen]
        yield task(
            f'Comment "{text}" on each of the issues {listing(titles)}.',
            "/",
            (StateCheck(tuple(_said(EMMA, text, issue) for issue in chosen)),),
            5 * size + 1,
            DEFAULT_USER,
            kind="anywhere",
            titles="|".join(issue.title for issue in chosen),
            text=text,
        )


# --- changing issues ------------------------------------------------------------------------------------------------


def update_issues(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.update_issues {seed}")
    teams = land.teams(rng, PLANNERS)
    return alternate(
        _set_state(land, rng, teams),
        alternate(_edit_one(land, rng, teams), _reopen_from_home(land, rng, teams)),
        alternate(_close_three(land, rng, teams), _assign_several(land, rng, teams)),
    )


def _close(issue: Issue) -> RowChange:
    return update("code_issues", issue.id, state="closed", closed=STAMP)


def _reopen(issue: Issue) -> RowChange:
    return update("code_issues", issue.id, state="open", closed=None)


def _set_state(land: Ground, rng: random.Random, teams: Sequence[tuple[Project, int]]) -> Iterator[Draft]:
    for index, (project, user) in enumerate(teams):
        closing, here = index % 3 != 1, index % 2 == 0
        pool = land.first_issues(project) if closing else land.issues(project, "closed")
        if not pool:
            continue
        issue = rng.choice(pool)
        here = here or not closing
        verb = "Close" if closing else "Reopen"
        yield task(
            f"{verb} this issue." if here else f'{verb} the issue "{issue.title}".',
            f"{project.path}/issues/{issue.number}" if here else f"{project.path}/issues",
            (StateCheck((_close(issue) if closing else _reopen(issue),)),),
            2 if here else 3,
            land.user(user).email,
            project=project.name,
            titles=issue.title,
            button=f"{verb} Issue",
        )


def _close_three(land: Ground, rng: random.Random, teams: Sequence[tuple[Project, int]]) -> Iterator[Draft]:
    for project, user in teams:
        pool = [issue for issue in land.first_issues(project) if len(issue.title.split()) <= 7]
        if len(pool) < 3:
            continue
        chosen = rng.sample(pool, 3)
        titles = [f'"{issue.title}"' for issue in chosen]
        yield task(
            f"Close the issues {listing(titles)} of {project.name}.",
            f"{project.path}/issues",
            (StateCheck(tuple(map(_close, chosen))),),
            9,
            land.user(user).email,
            project=project.name,
            titles="|".join(issue.title for issue in chosen),
            button="Close Issue",
        )


def _reopen_from_home(land: Ground, rng: random.Random, teams: Sequence[tuple[Project, int]]) -> Iterator[Draft]:
    for project, user in teams[::-1]:
        closed = land.issues(project, "closed")
        if not closed:
            continue
        issue = rng.choice(closed)
        yield task(
            f'Reopen the closed issue "{issue.title}" of {project.name}.',
            "/",
            (StateCheck((_reopen(issue),)),),
            land.to_project(project, user) + 1 + land.to_issue(issue) + 2,
            land.user(user).email,
            project=project.name,
            titles=issue.title,
            button="Reopen Issue",
            closed=True,
        )


_SETTINGS = ("assignee", "label", "milestone", "due")


def _edit_one(land: Ground, rng: random.Random, teams: Sequence[tuple[Project, int]]) -> Iterator[Draft]:
    for index, ((project, user), setting) in enumerate(zip(teams[1:], cycle(_SETTINGS), strict=False)):
        issue = rng.choice(land.first_issues(project))
        value, change = _new_setting(land, rng, project, issue, setting)
        start = ("issue", "project", "list")[index % 3]
        paths = {
            "issue": f"{project.path}/issues/{issue.number}",
            "list": f"{project.path}/issues",
            "project": project.path,
        }
        which = "this issue" if start == "issue" else f'the issue "{issue.title}"'
        yield task(
            _asks(setting, value, which),
            paths[start],
            (StateCheck((change,)),),
            {"issue": 0, "list": 1, "project": 2}[start] + 4,
            land.user(user).email,
            project=project.name,
            titles=issue.title,
            setting=setting,
            value=value,
        )


def _assign_several(land: Ground, rng: random.Random, teams: Sequence[tuple[Project, int]]) -> Iterator[Draft]:
    for (project, user), size in zip(teams[2:], cycle((2, 3)), strict=False):
        first = [issue for issue in land.first_issues(project) if len(issue.title.split()) <= 7]
        if len(first) < size:
            continue
        chosen = rng.sample(first, size)
        now = {issue.assignee_id for issue in chosen}
        fresh = [person for person in land.members(project, PLANNERS) if person not in now]
        if not fresh:
            continue
        person = rng.choice(fresh)
        titles = [f'"{issue.title}"' for issue in chosen]
        yield task(
            f"Assign the issues {listing(titles)} of {project.name} to {land.name(person)}.",
            f"{project.path}/issues",
            (StateCheck(tuple(update("code_issues", issue.id, assignee_id=person) for issue in chosen)),),
            5 * size,
            land.user(user).email,
            project=project.name,
            titles="|".join(issue.title for issue in chosen),
            setting="assignee",
            value=land.name(person),
        )


def _new_setting(
    land: Ground, rng: random.Random, project: Project, issue: Issue, setting: str
) -> tuple[str, RowChange]:
    """Something the issue does not have yet."""
    if setting == "assignee":
        people = [person for person in land.members(project, PLANNERS) if person != issue.assignee_id]
        person = rng.choice(people)
        return land.name(person), update("code_issues", issue.id, assignee_id=person)
    if setting == "label":
        has = land.label_names(issue)
        label: Label = rng.choice([label for label in land.labels(project) if label.name not in has])
        return label.name, insert("code_issue_labels", issue_id=issue.id, label_id=label.id)
    if setting == "milestone":
        milestone = rng.choice([item for item in land.milestones(project) if item.id != issue.milestone_id])
        return milestone.title, update("code_issues", issue.id, milestone_id=milestone.id)
    due = later(rng, 80, 150)  # no issue is due so late
    return due, update("code_issues", issue.id, due_date=due)


def _asks(setting: str, value: str, which: str) -> str:
    match setting:
        case "assignee":
            return f"Assign {which} to {value}."
        case "label":
            return f"Add the label {value} to {which}."
        case "milestone":
            return f"Set the milestone of {which} to {value}."
        case _:
            return f"Set the due date of {which} to {value}."

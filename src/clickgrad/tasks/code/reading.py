"""Templates about issues that change nothing: facts, counts and lists."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.code.ground import UNCHANGED, Ground, alternate, ground, listing, sets_of, shuffled, spread, task
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, UrlCheck
from clickgrad.worlds.code import words
from clickgrad.worlds.code.listing import ISSUE_SORTS, ISSUE_STATES
from clickgrad.worlds.code.rows import Issue, Project
from clickgrad.worlds.pages import day
from clickgrad.worlds.people import DEFAULT_USER


def _fact(land: Ground, issue: Issue, fact: str) -> str:
    match fact:
        case "Assignee":
            return land.name(issue.assignee_id)
        case "Milestone":
            return land.milestone_title(issue)
        case "Author":
            return land.name(issue.author_id)
        case "Due date":
            return day(issue.due_date) if issue.due_date else "None"
        case _:
            return day(issue.created)


def _seen_issues(land: Ground, rng: random.Random) -> list[Issue]:
    """In random order, with an assignee, a milestone and a due date."""
    projects = {project.id for project in land.seen()}
    whole = [
        issue
        for issue in land.data.code_issues
        if issue.project_id in projects and issue.assignee_id and issue.milestone_id and issue.due_date
    ]
    return shuffled(rng, whole)


# --- facts ----------------------------------------------------------------------------------------------------------


def issue_fact(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.issue_fact {seed}")
    issues = _seen_issues(land, rng)
    return alternate(
        alternate(_listed_fact(land, issues), _last_comment(land, rng)),
        alternate(_fact_of_project(land, issues[::-1]), _fact_anywhere(land, issues)),
        _facts_of_several(land, rng, issues),
    )


def _listed_fact(land: Ground, issues: Sequence[Issue]) -> Iterator[Draft]:
    questions = {"Assignee": "Who is the assignee of the issue", "Milestone": "What is the milestone of the issue"}
    shown = [issue for issue in issues if issue in land.first_issues(land.project(issue.project_id))]
    for issue, fact in zip(shown, cycle(questions), strict=False):
        project = land.project(issue.project_id)
        yield task(
            f'{questions[fact]} "{issue.title}"?',
            f"{project.path}/issues",
            (AnswerCheck((_fact(land, issue, fact),)), UNCHANGED),
            2,
            DEFAULT_USER,
            kind="listed",
            project=project.name,
            titles=issue.title,
            fact=fact,
        )


def _fact_of_project(land: Ground, issues: Sequence[Issue]) -> Iterator[Draft]:
    questions = {"Milestone": "What is the milestone of", "Created": "When was", "Assignee": "Who is the assignee of"}
    opened = [issue for issue in issues if issue.state == "open"]
    for issue, fact in zip(opened, cycle(questions), strict=False):
        project = land.project(issue.project_id)
        ending = " created" if fact == "Created" else ""
        yield task(
            f'{questions[fact]} the issue "{issue.title}" of {project.name}{ending}?',
            project.path,
            (AnswerCheck((_fact(land, issue, fact),)), UNCHANGED),
            1 + land.to_issue(issue) + 1,
            DEFAULT_USER,
            kind="listed",
            project=project.name,
            titles=issue.title,
            fact=fact,
        )


def _fact_anywhere(land: Ground, issues: Sequence[Issue]) -> Iterator[Draft]:
    questions = {
        "Due date": "What is the due date of",
        "Author": "Who is the author of",
        "Assignee": "Who is the assignee of",
    }
    for issue, fact in zip(issues[1::2], cycle(questions), strict=False):
        yield task(
            f'{questions[fact]} the issue "{issue.title}"?',
            "/",
            (AnswerCheck((_fact(land, issue, fact),)), UNCHANGED),
            4,
            DEFAULT_USER,
            kind="anywhere",
            titles=issue.title,
            fact=fact,
        )


def _last_comment(land: Ground, rng: random.Random) -> Iterator[Draft]:
    comments = {item.issue_id: item for item in land.data.code_comments if item.issue_id}  # the last of each
    seen = {project.id for project in land.seen()}
    commented = [issue for issue in land.data.code_issues if issue.id in comments and issue.project_id in seen]
    for issue in shuffled(rng, commented):
        project = land.project(issue.project_id)
        if issue in land.first_issues(project):
            yield task(
                f'Who wrote the last comment on the issue "{issue.title}"?',
                f"{project.path}/issues",
                (AnswerCheck((land.name(comments[issue.id].author_id),)), UNCHANGED),
                2,
                DEFAULT_USER,
                kind="listed",
                project=project.name,
                titles=issue.title,
                fact="comment",
            )


def _facts_of_several(land: Ground, rng: random.Random, issues: Sequence[Issue]) -> Iterator[Draft]:
    short = [issue for issue in issues if len(issue.title.split()) <= 6]
    for chosen in sets_of(rng, short, 3):
        titles = [f'"{issue.title}"' for issue in chosen]
        names = [land.name(issue.assignee_id) for issue in chosen]
        if len(set(names)) < len(names):
            continue
        yield task(
            f"Who are the assignees of the issues {listing(titles)}? Name them in this order, separated by commas.",
            "/",
            (AnswerCheck((", ".join(names), ",".join(names))), UNCHANGED),
            3 * len(chosen) + 1,
            DEFAULT_USER,
            kind="anywhere",
            titles="|".join(issue.title for issue in chosen),
            fact="Assignee",
        )


# --- counting -------------------------------------------------------------------------------------------------------


def count_issues(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.count_issues {seed}")
    projects = shuffled(rng, land.seen())
    return alternate(
        _with_label(land, projects, from_home=False),
        alternate(_with_label(land, projects[::-1], from_home=True), _of_person(land, rng, projects)),
        _in_several_projects(land, rng),
    )


def _count(land: Ground, project: Project, state: str, label: str) -> int:
    return sum(label in land.label_names(issue) for issue in land.issues(project, state))


def _with_label(land: Ground, projects: Sequence[Project], from_home: bool) -> Iterator[Draft]:
    state = "all" if from_home else "open"
    found = [
        (project, label.name, number)
        for project in projects
        for label in land.labels(project)
        if (number := _count(land, project, state, label.name))
    ]
    for project, label, number in spread(spread(found, key=lambda item: item[0].id), key=lambda item: item[2]):
        yield task(
            f"How many issues of {project.name}, open or closed, have the label {label}?"
            if from_home
            else f"How many open issues of {project.name} have the label {label}?",
            "/" if from_home else f"{project.path}/issues",
            (AnswerCheck((str(number),)), UNCHANGED),
            # [to the project, Issues, State,] Label, Apply, exit
            (land.to_project(project) + 2 if from_home else 0) + 3,
            DEFAULT_USER,
            projects=project.name,
            State=ISSUE_STATES[state] if from_home else None,
            Label=label,
        )


def _of_person(land: Ground, rng: random.Random, projects: Sequence[Project]) -> Iterator[Draft]:
    found = []
    for project in projects:
        issues = land.issues(project)
        for person in shuffled(rng, {issue.assignee_id for issue in issues if issue.assignee_id})[:2]:
            found.append((project, person, sum(issue.assignee_id == person for issue in issues)))
    for project, person, number in spread(found, key=lambda item: item[2]):
        yield task(
            f"How many open issues of {project.name} are assigned to {land.name(person)}?",
            f"{project.path}/issues",
            (AnswerCheck((str(number),)), UNCHANGED),
            4,
            DEFAULT_USER,
            projects=project.name,
            Assignee=land.name(person),
        )


def _in_several_projects(land: Ground, rng: random.Random) -> Iterator[Draft]:
    found = []
    for sample, size in zip(sets_of(rng, land.seen(), 3), cycle((2, 3)), strict=False):
        group = sample[:size]
        label = rng.choice(words.LABELS)  # those that every project has
        found.append((group, label, sum(_count(land, project, "open", label) for project in group)))
    for group, label, number in spread(found, key=lambda item: item[2]):
        names = [project.name for project in group]
        if number:
            yield task(
                f"How many open issues with the label {label} do {listing(names)} have together?",
                "/",
                (AnswerCheck((str(number),)), UNCHANGED),
                land.to_project(group[0]) + 3 + 5 * (len(group) - 1) + 1,
                DEFAULT_USER,
                projects="|".join(names),
                Label=label,
            )


# --- showing lists --------------------------------------------------------------------------------------------------


def filter_issues(seed: int) -> Iterator[Draft]:
    """The settings are those of an issue that exists, so that the list is never empty."""
    land, rng = ground(seed), random.Random(f"code.filter_issues {seed}")
    issues = [issue for issue in _seen_issues(land, rng) if land.label_names(issue)]
    third = len(issues) // 3
    return alternate(
        _filters(land, issues[:third], "list", ("label", "sort", "state", "label sort")),
        _filters(land, issues[third : 2 * third], "list", ("label assignee", "assignee sort", "milestone sort")),
        _filters(land, issues[2 * third :], "home", ("label sort assignee", "label sort author milestone")),
    )


def _filters(land: Ground, issues: Sequence[Issue], start: str, kinds: Sequence[str]) -> Iterator[Draft]:
    sorts = cycle(("due", "oldest", "comments"))
    for issue, kind in zip(issues, map(str.split, cycle(kinds)), strict=False):
        project = land.project(issue.project_id)
        label = land.label_names(issue)[0] if "label" in kind else ""
        sort = next(sorts) if "sort" in kind else ""
        assignee = issue.assignee_id if "assignee" in kind else None
        author = issue.author_id if "author" in kind else None
        milestone = land.milestone_title(issue) if "milestone" in kind else ""
        is_closed = "state" in kind or issue.state == "closed"
        asked = f"Show the {'closed' if is_closed else 'open'} issues of {project.name}"
        asked += f" with the label {label}" if label else ""
        asked += f" assigned to {land.name(assignee)}" if assignee else ""
        asked += f" written by {land.name(author)}" if author else ""
        asked += f" in the milestone {milestone}" if milestone else ""
        asked += f", sorted by {ISSUE_SORTS[sort]}" if sort else ""
        query = {
            "state": "closed" if is_closed else "",
            "label": label,
            "sort": sort,
            "assignee": land.user(assignee).username if assignee else "",
            "author": land.user(author).username if author else "",
            "milestone": milestone,
            "q": "",
            "page": "",
        }
        shown, more = (is_closed, label, sort), (assignee, author, milestone)
        way = land.to_project(project) + 1 if start == "home" else 0
        yield task(
            f"{asked}.",
            "/" if start == "home" else f"{project.path}/issues",
            (UrlCheck("code", f"{project.path}/issues", tuple(query.items())), UNCHANGED),
            way + sum(map(bool, shown)) + any(more) + sum(map(bool, more)) + 2,
            DEFAULT_USER,
            projects=project.name,
            State="Closed" if is_closed else None,
            Label=label or None,
            Sort=ISSUE_SORTS[sort] if sort else None,
            Assignee=land.name(assignee) if assignee else None,
            Author=land.name(author) if author else None,
            Milestone=milestone or None,
        )

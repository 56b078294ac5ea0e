"""What a project plans at the start: labels, milestones, issues and merge requests with their comments."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from clickgrad.worlds.code import words
from clickgrad.worlds.code.rows import (
    Comment,
    Issue,
    IssueLabel,
    Label,
    Member,
    MergeRequest,
    Milestone,
    Project,
    Shelf,
)
from clickgrad.worlds.site import NOW

OLDEST_DAYS = 120
WORKERS = ("Reporter", "Developer", "Maintainer", "Owner")  # who gets work assigned


def add_labels(shelf: Shelf, rng: random.Random, project: Project) -> None:
    for name in sorted((*words.LABELS, *rng.sample(words.EXTRA_LABELS, 2))):
        shelf.add(Label, project.id, name, words.LABEL_COLORS[name])


def add_milestones(shelf: Shelf, rng: random.Random, project: Project) -> None:
    major = rng.randint(1, 5)
    start = NOW.date() - timedelta(days=rng.randint(90, 120))
    for minor, state in enumerate(("closed", "open", "open")):
        due = start + timedelta(days=rng.randint(50, 70))
        text = rng.choice(("Small fixes.", "New features.", "Better speed.", "A cleaner design."))
        shelf.add(
            Milestone, project.id, f"Version {major}.{minor}", text, state, start.isoformat(), due.isoformat()
        )  # fmt: skip
        start = due + timedelta(days=1)


def add_issues(
    shelf: Shelf, rng: random.Random, project: Project, team: Sequence[Member], titles: Sequence[tuple[str, str]]
) -> None:
    labels = {label.name: label.id for label in shelf.rows(Label) if label.project_id == project.id}
    milestones = [item for item in shelf.rows(Milestone) if item.project_id == project.id]
    workers = [member.user_id for member in team if member.role in WORKERS]
    everybody = [member.user_id for member in team]
    due_dates = rng.sample(range(2, 70), len(titles))
    for number, (moment, (kind, title), due) in enumerate(
        zip(_moments(rng, len(titles)), titles, due_dates, strict=True), 1
    ):
        is_open = number > 1 and (rng.random() < 0.68 or number > len(titles) - 3)  # every project has some of both
        closed = None if is_open else _stamp(moment + (NOW - moment) * rng.random())
        fitting = [item.id for item in milestones if not is_open or item.state == "open"]
        issue = shelf.add(
            Issue, project.id, number, title, " ".join(map(rng.choice, words.DETAILS[kind])),
            "open" if is_open else "closed", rng.choice(everybody),
            rng.choice(workers) if rng.random() < 0.75 else None,
            rng.choice(fitting) if rng.random() < 0.6 else None,
            (NOW.date() + timedelta(days=due)).isoformat() if rng.random() < 0.6 else None,
            _stamp(moment), closed,
        )  # fmt: skip
        for name in sorted(_label_names(rng, kind, sorted(labels))):
            shelf.add(IssueLabel, issue.id, labels[name])
        _add_comments(shelf, rng, issue, moment, everybody)


def _label_names(rng: random.Random, kind: str, known: Sequence[str]) -> set[str]:
    chosen = {kind} & set(known) if rng.random() < 0.9 else set()
    extra = [name for name in known if name not in words.LABELS]
    if kind == "chore" or rng.random() < 0.3:
        chosen.add(rng.choice(extra))
    return chosen


def add_merge_requests(
    shelf: Shelf, rng: random.Random, project: Project, team: Sequence[Member], titles: Sequence[str]
) -> None:
    coders = [member.user_id for member in team if member.role not in ("Guest", "Reporter")]
    everybody = [member.user_id for member in team]
    for number, (moment, title) in enumerate(zip(_moments(rng, len(titles)), titles, strict=True), 1):
        state = rng.choices(("open", "merged", "closed"), (55, 28, 17))[0]
        author = rng.choice(coders)
        others = [user for user in coders if user != author]
        request = shelf.add(
            MergeRequest, project.id, number, title, f"{rng.choice(words.REASONS)} {rng.choice(words.CHANGES)}",
            branch_for(title), "main", state, author,
            rng.choice(coders) if rng.random() < 0.75 else None,
            rng.choice(others) if others and rng.random() < 0.8 else None,
            _stamp(moment), None if state == "open" else _stamp(moment + (NOW - moment) * rng.random()),
        )  # fmt: skip
        _add_comments(shelf, rng, request, moment, everybody)


def branch_for(title: str) -> str:
    """Fix the login form -> fix-login-form."""
    return title.lower().replace(" the ", " ").replace(" ", "-")


def _add_comments(
    shelf: Shelf, rng: random.Random, on: Issue | MergeRequest, since: datetime, writers: Sequence[int]
) -> None:
    is_issue = isinstance(on, Issue)
    count = rng.choice((0, 1, 1, 2, 3) if is_issue else (0, 1, 1, 2))
    moments = sorted(since + (NOW - since) * rng.random() for _ in range(count))
    for moment in moments:
        text = " ".join(map(rng.choice, words.COMMENTS if is_issue else words.REVIEWS))
        target = (on.id, None) if is_issue else (None, on.id)
        shelf.add(Comment, *target, rng.choice(writers), text, _stamp(moment))


def _moments(rng: random.Random, count: int) -> list[datetime]:
    """Different days, oldest first."""
    days = sorted(rng.sample(range(1, OLDEST_DAYS), count), reverse=True)
    return [NOW - timedelta(days=day, minutes=rng.randint(-500, 100)) for day in days]


def _stamp(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="minutes")

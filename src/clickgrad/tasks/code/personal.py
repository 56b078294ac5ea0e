"""Templates about people and their own things, and tasks that cannot be done."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.code.ground import (
    EMMA,
    MANAGERS,
    UNCHANGED,
    Ground,
    a_or_an,
    alternate,
    ground,
    listing,
    sets_of,
    shuffled,
    task,
)
from clickgrad.tasks.code.running import people_of
from clickgrad.tasks.code.writing import insert, update
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, RowChange, StateCheck
from clickgrad.worlds.code.rows import Project
from clickgrad.worlds.people import DEFAULT_USER

# --- profiles -------------------------------------------------------------------------------------------------------

_STATUSES = (
    "Back on Monday", "On a train", "Reading reviews", "At a conference", "Writing docs", "Taking a break",
    "Fixing bugs", "Planning the release", "Away until May", "Happy to help", "Deep in thought", "Out of office",
)  # fmt: skip
_LOCATIONS = ("Berlin", "Kyoto", "Lima", "Nairobi", "Geneva", "Seattle", "Cork", "Naples", "Bergen", "Sydney")
_JOBS = ("Architect", "Librarian", "Data Analyst", "Product Manager", "Trainer", "Consultant")
_BIOS = (
    "I build tools for teachers", "Maps, music and clean code", "Slow but steady", "I answer every question",
    "Mostly here at night", "Two cats and one keyboard",
)  # fmt: skip


def people(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.people {seed}")
    users = people_of(land, rng)
    return alternate(
        _profiles(land, rng, users, "form", (("status",), ("location",), ("job",))),
        alternate(
            _profiles(land, rng, users[1:], "home", (("status",), ("status", "location"), ("bio",))),
            _follows(land, rng, 1),
        ),
        alternate(
            _profiles(land, rng, users[2:], "home", (("status", "job", "location", "bio"),)),
            _follows(land, rng, 3),
        ),
    )


def _profiles(
    land: Ground, rng: random.Random, users: Sequence[int], start: str, kinds: Sequence[Sequence[str]]
) -> Iterator[Draft]:
    pools = {"status": _STATUSES, "job": _JOBS, "location": _LOCATIONS, "bio": _BIOS}
    for user, kind in zip(users, cycle(kinds), strict=False):
        values = {name: rng.choice(pools[name]) for name in kind}
        said = [f'{name} to "{value}"' for name, value in values.items()]
        asked = f"{', my '.join(said[:-1])} and my {said[-1]}" if len(said) > 1 else said[0]
        yield task(
            f"Set my {asked}.",
            "/" if start == "home" else "/settings/profile",
            (StateCheck((update("code_users", user, **values),)),),
            (2 if start == "home" else 0) + len(kind) + 2,
            land.user(user).email,
            kind="profile",
            me=land.name(user),
            **values,
        )


def _follows(land: Ground, rng: random.Random, size: int) -> Iterator[Draft]:
    followed = {(item.follower_id, item.user_id) for item in land.data.code_follows}
    fresh = [user.id for user in land.data.code_users[1:] if (EMMA, user.id) not in followed]
    for chosen in sets_of(rng, fresh, size):
        names = [land.name(person) for person in chosen]
        rows = tuple(insert("code_follows", follower_id=EMMA, user_id=person) for person in chosen)
        yield task(
            f"Follow {listing(names)}.",
            "/",
            (StateCheck(rows),),
            4 * size + 1,
            DEFAULT_USER,
            kind="follow",
            people="|".join(names),
        )


# --- snippets -------------------------------------------------------------------------------------------------------

_SNIPPETS = {
    "Say hello": ("hello.py", 'print("hello")'),
    "List all files": ("list_files.sh", "ls -la"),
    "Add two numbers": ("add.js", "const sum = a + b;"),
    "Red text": ("red.css", "p { color: red; }"),
    "Count all users": ("count.sql", "SELECT COUNT(*) FROM users;"),
    "Show the date": ("date.sh", "date"),
    "Open a file": ("open.py", "text = open(path).read()"),
    "Empty list": ("empty.js", "const items = [];"),
    "Make a folder": ("folder.sh", "mkdir notes"),
    "Big title": ("title.css", "h1 { font-size: 40px; }"),
    "Oldest user": ("oldest.sql", "SELECT MIN(joined) FROM users;"),
    "Join words": ("join.py", 'line = " ".join(words)'),
}


def create_snippet(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.create_snippet {seed}")
    users = people_of(land, rng)
    return alternate(
        _delete_snippets(land, rng),
        _new_snippets(land, rng, users, "form"),
        _new_snippets(land, rng, users[::-1], "home"),
    )


def _delete_snippets(land: Ground, rng: random.Random) -> Iterator[Draft]:
    for index, snippet in enumerate(shuffled(rng, land.data.code_snippets)):
        here = index % 2 == 0
        change = RowChange("code_snippets", "delete", (("id", snippet.id), ("title", snippet.title)))
        yield task(
            "Delete this snippet." if here else f'Delete my snippet "{snippet.title}".',
            f"/snippets/{snippet.id}" if here else "/snippets?mine=1",
            (StateCheck((change,)),),
            2 if here else 3,
            land.user(snippet.author_id).email,
            kind="delete",
            title=snippet.title,
        )


def _new_snippets(land: Ground, rng: random.Random, users: Sequence[int], start: str) -> Iterator[Draft]:
    titles = shuffled(rng, _SNIPPETS)
    for index, (user, title) in enumerate(zip(users, cycle(titles), strict=False)):
        file_name, content = _SNIPPETS[title]
        visibility = "Private" if start == "form" and index % 2 else rng.choice(("Public", "Internal"))
        row = insert(
            "code_snippets", author_id=user, title=title, file_name=file_name, content=content, visibility=visibility
        )
        yield task(
            f'Create {a_or_an(visibility.lower())} snippet with the title "{title}", the file name {file_name}'
            f" and the content: {content}",
            "/snippets/new" if start == "form" else "/",
            (StateCheck((row,)),),
            (2 if start == "home" else 0) + 3 + (visibility != "Private") + 2,
            land.user(user).email,
            kind="create",
            title=title,
            file_name=file_name,
            content=content,
            visibility=visibility,
        )


# --- what cannot be done --------------------------------------------------------------------------------------------

_MISSING = (
    "Stone Age", "Moon Base", "Water Park", "Paper Plane", "Solar Clock", "Cloud Atlas", "Snow Globe", "Tea Room",
    "Night Bus", "Wind Farm", "Iron Bridge", "Sand Castle",
)  # fmt: skip
NOT_POSSIBLE = (AnswerCheck(("N/A",)), UNCHANGED)


def unachievable(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.unachievable {seed}")
    projects = shuffled(rng, land.seen())
    return alternate(
        alternate(_no_project(rng), _no_member(land, rng, projects), _no_right(land, rng)),
        alternate(_no_phone(land, rng), _no_issue(land, rng, projects)),
        _no_maintainer(land, rng),
    )


def _no_project(rng: random.Random) -> Iterator[Draft]:
    questions = ("How many stars does the project {} have?", "What is the license of the project {}?")
    for name, question in zip(shuffled(rng, _MISSING), cycle(questions), strict=False):
        yield task(question.format(name), "/", NOT_POSSIBLE, 2, DEFAULT_USER, kind="project", project=name)


def _no_phone(land: Ground, rng: random.Random) -> Iterator[Draft]:
    facts = ("phone number", "birthday", "home address")
    for user, fact in zip(shuffled(rng, land.data.code_users[1:]), cycle(facts), strict=False):
        yield task(
            f"What is the {fact} of {user.name}?", "/", NOT_POSSIBLE, 4, DEFAULT_USER, kind="profile", person=user.name
        )


def _no_member(land: Ground, rng: random.Random, projects: Sequence[Project]) -> Iterator[Draft]:
    for project in projects:
        name = land.name(rng.choice(land.strangers(project)))
        yield task(
            f"What is the role of {name} in {project.name}?",
            project.path,
            NOT_POSSIBLE,
            2,
            DEFAULT_USER,
            kind="members",
            projects=project.name,
            person=name,
        )


def _no_maintainer(land: Ground, rng: random.Random) -> Iterator[Draft]:
    for sample, size in zip(sets_of(rng, land.seen(), 5), cycle((3, 4, 5)), strict=False):
        group = sample[:size]
        nobody = [user.id for user in land.data.code_users[1:] if not any(land.role(p, user.id) for p in group)]
        name = land.name(rng.choice(nobody))
        names = [project.name for project in group]
        yield task(
            f"In which of the projects {listing(names)} is {name} a Maintainer?",
            "/",
            NOT_POSSIBLE,
            land.to_project(group[0]) + 1 + 3 * (size - 1) + 1,
            DEFAULT_USER,
            kind="members",
            projects="|".join(names),
            person=name,
        )


def _no_issue(land: Ground, rng: random.Random, projects: Sequence[Project]) -> Iterator[Draft]:
    for project, title in zip(projects, shuffled(rng, land.unused_titles()), strict=False):
        yield task(
            f'Who is the assignee of the issue "{title}" of {project.name}?',
            project.path,
            NOT_POSSIBLE,
            4,
            DEFAULT_USER,
            kind="issue",
            project=project.name,
            title=title,
        )


def _no_right(land: Ground, rng: random.Random) -> Iterator[Draft]:
    """Only maintainers see the settings."""
    foreign = [project for project in land.seen() if land.role(project, EMMA) not in MANAGERS]
    for project in shuffled(rng, foreign):
        yield task(
            f'Change the description of {project.name} to "Under new care".',
            "/",
            NOT_POSSIBLE,
            land.to_project(project) + 1,
            DEFAULT_USER,
            kind="settings",
            project=project.name,
        )

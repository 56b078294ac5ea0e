"""Templates kept out of training: opening merge requests, making groups, reading files."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle, product

from clickgrad.tasks.code.ground import (
    CODERS,
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
from clickgrad.tasks.code.running import INVITED_AS, Teams, people_of
from clickgrad.tasks.code.writing import insert
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, RowChange, StateCheck
from clickgrad.worlds.code.rows import Project
from clickgrad.worlds.people import DEFAULT_USER

# --- merge requests -------------------------------------------------------------------------------------------------

_FREE = ("develop", "release", "experiment", "new-design", "old-version")
_TITLES = ("Bring in the new pages", "Prepare the next version", "Try a simpler layout", "Merge the latest work",
           "Collect small changes", "Share the new design")  # fmt: skip


def open_merge_request(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.open_merge_request {seed}")
    teams = land.teams(rng, CODERS)
    return alternate(
        _requests(land, rng, teams[::3], "form", ()),
        _requests(land, rng, teams[1::3], "list", ("reviewer",)),
        _requests(land, rng, teams[2::3], "home", ("reviewer", "assignee")),
    )


def _requests(land: Ground, rng: random.Random, teams: Teams, start: str, kind: Sequence[str]) -> Iterator[Draft]:
    for project, user in teams:
        names = [b.name for b in land.data.code_branches if b.project_id == project.id and b.name in _FREE]
        source, title = rng.choice(names), rng.choice(_TITLES)
        people = rng.sample([person for person in land.members(project, CODERS) if person != user], 2)
        chosen = dict(zip(kind, people, strict=False))
        number = max((r.number for r in land.data.code_merge_requests if r.project_id == project.id), default=0) + 1
        row = insert(
            "code_merge_requests",
            project_id=project.id,
            number=number,
            title=title,
            source_branch=source,
            target_branch="main",
            state="open",
            author_id=user,
            assignee_id=chosen.get("assignee"),
            reviewer_id=chosen.get("reviewer"),
            closed=None,
        )
        parts = [f"{land.name(person)} as {role}" for role, person in chosen.items()]
        said = f", with {listing(parts)}" if parts else ""
        way = {"form": 0, "list": 1, "home": land.to_project(project, user) + 2}[start]
        where = "" if start == "form" else f" of {project.name}"
        listed = f"{project.path}/merge_requests"
        yield task(
            f'Submit a merge request titled "{title}" to merge the branch {source} into main{where}{said}.',
            {"form": f"{listed}/new", "list": listed, "home": "/"}[start],
            (StateCheck((row,)),),
            way + 2 + len(chosen) + 2,
            land.user(user).email,
            project=project.name,
            title=title,
            source=source,
            **{role: land.name(person) for role, person in chosen.items()},
        )


# --- groups ---------------------------------------------------------------------------------------------------------

_FIRST = ("Red", "Blue", "Green", "Silver", "Golden", "Quiet")
_SECOND = ("Foxes", "Owls", "Rivers", "Lions", "Pines", "Bridges")


def create_group(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.create_group {seed}")
    names = iter(shuffled(rng, (" ".join(pair) for pair in product(_FIRST, _SECOND))))
    users = people_of(land, rng)
    return alternate(
        _groups(land, rng, users[::3], names, "form", 0),
        _groups(land, rng, users[1::3], names, "home", 0),
        _groups(land, rng, users[2::3], names, "home", 1),
        _groups(land, rng, users[::-1], names, "home", 2),
    )


def _groups(
    land: Ground, rng: random.Random, users: Sequence[int], names: Iterator[str], start: str, size: int
) -> Iterator[Draft]:
    group_id = len(land.data.code_groups) + 1
    for index, (user, name) in enumerate(zip(users, names, strict=False)):
        visibility = ("Public", "Private", "Internal")[index % 3]
        people = rng.sample([person.id for person in land.data.code_users if person.id != user], size)
        members = [(person, rng.choice(INVITED_AS[1:])) for person in people]
        rows: list[RowChange] = [
            insert("code_groups", id=group_id, path=name.lower().replace(" ", "-"), name=name, visibility=visibility)
        ]
        for person, role in ((user, "Owner"), *members):
            rows.append(insert("code_group_members", group_id=group_id, user_id=person, role=role))
        said = " and ".join(f"{land.user(person).username} as {role}" for person, role in members)
        way = 2 if start == "home" else 0
        yield task(
            f'Create {a_or_an(visibility.lower())} group named "{name}"{f" with {said}" if said else ""}.',
            "/" if start == "home" else "/groups/new",
            (StateCheck(tuple(rows)),),
            way + 1 + (visibility != "Private") + 1 + bool(size) + 4 * size + 1,
            land.user(user).email,
            name=name,
            visibility=visibility,
            people="|".join(f"{land.user(person).username} {role}" for person, role in members),
        )


# --- files ----------------------------------------------------------------------------------------------------------


def file_fact(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.file_fact {seed}")
    projects = shuffled(rng, land.seen())
    return alternate(
        _one_setting(land, projects, from_home=False),
        _one_setting(land, projects[::-1], from_home=True),
        _largest_setting(land, rng),
    )


def _setting(land: Ground, project: Project, name: str) -> str:
    content = next(f.content for f in land.data.code_files if f.project_id == project.id and f.path == "config.toml")
    values = dict(line.split(" = ") for line in content.splitlines())
    return values[name].strip('"')


def _one_setting(land: Ground, projects: Sequence[Project], from_home: bool) -> Iterator[Draft]:
    for project, name in zip(projects, cycle(("port", "version", "timeout", "workers")), strict=False):
        yield task(
            f"What is the value of {name} in the file config.toml of {project.name}?",
            "/" if from_home else project.path,
            (AnswerCheck((_setting(land, project, name),)), UNCHANGED),
            (land.to_project(project) if from_home else 0) + 2,
            DEFAULT_USER,
            kind="one",
            projects=project.name,
            setting=name,
        )


def _largest_setting(land: Ground, rng: random.Random) -> Iterator[Draft]:
    for group, name in zip(sets_of(rng, land.seen(), 3), cycle(("port", "timeout", "workers")), strict=False):
        values = [int(_setting(land, project, name)) for project in group]
        if sorted(values)[-1] == sorted(values)[-2]:
            continue
        best = group[values.index(max(values))]
        names = [project.name for project in group]
        yield task(
            f"Which of the projects {listing(names)} has the largest {name} in its config.toml?",
            "/",
            (AnswerCheck((best.name,)), UNCHANGED),
            land.to_project(group[0]) + 1 + 3 * 2 + 1,
            DEFAULT_USER,
            kind="largest",
            projects="|".join(names),
            setting=name,
        )

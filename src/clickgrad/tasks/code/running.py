"""Templates that make projects, and star and fork those of others."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle, product

from clickgrad.tasks.code.ground import (
    EMMA,
    Ground,
    a_or_an,
    alternate,
    ground,
    listing,
    sets_of,
    shuffled,
    task,
)
from clickgrad.tasks.code.writing import insert
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, StateCheck
from clickgrad.worlds.code.pages import TODAY
from clickgrad.worlds.code.rows import Project
from clickgrad.worlds.code.words import LANGUAGES, LICENSES
from clickgrad.worlds.people import DEFAULT_USER

INVITED_AS = ("Guest", "Reporter", "Developer", "Maintainer")

Teams = Sequence[tuple[Project, int]]


def people_of(land: Ground, rng: random.Random) -> list[int]:
    """Everybody, the default user first."""
    return [EMMA, *shuffled(rng, range(2, len(land.data.code_users) + 1))]


# --- new projects ---------------------------------------------------------------------------------------------------

_FIRST = ("Team", "School", "Family", "Travel", "Kitchen", "Office", "Museum", "Market")
_SECOND = ("Notes", "Calendar", "Budget", "Photos", "Tasks", "Survey", "Archive", "Timer")
_PURPOSES = (
    "A place to try new ideas", "Tools we use every day", "Material for the summer course", "Plans for the next year",
    "Small helpers for the office", "Notes from our meetings",
)  # fmt: skip


def create_project(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.create_project {seed}")
    names = iter(shuffled(rng, (" ".join(pair) for pair in product(_FIRST, _SECOND))))
    users = people_of(land, rng)
    third = len(users) // 3
    return alternate(
        _simple_projects(land, rng, users[:third], names),
        _full_projects(land, rng, users[third : 2 * third], names),
        _team_projects(land, rng, [EMMA, *users[2 * third :]], names),
    )


def project_rows(
    land: Ground, user: int, name: str, readme: bool, members: Sequence[tuple[int, str]] = (), **values: str
) -> tuple[RowChange, ...]:
    """What making a project leaves: the project, its members, and the repository if it has a README."""
    project_id = len(land.projects) + 1
    slug = name.lower().replace(" ", "-")
    rows = [
        insert(
            "code_projects",
            id=project_id,
            namespace=land.user(user).username,
            slug=slug,
            name=name,
            topics="",
            base_stars=0,
            base_forks=0,
            forked_from=None,
            **values,
        )
    ]
    for person, role in ((user, "Owner"), *members):
        rows.append(insert("code_members", project_id=project_id, user_id=person, role=role, since=TODAY))
    if readme:
        rows += [
            insert("code_branches", project_id=project_id, name="main", source=""),
            insert("code_files", project_id=project_id, path="README.md", content=f"# {name}"),
            insert(
                "code_commits",
                project_id=project_id,
                branch="main",
                author_id=user,
                message="Initial commit",
                path="README.md",
            ),
        ]
    return tuple(rows)


def _simple_projects(land: Ground, rng: random.Random, users: Sequence[int], names: Iterator[str]) -> Iterator[Draft]:
    """On the form, which is set to private."""
    for user in users:
        name = next(names)
        yield task(
            f'Create a private project named "{name}".',
            "/projects/new",
            (StateCheck(project_rows(land, user, name, False, visibility="Private")),),
            3,
            land.user(user).email,
            name=name,
            visibility="Private",
            readme=False,
            description=None,
            language=None,
            license=None,
            people="",
        )


def _full_projects(land: Ground, rng: random.Random, users: Sequence[int], names: Iterator[str]) -> Iterator[Draft]:
    kinds = ("visibility readme", "description readme", "language license", "visibility language")
    others = [language for language in LANGUAGES if language != "Python"]  # which is chosen already
    for user, kind in zip(users, map(str.split, cycle(kinds)), strict=False):
        name, readme = next(names), "readme" in kind
        visibility = rng.choice(("Public", "Internal")) if "visibility" in kind else "Private"
        values = {"visibility": visibility}
        values |= {"description": rng.choice(_PURPOSES)} if "description" in kind else {}
        values |= {"language": rng.choice(others)} if "language" in kind else {}
        values |= {"license": rng.choice(LICENSES)} if "license" in kind else {}
        said = [f'the description "{values["description"]}"'] if "description" in values else []
        said += [f"the language {values['language']}"] if "language" in values else []
        said += [f"the license {values['license']}"] if "license" in values else []
        said += ["a README"] if readme else []
        rows = project_rows(land, user, name, readme, (), **values)
        yield task(
            f'Create {a_or_an(visibility.lower())} project named "{name}" with {" and ".join(said)}.',
            "/",
            (StateCheck(rows),),
            2 + len(kind) + 2,
            land.user(user).email,
            name=name,
            visibility=visibility,
            readme=readme,
            description=values.get("description"),
            language=values.get("language"),
            license=values.get("license"),
            people="",
        )


def _team_projects(land: Ground, rng: random.Random, users: Sequence[int], names: Iterator[str]) -> Iterator[Draft]:
    for index, user in enumerate(users):
        name, size = next(names), 1 + index % 3
        chosen = rng.sample([person.id for person in land.data.code_users if person.id != user], size)
        members = [(person, rng.choice(INVITED_AS[1:])) for person in chosen]
        said = listing([f"{land.user(person).username} as {role}" for person, role in members])
        rows = project_rows(land, user, name, True, members, visibility="Private")
        yield task(
            f'Create a private project named "{name}" with a README and invite {said}.',
            "/",
            (StateCheck(rows),),
            5 + 4 * size + 1,
            land.user(user).email,
            name=name,
            visibility="Private",
            readme=True,
            description=None,
            language=None,
            license=None,
            people="|".join(f"{land.user(person).username} {role}" for person, role in members),
        )


# --- stars and forks ------------------------------------------------------------------------------------------------


def star_or_fork(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.star_or_fork {seed}")
    projects = shuffled(rng, land.seen())
    return alternate(
        _here(land, projects),
        alternate(_two_stars(land, rng), _one_fork(land, projects[::-1])),
        alternate(_top_stars(land, rng), _several_forks(land, rng)),
    )


def _starred(land: Ground, project: Project, user: int) -> RowChange:
    return insert("code_stars", project_id=project.id, user_id=user)


def fork_rows(land: Ground, user: int, origins: Sequence[Project]) -> tuple[RowChange, ...]:
    rows: list[RowChange] = []
    for project_id, origin in enumerate(origins, len(land.projects) + 1):
        files = [file for file in land.data.code_files if file.project_id == origin.id]
        rows += [
            insert(
                "code_projects",
                namespace=land.user(user).username,
                slug=origin.slug,
                name=origin.name,
                description=origin.description,
                visibility=origin.visibility,
                language=origin.language,
                license=origin.license,
                topics=origin.topics,
                base_stars=0,
                base_forks=0,
                forked_from=origin.id,
            ),
            insert("code_members", project_id=project_id, user_id=user, role="Owner", since=TODAY),
            insert("code_branches", project_id=project_id, name="main", source=""),
        ]
        rows += [insert("code_files", project_id=project_id, path=file.path, content=file.content) for file in files]
        rows += [
            insert(
                "code_commits",
                project_id=project_id,
                branch="main",
                author_id=commit.author_id,
                sha=commit.sha,
                message=commit.message,
                path=commit.path,
            )
            for commit in land.commits(origin)
        ]
    return tuple(rows)


def _forkable(land: Ground, user: int = EMMA) -> list[Project]:
    return [project for project in land.seen(user) if project.namespace != land.user(user).username]


def _here(land: Ground, projects: Sequence[Project]) -> Iterator[Draft]:
    """On the project's own page: star, fork, or take back a star."""
    for index, project in enumerate(projects):
        if land.has_starred(EMMA, project):
            star = next(s for s in land.data.code_stars if (s.user_id, s.project_id) == (EMMA, project.id))
            changes: tuple[RowChange, ...] = (RowChange("code_stars", "delete", (("id", star.id),)),)
            intent, button = "Take back my star from this project.", "Unstar"
        elif index % 2 and project in _forkable(land):
            intent, button, changes = "Fork this project.", "Fork", fork_rows(land, EMMA, (project,))
        else:
            intent, button, changes = "Star this project.", "Star", (_starred(land, project, EMMA),)
        yield task(
            intent,
            project.path,
            (StateCheck(changes),),
            3 if button == "Fork" else 2,
            DEFAULT_USER,
            kind=button,
            projects=project.name,
        )


def _one_fork(land: Ground, projects: Sequence[Project]) -> Iterator[Draft]:
    for project in projects:
        if project in _forkable(land):
            yield task(
                f"Fork the project {project.name}.",
                "/",
                (StateCheck(fork_rows(land, EMMA, (project,))),),
                land.to_project(project) + 3,
                DEFAULT_USER,
                kind="Fork",
                projects=project.name,
            )


def _two_stars(land: Ground, rng: random.Random) -> Iterator[Draft]:
    fresh = [project for project in land.seen() if not land.has_starred(EMMA, project)]
    for one, other in sets_of(rng, fresh, 2):
        yield task(
            f"Star the projects {one.name} and {other.name}.",
            "/",
            (StateCheck((_starred(land, one, EMMA), _starred(land, other, EMMA))),),
            land.to_project(one) + 1 + 3 + 1,
            DEFAULT_USER,
            kind="Star",
            projects=f"{one.name}|{other.name}",
        )


def _top_stars(land: Ground, rng: random.Random) -> Iterator[Draft]:
    """The first is opened from the list, the others are searched for: [language,] order, Apply before, exit after."""
    users = people_of(land, rng)
    kinds = cycle(("", *rng.sample(sorted(LANGUAGES), 3)))
    for user, language, number in zip(users, kinds, cycle((3, 2, 4)), strict=False):
        fitting = [project for project in land.seen(user) if language in ("", project.language)]
        top = sorted(fitting, key=land.stars, reverse=True)[:number]
        if len(top) < number or any(land.has_starred(user, project) for project in top):
            continue
        word = {2: "two", 3: "three", 4: "four"}[number]
        yield task(
            f"Star the {word} {f'{language} ' if language else ''}projects with the most stars.",
            "/explore",
            (StateCheck(tuple(_starred(land, project, user) for project in top)),),
            bool(language) + 2 + 2 + 3 * (number - 1) + 1,
            land.user(user).email,
            kind="top",
            number=number,
            language=language,
        )


def _several_forks(land: Ground, rng: random.Random) -> Iterator[Draft]:
    for sample, size in zip(sets_of(rng, _forkable(land), 3), cycle((2, 3)), strict=False):
        chosen = sample[:size]
        names = [project.name for project in chosen]
        yield task(
            f"Fork the projects {listing(names)}, in this order.",
            "/",
            (StateCheck(fork_rows(land, EMMA, chosen)),),
            land.to_project(chosen[0]) + 2 + 4 * (size - 1) + 1,
            DEFAULT_USER,
            kind="Fork",
            projects="|".join(names),
        )

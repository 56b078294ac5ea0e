"""Templates about projects that only look: facts, comparisons, commits and members."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, cycle

from clickgrad.tasks.code.ground import (
    EMMA,
    UNCHANGED,
    Ground,
    alternate,
    ground,
    listing,
    sets_of,
    shuffled,
    spread,
    task,
)
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck
from clickgrad.worlds.code.listing import PAGE_SIZE, PROJECT_SORTS
from clickgrad.worlds.code.rows import Project
from clickgrad.worlds.pages import day
from clickgrad.worlds.people import DEFAULT_USER

# fact -> (the question, the answer, whether lists of projects show it)
_FACTS: dict[str, tuple[str, Callable[[Ground, Project], str], bool]] = {
    "License": ("What is the license of {}?", lambda land, item: item.license, False),
    "stars": ("How many stars does {} have?", lambda land, item: str(land.stars(item)), True),
    "Clone with SSH": (
        "What is the address to clone {} with SSH?",
        lambda land, item: f"git@code.localhost:{item.namespace}/{item.slug}.git",
        False,
    ),
    "Topics": ("What are the topics of {}?", lambda land, item: item.topics, False),
    "forks": ("How many forks does {} have?", lambda land, item: str(item.base_forks), True),
    "Clone with HTTP": (
        "What is the address to clone {} with HTTP?",
        lambda land, item: f"http://code.localhost/{item.namespace}/{item.slug}.git",
        False,
    ),
    "Commits": ("How many commits does {} have?", lambda land, item: str(len(land.commits(item))), False),
}
_ORDINALS = ("most", "second most", "third most")


# --- facts ----------------------------------------------------------------------------------------------------------


def project_fact(seed: int) -> Iterator[Draft]:
    """One fact; the same fact of two projects; the commits of several projects together."""
    land, rng = ground(seed), random.Random(f"code.project_fact {seed}")
    projects = shuffled(rng, land.seen())
    return alternate(_one_fact(land, projects), _two_facts(land, rng), _commits_together(land, rng))


def _one_fact(land: Ground, projects: Sequence[Project]) -> Iterator[Draft]:
    for index, (project, fact) in enumerate(zip(projects, cycle(_FACTS), strict=False)):
        question, answer, listed = _FACTS[fact]
        on_list = index % 2 == 1
        yield task(
            question.format(project.name),
            _explore_page(land, project) if on_list and not listed else "/",
            (AnswerCheck((answer(land, project),)), UNCHANGED),
            # from the list: open, answer; from home: open or search and open, answer; listed facts need no opening
            2 if on_list and not listed else land.to_project(project) + (not listed),
            DEFAULT_USER,
            fact=fact,
            projects=project.name,
        )


def _explore_page(land: Ground, project: Project) -> str:
    names = sorted(other.name for other in land.seen())
    number = names.index(project.name) // PAGE_SIZE + 1
    return f"/explore?page={number}" if number > 1 else "/explore"


def _two_facts(land: Ground, rng: random.Random) -> Iterator[Draft]:
    for pair, fact in zip(sets_of(rng, land.seen(), 2), cycle(("License", "Topics", "Clone with SSH")), strict=False):
        values = [_FACTS[fact][1](land, project) for project in pair]
        if values[0] == values[1]:
            continue
        word = {"License": "the license", "Topics": "the topics", "Clone with SSH": "the SSH clone address"}[fact]
        first, second = pair
        yield task(
            f"Give me {word} of {first.name} and then {word} of {second.name}, separated by a semicolon.",
            "/",
            (AnswerCheck(("; ".join(values), ";".join(values))), UNCHANGED),
            land.to_project(first) + 3,
            DEFAULT_USER,
            fact=fact,
            projects=f"{first.name}|{second.name}",
        )


def _commits_together(land: Ground, rng: random.Random) -> Iterator[Draft]:
    for group, size in zip(sets_of(rng, land.seen(), 7), cycle((5, 7, 6)), strict=False):
        names = [project.name for project in group[:size]]
        total = sum(len(land.commits(project)) for project in group[:size])
        yield task(
            f"How many commits do {listing(names)} have together?",
            "/",
            (AnswerCheck((str(total),)), UNCHANGED),
            land.to_project(group[0]) + 2 * (size - 1) + 1,
            DEFAULT_USER,
            fact="Commits",
            projects="|".join(names),
        )


# --- comparing ------------------------------------------------------------------------------------------------------


def compare_projects(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.compare_projects {seed}")
    return alternate(_ranked(land, rng), _ranked_by_language(land, rng), _most_commits(land, rng))


def _ranked(land: Ground, rng: random.Random) -> Iterator[Draft]:
    """From the list of all projects: choose an order, apply, answer."""
    questions = [
        (sort, rank, language)
        for sort in ("stars", "forks")
        for rank in range(3)
        for language in ("", "Go", "Java", "JavaScript", "Python", "Rust")
    ]
    for sort, rank, language in shuffled(rng, questions):
        fitting = [project for project in land.seen() if language in ("", project.language)]
        if len(fitting) > rank + 1:
            start = f"/explore?language={language}" if language else "/explore"
            yield _rank_task(land, fitting, sort, rank, language, start, True)


def _ranked_by_language(land: Ground, rng: random.Random) -> Iterator[Draft]:
    """From home or the whole list, with a language to choose."""
    questions = [
        (sort, rank, language)
        for sort in ("stars", "forks")
        for rank in range(3)
        for language in ("Go", "Java", "JavaScript", "Python", "Rust")
    ]
    for index, (sort, rank, language) in enumerate(shuffled(rng, questions)):
        fitting = [project for project in land.seen() if language == project.language]
        if len(fitting) > rank + 1:
            yield _rank_task(land, fitting, sort, rank, language, "/snippets" if index % 2 else "/todo", False)


def _rank_task(
    land: Ground, fitting: Sequence[Project], sort: str, rank: int, language: str, start: str, listed: bool
) -> Draft:
    def merit(project: Project) -> int:
        return land.stars(project) if sort == "stars" else project.base_forks

    best = sorted(fitting, key=merit, reverse=True)[rank]
    kind = f"{language} project" if language else "project"
    # Explore, language, order, Apply, exit
    turns = 3 if listed else 4 + bool(language)
    return task(
        f"Which {kind} has the {_ORDINALS[rank]} {sort}?",
        start,
        (AnswerCheck((best.name,)), UNCHANGED),
        turns,
        DEFAULT_USER,
        kind="rank",
        sort=PROJECT_SORTS[sort],
        rank=rank,
        language=language,
    )


def _most_commits(land: Ground, rng: random.Random) -> Iterator[Draft]:
    found = []
    for sample, size in zip(sets_of(rng, land.seen(), 7), cycle((6, 5, 7)), strict=False):
        group = sample[:size]
        ranked = sorted(group, key=lambda project: len(land.commits(project)), reverse=True)
        if len(land.commits(ranked[0])) > len(land.commits(ranked[1])):
            found.append((group, ranked[0]))
    for group, best in spread(found, key=lambda item: item[1].id):
        names = [project.name for project in group]
        yield task(
            f"Which of the projects {listing(names)} has the most commits?",
            "/",
            (AnswerCheck((best.name,)), UNCHANGED),
            land.to_project(group[0]) + 2 * len(group) - 1,
            DEFAULT_USER,
            kind="commits",
            projects="|".join(names),
        )


# --- commits --------------------------------------------------------------------------------------------------------


def commits(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.commits {seed}")
    projects, others = shuffled(rng, land.seen()), shuffled(rng, land.seen())
    return alternate(
        alternate(_by_author(land, rng, projects, from_home=False), _top_contributor(land, others, from_home=False)),
        alternate(_by_author(land, rng, projects[::-1], from_home=True), _top_contributor(land, others[::-1], True)),
        _in_several_projects(land, rng),
    )


def _by_author(land: Ground, rng: random.Random, projects: Sequence[Project], from_home: bool) -> Iterator[Draft]:
    """In all, or on a day with several authors or several commits."""
    found: list[tuple[Project, int, str, int]] = []
    for project in projects:
        made = land.commits(project)
        author = rng.choice(sorted({commit.author_id for commit in made}))
        own = [commit for commit in made if commit.author_id == author]
        days = Counter(commit.created[:10] for commit in own)
        date, number = max(days.items(), key=lambda item: (item[1], item[0]))
        found += [(project, author, "", len(own))] if len(found) % 2 else [(project, author, date, number)]
    for project, author, date, number in spread(found, key=lambda item: item[3]):
        name = land.name(author)
        yield task(
            f"How many commits did {name} make to {project.name}{f' on {day(date)}' if date else ''}?",
            "/" if from_home else f"{project.path}/commits",
            (AnswerCheck((str(number),)), UNCHANGED),
            (land.to_project(project) + 1 if from_home else 0) + 3,  # author, Apply, exit
            DEFAULT_USER,
            kind="count",
            projects=project.name,
            author=name,
            date=day(date) if date else None,
        )


def _in_several_projects(land: Ground, rng: random.Random) -> Iterator[Draft]:
    made: dict[int, dict[int, int]] = {}  # author -> project -> number of commits
    for project in land.seen():
        for commit in land.commits(project):
            counts = made.setdefault(commit.author_id, {})
            counts[project.id] = counts.get(project.id, 0) + 1
    chosen = [
        (author, group, sum(counts[id_] for id_ in group))
        for author, counts in made.items()
        for size in (2, 3)
        for group in combinations(sorted(counts), size)
    ]
    # Few people are busy in many projects: one of each in turn, then by the answer.
    fair = spread(shuffled(rng, chosen), key=lambda item: item[0])[:200]
    for author, group, number in spread(fair, key=lambda item: item[2]):
        projects = [land.project(id_) for id_ in group]
        names = [project.name for project in projects]
        yield task(
            f"How many commits did {land.name(author)} make to {listing(names)} together?",
            "/",
            (AnswerCheck((str(number),)), UNCHANGED),
            land.to_project(projects[0]) + 3 + 5 * (len(group) - 1) + 1,
            DEFAULT_USER,
            kind="count",
            projects="|".join(names),
            author=land.name(author),
            date=None,
        )


def _top_contributor(land: Ground, projects: Sequence[Project], from_home: bool) -> Iterator[Draft]:
    for index, project in enumerate(projects):
        ranking = Counter(commit.author_id for commit in land.commits(project)).most_common()
        top = land.user(ranking[0][0])
        wants_email = index % 2 == 1
        question = "What is the email of the person" if wants_email else "Who is the person"
        yield task(
            f"{question} with the most commits to {project.name}?",
            "/" if from_home else f"{project.path}/commits",
            (AnswerCheck((top.email,) if wants_email else (top.name, top.username)), UNCHANGED),
            (land.to_project(project) + 1 if from_home else 0) + 2 + wants_email,
            DEFAULT_USER,
            kind="top",
            projects=project.name,
            fact="Email" if wants_email else None,
        )


# --- members --------------------------------------------------------------------------------------------------------


def member_role(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.member_role {seed}")
    projects = shuffled(rng, land.seen())
    return alternate(_role_of(land, rng, projects), _about_owner(land, projects[::-1]), _where_is(land, rng))


def _role_of(land: Ground, rng: random.Random, projects: Sequence[Project]) -> Iterator[Draft]:
    found = [
        (project, user, land.role(project, user))
        for project in projects
        for user in shuffled(rng, [user for user in land.members(project) if user != EMMA])[:2]
    ]
    for index, (project, user, role) in enumerate(spread(found, key=lambda item: item[2])):
        from_home = index % 3 == 2
        yield task(
            f"What is the role of {land.name(user)} in {project.name}?",
            "/" if from_home else project.path,
            (AnswerCheck((role,)), UNCHANGED),
            (land.to_project(project) if from_home else 0) + 2,
            DEFAULT_USER,
            kind="role",
            projects=project.name,
            person=land.name(user),
            role=None,
        )


def _about_owner(land: Ground, projects: Sequence[Project]) -> Iterator[Draft]:
    facts = {"Location": "In which location is", "Email": "What is the email of", "Job": "What is the job of"}
    for index, (project, fact) in enumerate(zip(projects, cycle(facts), strict=False)):
        owner = land.user(land.members(project, ("Owner",))[0])
        from_home = index % 2 == 0
        yield task(
            f"{facts[fact]} the owner of {project.name}?",
            "/" if from_home else project.path,
            (AnswerCheck((str(getattr(owner, fact.lower())),)), UNCHANGED),
            (land.to_project(project) if from_home else 0) + 3,  # Members, the owner, exit
            DEFAULT_USER,
            kind="owner",
            projects=project.name,
            fact=fact,
        )


def _where_is(land: Ground, rng: random.Random) -> Iterator[Draft]:
    """Somebody has this role in one of the projects, and another or none in the others."""
    seen = land.seen()
    found = []
    for sample, size in zip(sets_of(rng, seen, 5), cycle((4, 3, 5)), strict=False):
        group = sample[:size]
        for user in shuffled(rng, land.members(group[0])):
            roles = [land.role(project, user) for project in group]
            if user != EMMA and roles.count(roles[0]) == 1:
                found.append((shuffled(rng, group), user, group[0], roles[0]))
                break
    for mixed, user, answer, role in spread(found, key=lambda item: item[2].id):
        names = [project.name for project in mixed]
        article = "an" if role == "Owner" else "a"
        yield task(
            f"In which of the projects {listing(names)} is {land.name(user)} {article} {role}?",
            "/",
            (AnswerCheck((answer.name,)), UNCHANGED),
            land.to_project(mixed[0]) + 1 + 3 * (len(mixed) - 1) + 1,
            DEFAULT_USER,
            kind="where",
            projects="|".join(names),
            person=land.name(user),
            role=role,
        )

"""Templates that add to a project: milestones, labels, branches."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.code.ground import (
    CODERS,
    PLANNERS,
    Ground,
    alternate,
    ground,
    listing,
    sets_of,
    shuffled,
    task,
)
from clickgrad.tasks.code.writing import insert, later
from clickgrad.tasks.templates import Draft
from clickgrad.types import Scalar, StateCheck
from clickgrad.worlds.code.rows import Project

_MILESTONES = ("Spring Release", "Summer Release", "Autumn Release", "Winter Release", "First Beta", "Second Beta",
               "Design Week", "Speed Week", "Bug Week", "Public Test", "School Edition", "Team Edition")  # fmt: skip
_LABELS = ("blocked", "ready", "easy", "hard", "mobile", "server", "duplicate", "later", "good idea", "needs tests",
           "for review", "translation")  # fmt: skip
_COLORS = ("Red", "Orange", "Green", "Teal", "Purple", "Gray")
_BRANCHES = ("dark-theme", "fast-search", "new-menu", "mail-alerts", "offline-mode", "better-help", "small-fixes",
             "spring-release", "user-guide", "test-server", "image-upload", "quick-start")  # fmt: skip


def add_to_project(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.add_to_project {seed}")
    planners, coders = land.teams(rng, PLANNERS), land.teams(rng, CODERS)
    return alternate(
        alternate(_new_label(land, rng, planners), _new_branch(land, rng, coders[::2], "form")),
        alternate(_new_milestone(land, rng, planners[::2], "form"), _new_branch(land, rng, coders[1::2], "project")),
        alternate(_new_milestone(land, rng, planners[1::2], "home"), _several_labels(land, rng, planners[::-1])),
    )


def _new_label(land: Ground, rng: random.Random, teams: Sequence[tuple[Project, int]]) -> Iterator[Draft]:
    for index, ((project, user), name) in enumerate(zip(teams, cycle(shuffled(rng, _LABELS)), strict=False)):
        color = "Blue" if index % 2 else rng.choice(_COLORS)
        asked = f'Create the label "{name}" here' + (f" with the color {color}." if color != "Blue" else ".")
        row: dict[str, Scalar] = {"project_id": project.id, "name": name}
        row |= {"color": color.lower()} if color != "Blue" else {}
        yield task(
            asked,
            f"{project.path}/labels/new",
            (StateCheck((insert("code_labels", **row),)),),
            3 + (color != "Blue"),
            land.user(user).email,
            kind="labels",
            project=project.name,
            names=name,
            colors=color,
        )


def _several_labels(land: Ground, rng: random.Random, teams: Sequence[tuple[Project, int]]) -> Iterator[Draft]:
    for (project, user), sample, size in zip(teams, sets_of(rng, _LABELS, 3), cycle((2, 3)), strict=False):
        chosen = list(zip(sample, rng.sample(_COLORS, 3), strict=True))[:size]
        rows = [insert("code_labels", project_id=project.id, name=name, color=color.lower()) for name, color in chosen]
        said = [f'"{name}" with the color {color}' for name, color in chosen]
        yield task(
            f"Create these labels in {project.name}: {listing(said)}.",
            f"{project.path}/issues",
            (StateCheck(tuple(rows)),),
            4 * size + 2,
            land.user(user).email,
            kind="labels",
            project=project.name,
            names="|".join(name for name, _ in chosen),
            colors="|".join(color for _, color in chosen),
        )


def _new_branch(land: Ground, rng: random.Random, teams: Sequence[tuple[Project, int]], start: str) -> Iterator[Draft]:
    for (project, user), name in zip(teams, cycle(shuffled(rng, _BRANCHES)), strict=False):
        others = [branch.name for branch in land.data.code_branches if branch.project_id == project.id]
        source = rng.choice([branch for branch in others if branch != "main"]) if start == "project" else "main"
        row = insert("code_branches", project_id=project.id, name=name, source=source)
        yield task(
            f'Create the branch "{name}" from the branch {source}.',
            f"{project.path}/branches/new" if start == "form" else project.path,
            (StateCheck((row,)),),
            3 if start == "form" else 6,
            land.user(user).email,
            kind="branch",
            project=project.name,
            name=name,
            source=source,
        )


def _new_milestone(
    land: Ground, rng: random.Random, teams: Sequence[tuple[Project, int]], start: str
) -> Iterator[Draft]:
    for (project, user), title in zip(teams, cycle(shuffled(rng, _MILESTONES)), strict=False):
        begins, ends = later(rng, 3, 30), later(rng, 40, 120)
        row = insert(
            "code_milestones", project_id=project.id, title=title, state="open", start_date=begins, due_date=ends
        )
        where = "" if start == "form" else f" in {project.name}"
        way = 0 if start == "form" else land.to_project(project, user) + 3
        yield task(
            f'Create the milestone "{title}"{where} with the start date {begins} and the due date {ends}.',
            f"{project.path}/milestones/new" if start == "form" else "/",
            (StateCheck((row,)),),
            way + 5,
            land.user(user).email,
            kind="milestone",
            project=project.name,
            title=title,
            start=begins,
            due=ends,
        )

"""What a project's repository holds at the start: branches, files and commits."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from datetime import timedelta
from itertools import product

from clickgrad.worlds.code import words
from clickgrad.worlds.code.rows import Branch, Commit, File, Member, MergeRequest, Project, Shelf
from clickgrad.worlds.site import NOW

MAIN = "main"


def add_branches(shelf: Shelf, rng: random.Random, project: Project) -> None:
    """The main branch, those of merge requests that are not merged, and one or two that wait for a merge request."""
    shelf.add(Branch, project.id, MAIN, "", project.created)
    for request in _unmerged(shelf, project):
        shelf.add(Branch, project.id, request.source_branch, MAIN, request.created[:10])
    for name in rng.sample(("develop", "release", "experiment", "new-design", "old-version"), rng.randint(1, 2)):
        days = rng.randint(20, 90)
        shelf.add(Branch, project.id, name, MAIN, (NOW.date() - timedelta(days=days)).isoformat())


def add_files(shelf: Shelf, rng: random.Random, project: Project) -> None:
    main, test = words.LANGUAGES[project.language]
    version = f"{rng.randint(0, 4)}.{rng.randint(0, 9)}.{rng.randint(0, 9)}"
    released = (NOW.date() - timedelta(days=rng.randint(5, 90))).isoformat()
    install = rng.sample(words.INSTALL_STEPS, 3)
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(install, 1))
    changes = [f"- {rng.choice(words.VERBS)} {thing}" for thing in rng.sample(words.OBJECTS, 3)]
    settings = {
        "version": f'"{version}"',
        "port": rng.randrange(3000, 9999),
        "timeout": rng.randrange(5, 120),
        "workers": rng.randrange(2, 40),
        "cache_days": rng.randrange(1, 60),
    }
    contents = {
        ".gitignore": "build\n*.log",
        "CHANGELOG.md": f"# Version {version}\n\nReleased on {released}\n\n" + "\n".join(changes),
        "LICENSE": f"{project.license}\n\nCopyright {project.created[:4]} {project.name}",
        "README.md": f"# {project.name}\n\n{project.description}.\n\nRead docs/install.md to start.",
        "config.toml": "\n".join(f"{name} = {value}" for name, value in settings.items()),
        "docs/install.md": f"# Install {project.name}\n\n{steps}",
        "docs/help.md": f"# Help\n\nOpen an issue with the label {rng.choice(words.LABELS)}.",
        main: words.SOURCES[project.language],
        test: words.TESTS[project.language],
    }
    for path, content in contents.items():
        shelf.add(File, project.id, path, content)


def add_commits(shelf: Shelf, rng: random.Random, project: Project, team: Sequence[Member]) -> None:
    """One person has made more commits to main than anybody else. Work comes in bursts: some days have several."""
    coders = [member.user_id for member in team if member.role not in ("Guest", "Reporter")]
    authors = rng.sample(coders, min(len(coders), rng.randint(3, 5)))
    most = rng.randint(5, 7)
    made = [authors[0]] * most + [author for author in authors[1:] for _ in range(rng.randint(1, most - 1))]
    rng.shuffle(made)
    days = rng.sample(range(1, 100), max(4, len(made) // 2))
    minutes = sorted(
        (day * 1440 + minute for day, minute in zip(rng.choices(days, k=len(made)), _minutes(rng, made), strict=True)),
        reverse=True,
    )
    paths = [file.path for file in shelf.rows(File) if file.project_id == project.id]
    messages = [f"{verb} {thing}" for verb, thing in product(words.VERBS, words.OBJECTS)]
    requests = _unmerged(shelf, project)
    fresh = iter(rng.sample(messages, len(made) + 2 * len(requests)))

    def add(branch: str, author: int, created: str) -> None:
        sha = hashlib.sha256(f"{project.slug} {len(shelf.rows(Commit))} {rng.random()}".encode()).hexdigest()[:8]
        shelf.add(Commit, project.id, branch, author, sha, next(fresh), rng.choice(paths), created)

    for author, minute in zip(made, minutes, strict=True):
        add(MAIN, author, (NOW - timedelta(minutes=minute)).isoformat(sep=" ", timespec="minutes"))
    for request in requests:
        for _ in range(rng.randint(1, 2)):
            add(request.source_branch, request.author_id, request.created)


def _minutes(rng: random.Random, made: Sequence[int]) -> list[int]:
    """Different for every commit, so that there is one order."""
    return rng.sample(range(-600, 300), len(made))


def _unmerged(shelf: Shelf, project: Project) -> list[MergeRequest]:
    return [
        request
        for request in shelf.rows(MergeRequest)
        if request.project_id == project.id and request.state != "merged"
    ]

"""What the code site shows at the start, looked up the way its pages do, and how far it is from here to there.

Turns are counted from these: which project the first page of a list has decides whether a click or a search comes next.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import TypeVar

from clickgrad.tasks.templates import Draft
from clickgrad.types import Check, Scalar, StateCheck
from clickgrad.worlds.code import words
from clickgrad.worlds.code.data import code_data
from clickgrad.worlds.code.listing import PAGE_SIZE
from clickgrad.worlds.code.rows import Commit, Issue, Label, MergeRequest, Milestone, Project, User

T = TypeVar("T")

EMMA = 1  # the default user
MANAGERS = ("Maintainer", "Owner")
CODERS = ("Developer", *MANAGERS)
PLANNERS = ("Reporter", *CODERS)
UNCHANGED = StateCheck(())


class Ground:
    """The start of one universe."""

    def __init__(self, seed: int) -> None:
        self.data = code_data(seed)
        self.projects = self.data.code_projects

    def project(self, id_: int) -> Project:
        return self.projects[id_ - 1]

    def user(self, id_: int) -> User:
        return self.data.code_users[id_ - 1]

    def name(self, id_: int | None) -> str:
        return self.user(id_).name if id_ else "Nobody"

    @cached_property
    def _roles(self) -> dict[tuple[int, int], str]:
        return {(member.project_id, member.user_id): member.role for member in self.data.code_members}

    @cached_property
    def _issues(self) -> dict[int, list[Issue]]:
        found: dict[int, list[Issue]] = {}
        for issue in sorted(self.data.code_issues, key=lambda item: (item.created, item.id), reverse=True):
            found.setdefault(issue.project_id, []).append(issue)
        return found

    @cached_property
    def _label_ids(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for item in self.data.code_issue_labels:
            found.setdefault(item.issue_id, []).append(item.label_id)
        return found

    @cached_property
    def _commits(self) -> dict[int, list[Commit]]:
        found: dict[int, list[Commit]] = {}
        for commit in sorted(self.data.code_commits, key=lambda item: (item.created, item.id), reverse=True):
            if commit.branch == "main":
                found.setdefault(commit.project_id, []).append(commit)
        return found

    def role(self, project: Project, user: int) -> str:
        return self._roles.get((project.id, user), "")

    def members(self, project: Project, roles: Sequence[str] = ()) -> list[int]:
        """Users with one of these roles, or all, in the order of the members page."""
        own = [(user, role) for (id_, user), role in self._roles.items() if id_ == project.id]
        return sorted((user for user, role in own if not roles or role in roles), key=self.name)

    def strangers(self, project: Project) -> list[int]:
        return [user.id for user in self.data.code_users if not self.role(project, user.id)]

    def sees(self, user: int, project: Project) -> bool:
        return project.visibility != "Private" or bool(self.role(project, user))

    def seen(self, user: int = EMMA) -> list[Project]:
        return [project for project in self.projects if self.sees(user, project)]

    def with_role(self, user: int, roles: Sequence[str]) -> list[Project]:
        return [project for project in self.projects if self.role(project, user) in roles]

    def teams(self, rng: random.Random, roles: Sequence[str]) -> list[tuple[Project, int]]:
        """A project and somebody with one of these roles: the default user's first of all, then everybody's."""
        own = [(project, EMMA) for project in self.with_role(EMMA, roles)]
        others = [(project, user) for project in self.projects for user in self.members(project, roles) if user != EMMA]
        return rng.sample(own, len(own)) + rng.sample(others, len(others))

    # --- lists as pages show them ---

    def stars(self, project: Project) -> int:
        return project.base_stars + sum(star.project_id == project.id for star in self.data.code_stars)

    def has_starred(self, user: int, project: Project) -> bool:
        return any((star.user_id, star.project_id) == (user, project.id) for star in self.data.code_stars)

    @cache  # noqa: B019  # a ground lives as long as the program
    def home(self, user: int) -> tuple[str, ...]:
        """The projects on the first page after logging in."""
        own = sorted(project.name for project in self.projects if self.role(project, user))
        return tuple(own[:PAGE_SIZE])

    def issues(self, project: Project, state: str = "open") -> list[Issue]:
        """The newest first."""
        return [item for item in self._issues[project.id] if state in ("all", item.state)]

    def first_issues(self, project: Project) -> list[Issue]:
        return self.issues(project)[:PAGE_SIZE]

    def requests(self, project: Project, state: str = "open") -> list[MergeRequest]:
        """The newest first."""
        own = [item for item in self.data.code_merge_requests if item.project_id == project.id and item.state == state]
        return sorted(own, key=lambda item: (item.created, item.id), reverse=True)

    def labels(self, project: Project) -> list[Label]:
        return [label for label in self.data.code_labels if label.project_id == project.id]

    def label_names(self, issue: Issue) -> list[str]:
        return sorted(self.data.code_labels[id_ - 1].name for id_ in self._label_ids.get(issue.id, ()))

    def milestones(self, project: Project) -> list[Milestone]:
        return [item for item in self.data.code_milestones if item.project_id == project.id]

    def milestone_title(self, issue: Issue) -> str:
        return self.data.code_milestones[issue.milestone_id - 1].title if issue.milestone_id else "None"

    def commits(self, project: Project) -> list[Commit]:
        """Those on main, the newest first."""
        return self._commits[project.id]

    def unused_titles(self) -> list[str]:
        """What could be the title of an issue but is none's."""
        used = {issue.title for issue in self.data.code_issues}
        titles = (f"{component} {problem}" for component in words.COMPONENTS for problem in words.PROBLEMS)
        return [title for title in titles if title not in used]

    # --- ways ---

    def to_project(self, project: Project, user: int = EMMA) -> int:
        """Turns from home to the project: a click when it is listed there, else a search and a click."""
        return 1 if project.name in self.home(user) else 2

    def to_issue(self, issue: Issue) -> int:
        """Turns from the list of issues to this one: a click, after a search if need be, after choosing closed ones."""
        if issue.state == "closed":
            return 3
        return 1 if issue in self.first_issues(self.project(issue.project_id)) else 2


@cache
def ground(seed: int) -> Ground:
    return Ground(seed)


def task(intent: str, start: str, checks: Iterable[Check], turns: int, email: str, /, **params: Scalar) -> Draft:
    return Draft(intent, start, tuple(checks), turns, tuple(params.items()), email)


def alternate(*kinds: Iterator[Draft]) -> Iterator[Draft]:
    """One of each kind in turn, none twice, until one of them has no more."""
    seen: set[tuple[str, str, str]] = set()
    while True:
        for kind in kinds:
            for draft in kind:
                key = (draft.intent, draft.start_path, draft.user)
                if key not in seen:
                    seen.add(key)
                    yield draft
                    break
            else:
                return


def listing(names: Sequence[str]) -> str:
    """A, B and C."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def spread(items: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """The same items in an order in which those with the same key stand far apart: no single guess pays."""
    shelves: dict[Hashable, list[T]] = {}
    for item in items:
        shelves.setdefault(key(item), []).append(item)
    longest = max(map(len, shelves.values()), default=0)
    return [shelf[index] for index in range(longest) for shelf in shelves.values() if index < len(shelf)]


def a_or_an(word: str) -> str:
    """a public, an internal."""
    return f"{'an' if word[0].lower() in 'aeiou' else 'a'} {word}"


def shuffled(rng: random.Random, items: Iterable[T]) -> list[T]:
    listed = list(items)
    return rng.sample(listed, len(listed))


def sets_of(rng: random.Random, items: Sequence[T], size: int) -> Iterator[tuple[T, ...]]:
    """Different sets of so many items each: all of them if they are few, a good many else."""
    seen: set[frozenset[int]] = set()
    for _ in range(600):
        chosen = rng.sample(range(len(items)), size)
        if frozenset(chosen) not in seen:
            seen.add(frozenset(chosen))
            yield tuple(items[index] for index in chosen)

"""The rows of the code site: one dataclass per table, one field per column, in the order of the columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class User:
    id: int
    name: str
    username: str
    email: str
    password: str  # in the clear: everybody here is made up
    job: str
    location: str
    bio: str
    status: str
    joined: str


@dataclass(frozen=True, slots=True)
class Group:
    id: int
    path: str
    name: str
    description: str
    visibility: str
    created: str


@dataclass(frozen=True, slots=True)
class GroupMember:
    id: int
    group_id: int
    user_id: int
    role: str


@dataclass(frozen=True, slots=True)
class Project:
    id: int
    namespace: str  # a user's name or a group's path
    slug: str
    name: str
    description: str
    visibility: str
    language: str
    license: str
    topics: str
    base_stars: int  # of people who have no account here; the rest are rows of code_stars
    base_forks: int
    forked_from: int | None
    created: str

    @property
    def path(self) -> str:
        return f"/{self.namespace}/{self.slug}"


@dataclass(frozen=True, slots=True)
class Member:
    id: int
    project_id: int
    user_id: int
    role: str
    since: str


@dataclass(frozen=True, slots=True)
class Star:
    id: int
    project_id: int
    user_id: int


@dataclass(frozen=True, slots=True)
class Follow:
    id: int
    follower_id: int
    user_id: int


@dataclass(frozen=True, slots=True)
class Branch:
    id: int
    project_id: int
    name: str
    source: str  # the branch it was created from; empty for main
    created: str


@dataclass(frozen=True, slots=True)
class File:
    id: int
    project_id: int
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Commit:
    id: int
    project_id: int
    branch: str  # where it was made; a merge request brings it to its target when it is merged
    author_id: int
    sha: str
    message: str
    path: str  # the file it changes
    created: str


@dataclass(frozen=True, slots=True)
class Label:
    id: int
    project_id: int
    name: str
    color: str


@dataclass(frozen=True, slots=True)
class Milestone:
    id: int
    project_id: int
    title: str
    description: str
    state: str  # open, closed
    start_date: str | None
    due_date: str | None


@dataclass(frozen=True, slots=True)
class Issue:
    id: int
    project_id: int
    number: int  # within the project
    title: str
    text: str
    state: str  # open, closed
    author_id: int
    assignee_id: int | None
    milestone_id: int | None
    due_date: str | None
    created: str
    closed: str | None


@dataclass(frozen=True, slots=True)
class IssueLabel:
    id: int
    issue_id: int
    label_id: int


@dataclass(frozen=True, slots=True)
class MergeRequest:
    id: int
    project_id: int
    number: int  # within the project
    title: str
    text: str
    source_branch: str
    target_branch: str
    state: str  # open, merged, closed
    author_id: int
    assignee_id: int | None
    reviewer_id: int | None
    created: str
    closed: str | None  # when it was merged or closed


@dataclass(frozen=True, slots=True)
class Comment:
    id: int
    issue_id: int | None  # either this one or the next
    merge_request_id: int | None
    author_id: int
    text: str
    created: str


@dataclass(frozen=True, slots=True)
class Snippet:
    id: int
    author_id: int
    title: str
    file_name: str
    content: str
    visibility: str
    created: str


@dataclass(frozen=True, slots=True)
class CodeData:
    """One field per table, of the same name."""

    code_users: tuple[User, ...]
    code_groups: tuple[Group, ...]
    code_group_members: tuple[GroupMember, ...]
    code_projects: tuple[Project, ...]
    code_members: tuple[Member, ...]
    code_stars: tuple[Star, ...]
    code_follows: tuple[Follow, ...]
    code_branches: tuple[Branch, ...]
    code_files: tuple[File, ...]
    code_commits: tuple[Commit, ...]
    code_labels: tuple[Label, ...]
    code_milestones: tuple[Milestone, ...]
    code_issues: tuple[Issue, ...]
    code_issue_labels: tuple[IssueLabel, ...]
    code_merge_requests: tuple[MergeRequest, ...]
    code_comments: tuple[Comment, ...]
    code_snippets: tuple[Snippet, ...]


class Shelf:
    """The rows made so far, by kind; ids count up from 1."""

    def __init__(self) -> None:
        self._rows: dict[object, list[Any]] = {}

    def add(self, kind: Callable[..., Row], *values: object) -> Row:
        """`values` are all columns but the id."""
        rows = self._rows.setdefault(kind, [])
        rows.append(kind(len(rows) + 1, *values))
        made: Row = rows[-1]
        return made

    def rows(self, kind: Callable[..., Row]) -> tuple[Row, ...]:
        return tuple(self._rows.get(kind, ()))

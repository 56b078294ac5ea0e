"""The template about what waits for the user: issues and merge requests on the to-do list."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.code.ground import EMMA, UNCHANGED, Ground, alternate, ground, shuffled, task
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, StateCheck, UrlCheck
from clickgrad.worlds.code.pages import STAMP
from clickgrad.worlds.code.rows import Issue, MergeRequest

_STARTS = ("/", "/explore", "/snippets", "/starred")
_REMARKS = ("I will look at it today", "This is done now", "Thank you for waiting", "I checked it again", "Good to go")


def my_work(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.my_work {seed}")
    first_due = [(user, issue) for user in _workers(land, rng) if (issue := _due_first(land, user))]
    oldest = [(user, request) for user in _workers(land, rng) if (request := _oldest_review(land, user))]
    return alternate(
        _my_lists(land, rng),
        alternate(_open_first_due(land, first_due[::2]), _open_oldest(land, oldest[::2])),
        alternate(
            _finish_first_due(land, rng, first_due[1::2]),
            _merge_oldest(land, rng, oldest[1::2]),
            _close_two(land, first_due[::-1]),
        ),
    )


def _workers(land: Ground, rng: random.Random) -> list[int]:
    """Everybody, the default user first."""
    return [EMMA, *shuffled(rng, range(2, len(land.data.code_users) + 1))]


def _due_first(land: Ground, user: int) -> Issue | None:
    own = [issue for issue in land.data.code_issues if issue.assignee_id == user and issue.state == "open"]
    dated = sorted((issue.due_date, issue.id) for issue in own if issue.due_date)
    if len(own) < 2 or not dated or (len(dated) > 1 and dated[0][0] == dated[1][0]):
        return None
    return land.data.code_issues[dated[0][1] - 1]


def _oldest_review(land: Ground, user: int) -> MergeRequest | None:
    own = [item for item in land.data.code_merge_requests if item.reviewer_id == user and item.state == "open"]
    return min(own, key=lambda item: (item.created, item.id)) if len(own) > 1 else None


def _my_lists(land: Ground, rng: random.Random) -> Iterator[Draft]:
    lists = {
        "Show the merge requests that need my review.": ("Review requests", "/todo/reviews", 3),
        "Show the open issues that are assigned to me.": ("", "/todo", 2),
        "Show the merge requests that are assigned to me.": ("Assigned merge requests", "/todo/merge_requests", 3),
    }
    for user, (intent, (tab, path, turns)), start in zip(
        _workers(land, rng), cycle(lists.items()), cycle(_STARTS), strict=False
    ):
        check = UrlCheck("code", path, (("page", ""),))
        yield task(intent, start, (check, UNCHANGED), turns, land.user(user).email, kind="list", tab=tab)


def _open_first_due(land: Ground, found: Sequence[tuple[int, Issue]]) -> Iterator[Draft]:
    for (user, issue), start in zip(found, cycle(_STARTS), strict=False):
        path = f"{land.project(issue.project_id).path}/issues/{issue.number}"
        yield task(
            "Open the issue that is due first of all open issues assigned to me.",
            start,
            (UrlCheck("code", path), UNCHANGED),
            5,
            land.user(user).email,
            kind="due",
            tab="",
            sort="Due date",
            text=None,
            end=None,
        )


def _open_oldest(land: Ground, found: Sequence[tuple[int, MergeRequest]]) -> Iterator[Draft]:
    for (user, request), start in zip(found, cycle(_STARTS), strict=False):
        path = f"{land.project(request.project_id).path}/merge_requests/{request.number}"
        yield task(
            "Open the oldest merge request that needs my review.",
            start,
            (UrlCheck("code", path), UNCHANGED),
            6,
            land.user(user).email,
            kind="oldest",
            tab="Review requests",
            sort="Oldest",
            text=None,
            end=None,
        )


def _finish_first_due(land: Ground, rng: random.Random, found: Sequence[tuple[int, Issue]]) -> Iterator[Draft]:
    for user, issue in found:
        text = rng.choice(_REMARKS)
        comment = (("issue_id", issue.id), ("merge_request_id", None), ("author_id", user), ("text", text))
        changes = (
            RowChange("code_comments", "insert", comment),
            RowChange("code_issues", "update", (("state", "closed"), ("closed", STAMP)), issue.id),
        )
        yield task(
            f'Of all open issues assigned to me, comment "{text}" on the one that is due first, and close it.',
            "/",
            (StateCheck(changes),),
            8,
            land.user(user).email,
            kind="due",
            tab="",
            sort="Due date",
            text=text,
            end="Close Issue",
        )


def _close_two(land: Ground, found: Sequence[tuple[int, Issue]]) -> Iterator[Draft]:
    for user, _ in found:
        own = [issue for issue in land.data.code_issues if issue.assignee_id == user and issue.state == "open"]
        dated = sorted((issue for issue in own if issue.due_date), key=lambda issue: str(issue.due_date))
        if len(dated) < 2 or (len(dated) > 2 and dated[1].due_date == dated[2].due_date):
            continue
        closed = (("state", "closed"), ("closed", STAMP))
        yield task(
            "Close the two issues that are due first of all open issues assigned to me.",
            "/",
            (StateCheck(tuple(RowChange("code_issues", "update", closed, issue.id) for issue in dated[:2])),),
            11,
            land.user(user).email,
            kind="due",
            tab="",
            sort="Due date",
            text=None,
            end="Close Issue",
            times=2,
        )


def _merge_oldest(land: Ground, rng: random.Random, found: Sequence[tuple[int, MergeRequest]]) -> Iterator[Draft]:
    for user, request in found:
        text = rng.choice(_REMARKS)
        comment = (("issue_id", None), ("merge_request_id", request.id), ("author_id", user), ("text", text))
        changes = (
            RowChange("code_comments", "insert", comment),
            RowChange("code_merge_requests", "update", (("state", "merged"), ("closed", STAMP)), request.id),
        )
        yield task(
            f'Comment "{text}" on the oldest merge request that needs my review, and merge it.',
            "/",
            (StateCheck(changes),),
            9,
            land.user(user).email,
            kind="oldest",
            tab="Review requests",
            sort="Oldest",
            text=text,
            end="Merge",
        )

"""The routes of the code site."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import Response
from starlette.routing import Route

from clickgrad.worlds.code import (
    groups,
    issues,
    making,
    members,
    merging,
    people,
    planning,
    projects,
    repository,
    search,
    snippets,
)
from clickgrad.worlds.code.pages import PAGES, Visit

Handler = Callable[[Visit], Response]

PROJECT = "/{namespace}/{project}"


def show(path: str, handler: Handler) -> Route:
    return Route(path, PAGES.endpoint(handler), methods=["GET"])


def change(path: str, handler: Handler) -> Route:
    return Route(path, PAGES.endpoint(handler), methods=["POST"])


SITE = [
    show("/", projects.home),
    show("/explore", projects.explore),
    show("/starred", projects.starred),
    show("/search", search.search),
    show("/todo", people.todo_issues),
    show("/todo/merge_requests", people.todo_requests),
    show("/todo/reviews", people.todo_reviews),
    show("/login", PAGES.login_form),
    change("/login", people.login),
    change("/logout", PAGES.log_out),
    show("/settings/profile", people.settings_form),
    change("/settings/profile", people.save_settings),
    show("/snippets", snippets.snippets),
    show("/snippets/new", snippets.new_form),
    change("/snippets/new", snippets.create),
    show("/snippets/{id}", snippets.snippet),
    change("/snippets/{id}/delete", snippets.delete),
    show("/projects/new", making.new_form),
    change("/projects/new", making.create),
    show("/groups", groups.groups),
    show("/groups/new", groups.new_form),
    change("/groups/new", groups.create),
    show("/groups/{namespace}/members", groups.members),
    show("/groups/{namespace}/invite", groups.invite_form),
    change("/groups/{namespace}/invite", groups.invite),
    show("/{namespace}", people.namespace),
    change("/{namespace}/follow", people.follow),
    change("/{namespace}/unfollow", people.unfollow),
]
REPOSITORY = [
    show(PROJECT, projects.project),
    change(PROJECT + "/star", projects.star),
    change(PROJECT + "/unstar", projects.unstar),
    show(PROJECT + "/fork", making.fork_form),
    change(PROJECT + "/fork", making.fork),
    show(PROJECT + "/settings", making.settings_form),
    change(PROJECT + "/settings", making.save_settings),
    show(PROJECT + "/files/{path:path}", repository.files),
    show(PROJECT + "/new_file", repository.new_file_form),
    change(PROJECT + "/new_file", repository.create_file),
    show(PROJECT + "/edit/{path:path}", repository.edit_file_form),
    change(PROJECT + "/edit/{path:path}", repository.save_edit),
    show(PROJECT + "/commits", repository.commits),
    show(PROJECT + "/commits/{sha}", repository.commit),
    show(PROJECT + "/contributors", repository.contributors),
    show(PROJECT + "/branches", repository.branches),
    show(PROJECT + "/branches/new", repository.new_branch_form),
    change(PROJECT + "/branches/new", repository.create_branch),
    change(PROJECT + "/branches/{id}/delete", repository.delete_branch),
    show(PROJECT + "/members", members.members),
    show(PROJECT + "/members/invite", members.invite_form),
    change(PROJECT + "/members/invite", members.invite),
    show(PROJECT + "/members/{id}", members.member),
    change(PROJECT + "/members/{id}", members.change_role),
    change(PROJECT + "/members/{id}/remove", members.remove),
]
PLANNING = [
    show(PROJECT + "/issues", issues.issues),
    show(PROJECT + "/issues/new", issues.new_form),
    change(PROJECT + "/issues/new", issues.create),
    show(PROJECT + "/issues/{number}", issues.issue),
    show(PROJECT + "/issues/{number}/edit", issues.edit_form),
    change(PROJECT + "/issues/{number}/edit", issues.save),
    change(PROJECT + "/issues/{number}/comment", issues.comment),
    change(PROJECT + "/issues/{number}/close", issues.close),
    change(PROJECT + "/issues/{number}/reopen", issues.reopen),
    show(PROJECT + "/board", issues.board),
    show(PROJECT + "/milestones", planning.milestones),
    show(PROJECT + "/milestones/new", planning.new_milestone_form),
    change(PROJECT + "/milestones/new", planning.create_milestone),
    show(PROJECT + "/milestones/{id}", planning.milestone),
    show(PROJECT + "/milestones/{id}/edit", planning.edit_milestone_form),
    change(PROJECT + "/milestones/{id}/edit", planning.save_milestone),
    change(PROJECT + "/milestones/{id}/close", planning.close_milestone),
    change(PROJECT + "/milestones/{id}/reopen", planning.reopen_milestone),
    show(PROJECT + "/labels", planning.labels),
    show(PROJECT + "/labels/new", planning.new_label_form),
    change(PROJECT + "/labels/new", planning.create_label),
    show(PROJECT + "/merge_requests", merging.merge_requests),
    show(PROJECT + "/merge_requests/new", merging.new_form),
    change(PROJECT + "/merge_requests/new", merging.create),
    show(PROJECT + "/merge_requests/{number}", merging.merge_request),
    show(PROJECT + "/merge_requests/{number}/edit", merging.edit_form),
    change(PROJECT + "/merge_requests/{number}/edit", merging.save),
    change(PROJECT + "/merge_requests/{number}/comment", merging.comment),
    change(PROJECT + "/merge_requests/{number}/merge", merging.merge),
    change(PROJECT + "/merge_requests/{number}/close", merging.close),
    change(PROJECT + "/merge_requests/{number}/reopen", merging.reopen),
]

app = PAGES.app([*SITE, *REPOSITORY, *PLANNING])

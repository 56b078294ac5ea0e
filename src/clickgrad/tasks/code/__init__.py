"""The tasks of the code site: its templates, each with its instances and its expert."""

from __future__ import annotations

from clickgrad.tasks.code import (
    adding,
    looking,
    managing,
    personal,
    plays_looking,
    plays_personal,
    plays_reading,
    plays_running,
    plays_unseen,
    plays_writing,
    reading,
    running,
    unseen,
    waiting,
    writing,
)
from clickgrad.tasks.templates import Template

CODE_TEMPLATES = (
    Template("code", "project_fact", looking.project_fact, plays_looking.project_fact),
    Template("code", "compare_projects", looking.compare_projects, plays_looking.compare_projects),
    Template("code", "commits", looking.commits, plays_looking.commits),
    Template("code", "member_role", looking.member_role, plays_looking.member_role),
    Template("code", "issue_fact", reading.issue_fact, plays_reading.issue_fact),
    Template("code", "count_issues", reading.count_issues, plays_reading.count_issues),
    Template("code", "filter_issues", reading.filter_issues, plays_reading.filter_issues),
    Template("code", "my_work", waiting.my_work, plays_reading.my_work),
    Template("code", "create_issue", writing.create_issue, plays_writing.create_issue),
    Template("code", "comment", writing.comment, plays_writing.comment),
    Template("code", "update_issues", writing.update_issues, plays_writing.update_issues),
    Template("code", "add_to_project", adding.add_to_project, plays_writing.add_to_project),
    Template("code", "create_project", running.create_project, plays_running.create_project),
    Template("code", "star_or_fork", running.star_or_fork, plays_running.star_or_fork),
    Template("code", "manage_members", managing.manage_members, plays_running.manage_members),
    Template("code", "merge_requests", managing.merge_requests, plays_running.merge_requests),
    Template("code", "project_settings", managing.project_settings, plays_running.project_settings),
    Template("code", "people", personal.people, plays_personal.people),
    Template("code", "create_snippet", personal.create_snippet, plays_personal.create_snippet),
    Template("code", "unachievable", personal.unachievable, plays_personal.unachievable),
    Template("code", "open_merge_request", unseen.open_merge_request, plays_unseen.open_merge_request, unseen=True),
    Template("code", "create_group", unseen.create_group, plays_unseen.create_group, unseen=True),
    Template("code", "file_fact", unseen.file_fact, plays_unseen.file_fact, unseen=True),
)

__all__ = ["CODE_TEMPLATES"]

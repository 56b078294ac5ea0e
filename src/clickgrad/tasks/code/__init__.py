"""The tasks of the code site: its templates, each with its instances and its expert."""

from __future__ import annotations

from clickgrad.tasks.code import (
    adding,
    looking,
    managing,
    personal,
    reading,
    running,
    scripts_looking,
    scripts_personal,
    scripts_reading,
    scripts_running,
    scripts_unseen,
    scripts_writing,
    unseen,
    waiting,
    writing,
)
from clickgrad.tasks.templates import Template

CODE_TEMPLATES = (
    Template("code", "project_fact", looking.project_fact, scripts_looking.project_fact),
    Template("code", "compare_projects", looking.compare_projects, scripts_looking.compare_projects),
    Template("code", "commits", looking.commits, scripts_looking.commits),
    Template("code", "member_role", looking.member_role, scripts_looking.member_role),
    Template("code", "issue_fact", reading.issue_fact, scripts_reading.issue_fact),
    Template("code", "count_issues", reading.count_issues, scripts_reading.count_issues),
    Template("code", "filter_issues", reading.filter_issues, scripts_reading.filter_issues),
    Template("code", "my_work", waiting.my_work, scripts_reading.my_work),
    Template("code", "create_issue", writing.create_issue, scripts_writing.create_issue),
    Template("code", "comment", writing.comment, scripts_writing.comment),
    Template("code", "update_issues", writing.update_issues, scripts_writing.update_issues),
    Template("code", "add_to_project", adding.add_to_project, scripts_writing.add_to_project),
    Template("code", "create_project", running.create_project, scripts_running.create_project),
    Template("code", "star_or_fork", running.star_or_fork, scripts_running.star_or_fork),
    Template("code", "manage_members", managing.manage_members, scripts_running.manage_members),
    Template("code", "merge_requests", managing.merge_requests, scripts_running.merge_requests),
    Template("code", "project_settings", managing.project_settings, scripts_running.project_settings),
    Template("code", "people", personal.people, scripts_personal.people),
    Template("code", "create_snippet", personal.create_snippet, scripts_personal.create_snippet),
    Template("code", "unachievable", personal.unachievable, scripts_personal.unachievable),
    Template("code", "open_merge_request", unseen.open_merge_request, scripts_unseen.open_merge_request, unseen=True),
    Template("code", "create_group", unseen.create_group, scripts_unseen.create_group, unseen=True),
    Template("code", "file_fact", unseen.file_fact, scripts_unseen.file_fact, unseen=True),
)

__all__ = ["CODE_TEMPLATES"]

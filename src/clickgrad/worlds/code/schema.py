"""The tables of the code site, and how the start data gets into them. Dates are ISO text."""

from __future__ import annotations

import sqlite3

from clickgrad.worlds.code.data import code_data
from clickgrad.worlds.universe import fill_tables

SCHEMA = """
CREATE TABLE code_users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    username TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    job TEXT NOT NULL,
    location TEXT NOT NULL,
    bio TEXT NOT NULL,
    status TEXT NOT NULL,
    joined TEXT NOT NULL
);
CREATE TABLE code_groups (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    visibility TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE code_group_members (
    id INTEGER PRIMARY KEY,
    group_id INTEGER NOT NULL REFERENCES code_groups,
    user_id INTEGER NOT NULL REFERENCES code_users,
    role TEXT NOT NULL,
    UNIQUE (group_id, user_id)
);
CREATE TABLE code_projects (
    id INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    visibility TEXT NOT NULL,
    language TEXT NOT NULL,
    license TEXT NOT NULL,
    topics TEXT NOT NULL,
    base_stars INTEGER NOT NULL,
    base_forks INTEGER NOT NULL,
    forked_from INTEGER REFERENCES code_projects,
    created TEXT NOT NULL,
    UNIQUE (namespace, slug)
);
CREATE INDEX code_forks ON code_projects (forked_from);
CREATE TABLE code_members (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES code_projects,
    user_id INTEGER NOT NULL REFERENCES code_users,
    role TEXT NOT NULL,
    since TEXT NOT NULL,
    UNIQUE (project_id, user_id)
);
CREATE INDEX code_memberships ON code_members (user_id);
CREATE TABLE code_stars (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES code_projects,
    user_id INTEGER NOT NULL REFERENCES code_users,
    UNIQUE (project_id, user_id)
);
CREATE TABLE code_follows (
    id INTEGER PRIMARY KEY,
    follower_id INTEGER NOT NULL REFERENCES code_users,
    user_id INTEGER NOT NULL REFERENCES code_users,
    UNIQUE (follower_id, user_id)
);
CREATE TABLE code_branches (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES code_projects,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    created TEXT NOT NULL,
    UNIQUE (project_id, name)
);
CREATE TABLE code_files (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES code_projects,
    path TEXT NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (project_id, path)
);
CREATE TABLE code_commits (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES code_projects,
    branch TEXT NOT NULL,
    author_id INTEGER NOT NULL REFERENCES code_users,
    sha TEXT NOT NULL,
    message TEXT NOT NULL,
    path TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX code_commits_of ON code_commits (project_id);
CREATE TABLE code_labels (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES code_projects,
    name TEXT NOT NULL,
    color TEXT NOT NULL,
    UNIQUE (project_id, name)
);
CREATE TABLE code_milestones (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES code_projects,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    state TEXT NOT NULL,
    start_date TEXT,
    due_date TEXT,
    UNIQUE (project_id, title)
);
CREATE TABLE code_issues (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES code_projects,
    number INTEGER NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    author_id INTEGER NOT NULL REFERENCES code_users,
    assignee_id INTEGER REFERENCES code_users,
    milestone_id INTEGER REFERENCES code_milestones,
    due_date TEXT,
    created TEXT NOT NULL,
    closed TEXT,
    UNIQUE (project_id, number)
);
CREATE INDEX code_issues_assigned ON code_issues (assignee_id);
CREATE TABLE code_issue_labels (
    id INTEGER PRIMARY KEY,
    issue_id INTEGER NOT NULL REFERENCES code_issues,
    label_id INTEGER NOT NULL REFERENCES code_labels,
    UNIQUE (issue_id, label_id)
);
CREATE TABLE code_merge_requests (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES code_projects,
    number INTEGER NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    source_branch TEXT NOT NULL,
    target_branch TEXT NOT NULL,
    state TEXT NOT NULL,
    author_id INTEGER NOT NULL REFERENCES code_users,
    assignee_id INTEGER REFERENCES code_users,
    reviewer_id INTEGER REFERENCES code_users,
    created TEXT NOT NULL,
    closed TEXT,
    UNIQUE (project_id, number)
);
CREATE TABLE code_comments (
    id INTEGER PRIMARY KEY,
    issue_id INTEGER REFERENCES code_issues,
    merge_request_id INTEGER REFERENCES code_merge_requests,
    author_id INTEGER NOT NULL REFERENCES code_users,
    text TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX code_comments_of_issue ON code_comments (issue_id);
CREATE INDEX code_comments_of_request ON code_comments (merge_request_id);
CREATE TABLE code_snippets (
    id INTEGER PRIMARY KEY,
    author_id INTEGER NOT NULL REFERENCES code_users,
    title TEXT NOT NULL,
    file_name TEXT NOT NULL,
    content TEXT NOT NULL,
    visibility TEXT NOT NULL,
    created TEXT NOT NULL
);
"""


def build(db: sqlite3.Connection, seed: int) -> None:
    db.executescript(SCHEMA)
    fill_tables(db, code_data(seed))


def user_id(db: sqlite3.Connection, email: str) -> int | None:
    row = db.execute("SELECT id FROM code_users WHERE email = ?", (email,)).fetchone()
    return None if row is None else int(row[0])

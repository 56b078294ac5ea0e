"""The forum's tables, and how the start data gets into them. Dates are ISO text; votes are 1 or -1."""

from __future__ import annotations

import sqlite3

from clickgrad.worlds.forum.data import forum_data
from clickgrad.worlds.universe import fill_tables

SCHEMA = """
CREATE TABLE forum_users (
    id INTEGER PRIMARY KEY,
    username TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    bio TEXT NOT NULL,
    joined TEXT NOT NULL,
    default_sort TEXT NOT NULL,
    front_page TEXT NOT NULL,
    accepts_messages INTEGER NOT NULL
);
CREATE TABLE forum_forums (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    slug TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE forum_moderators (
    id INTEGER PRIMARY KEY,
    forum_id INTEGER NOT NULL REFERENCES forum_forums,
    user_id INTEGER NOT NULL REFERENCES forum_users,
    UNIQUE (forum_id, user_id)
);
CREATE TABLE forum_subscriptions (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES forum_users,
    forum_id INTEGER NOT NULL REFERENCES forum_forums,
    UNIQUE (forum_id, user_id)
);
CREATE TABLE forum_posts (
    id INTEGER PRIMARY KEY,
    forum_id INTEGER NOT NULL REFERENCES forum_forums,
    user_id INTEGER NOT NULL REFERENCES forum_users,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    body TEXT NOT NULL,
    created TEXT NOT NULL,
    base_score INTEGER NOT NULL,
    deleted INTEGER NOT NULL
);
CREATE INDEX forum_posts_of_forum ON forum_posts (forum_id);
CREATE INDEX forum_posts_of_user ON forum_posts (user_id);
CREATE TABLE forum_comments (
    id INTEGER PRIMARY KEY,
    post_id INTEGER NOT NULL REFERENCES forum_posts,
    parent_id INTEGER REFERENCES forum_comments,
    user_id INTEGER NOT NULL REFERENCES forum_users,
    body TEXT NOT NULL,
    created TEXT NOT NULL,
    base_score INTEGER NOT NULL,
    deleted INTEGER NOT NULL
);
CREATE INDEX forum_comments_of_post ON forum_comments (post_id, deleted);
CREATE INDEX forum_comments_of_user ON forum_comments (user_id);
CREATE TABLE forum_post_votes (
    id INTEGER PRIMARY KEY,
    post_id INTEGER NOT NULL REFERENCES forum_posts,
    user_id INTEGER NOT NULL REFERENCES forum_users,
    value INTEGER NOT NULL CHECK (value IN (1, -1)),
    UNIQUE (post_id, user_id)
);
CREATE TABLE forum_comment_votes (
    id INTEGER PRIMARY KEY,
    comment_id INTEGER NOT NULL REFERENCES forum_comments,
    user_id INTEGER NOT NULL REFERENCES forum_users,
    value INTEGER NOT NULL CHECK (value IN (1, -1)),
    UNIQUE (comment_id, user_id)
);
CREATE TABLE forum_messages (
    id INTEGER PRIMARY KEY,
    sender_id INTEGER NOT NULL REFERENCES forum_users,
    recipient_id INTEGER NOT NULL REFERENCES forum_users,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX forum_messages_to ON forum_messages (recipient_id);
CREATE INDEX forum_messages_from ON forum_messages (sender_id);
"""


def build(db: sqlite3.Connection, seed: int) -> None:
    db.executescript(SCHEMA)
    fill_tables(db, forum_data(seed), "forum_")


def user_id(db: sqlite3.Connection, email: str) -> int | None:
    row = db.execute("SELECT id FROM forum_users WHERE email = ?", (email,)).fetchone()
    return None if row is None else int(row[0])

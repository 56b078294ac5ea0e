"""Pocket Forum: forums on everyday topics, with posts, threads of comments, votes and private messages."""

from clickgrad.worlds.forum.app import app
from clickgrad.worlds.forum.schema import build, user_id
from clickgrad.worlds.site import Site

FORUM = Site("forum", app, build, user_id, "Forums, posts, comments, votes and messages.")

__all__ = ["FORUM"]

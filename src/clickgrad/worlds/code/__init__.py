"""Pocket Code: a small code hosting site with projects, files, commits, issues, merge requests, members and groups."""

from clickgrad.worlds.code.app import app
from clickgrad.worlds.code.schema import build, user_id
from clickgrad.worlds.site import Site

CODE = Site("code", app, build, user_id, "Projects, files, issues and merge requests.")

__all__ = ["CODE"]

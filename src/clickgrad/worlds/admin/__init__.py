"""Pocket Shop Admin: the shop's back office, for its staff, on the shop's own tables."""

from clickgrad.worlds.admin.app import app
from clickgrad.worlds.admin.staff import build, user_id
from clickgrad.worlds.site import Site

ADMIN = Site("admin", app, build, user_id, "The same shop's back office.")

__all__ = ["ADMIN"]

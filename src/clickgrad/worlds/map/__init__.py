"""Pocket Map: a made-up region with towns, places and roads; search, directions, saved places and notes."""

from clickgrad.worlds.map.app import app
from clickgrad.worlds.map.schema import build, user_id
from clickgrad.worlds.site import Site

MAP = Site("map", app, build, user_id, "Places, what is near them, and how to get there.")

__all__ = ["MAP"]

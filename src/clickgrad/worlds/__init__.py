"""WHERE IT HAPPENS: the bundled sites and their forkable state."""

from clickgrad.worlds.arena import Arena
from clickgrad.worlds.gateway import WORLD_HEADER
from clickgrad.worlds.world import Cookie, World

__all__ = ["WORLD_HEADER", "Arena", "Cookie", "World"]

from collections.abc import Iterator

import httpx
import pytest
from site_clients import OpenSite, site_clients

from clickgrad.worlds import Arena, World

SHOP_HOST = "shop.localhost"


@pytest.fixture(scope="session")
def arena() -> Iterator[Arena]:
    with Arena() as arena:
        yield arena


@pytest.fixture
def world(arena: Arena) -> Iterator[World]:
    world = arena.fork()
    yield world
    world.close()


@pytest.fixture
def open_shop(arena: Arena) -> Iterator[OpenSite]:
    with site_clients(arena, "shop.localhost") as opened:
        yield opened


@pytest.fixture
def shop(world: World, open_shop: OpenSite) -> httpx.Client:
    return open_shop(world)


@pytest.fixture
def visitor(world: World, open_shop: OpenSite) -> httpx.Client:
    """A client who is not logged in."""
    return open_shop(world, user=None)

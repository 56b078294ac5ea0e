from collections.abc import Callable, Iterator

import httpx
import pytest

from clickgrad.worlds import Arena, World
from clickgrad.worlds.people import DEFAULT_USER

OpenShop = Callable[..., httpx.Client]
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
def open_shop(arena: Arena) -> Iterator[OpenShop]:
    """A client of the shop in a given world, logged in as `user` unless that is None."""
    clients: list[httpx.Client] = []

    def opened(world: World, user: str | None = DEFAULT_USER) -> httpx.Client:
        known = world.login(user) if user else ()
        cookies = {cookie.name: cookie.value for cookie in known if cookie.host == SHOP_HOST}
        headers = {**world.headers, "host": SHOP_HOST}
        client = httpx.Client(base_url=f"http://{arena.hosts[SHOP_HOST]}", headers=headers, cookies=cookies)
        clients.append(client)
        return client

    yield opened
    for client in clients:
        client.close()


@pytest.fixture
def shop(world: World, open_shop: OpenShop) -> httpx.Client:
    return open_shop(world)


@pytest.fixture
def visitor(world: World, open_shop: OpenShop) -> httpx.Client:
    """A client who is not logged in."""
    return open_shop(world, user=None)

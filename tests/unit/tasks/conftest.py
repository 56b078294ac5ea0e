"""Ends of tasks made by posting forms straight to the shop, without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import httpx
import pytest

from clickgrad.types import Evidence, Task
from clickgrad.worlds import Arena

SHOP_HOST = "shop.localhost"
AfterPosts = Callable[..., Evidence]


@pytest.fixture(scope="session")
def arena() -> Iterator[Arena]:
    with Arena() as arena:
        yield arena


@pytest.fixture
def after_posts(arena: Arena) -> AfterPosts:
    """What is left when the task's user has posted these forms to the shop, in a world of their own."""

    def post(task: Task, *posts: tuple[str, Mapping[str, object]], answer: str = "done") -> Evidence:
        world = arena.fork()
        cookies = {one.name: one.value for one in world.login(task.user or "") if one.host == SHOP_HOST}
        with httpx.Client(headers={**world.headers, "host": SHOP_HOST}, cookies=cookies) as client:
            for path, form in posts:
                sent = {name: str(value) for name, value in form.items()}
                client.post(f"http://{arena.hosts[SHOP_HOST]}{path}", data=sent)
        changes = world.diff()
        world.close()
        return Evidence(answer, task.start_urls[0], "", changes)

    return post

"""The zoo: what is told of each page is what a person sees on it, as its own first lines say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from npm_cache import is_fetched
from zoo import ZooPage, faults, zoo

from clickgrad.browser import Browser

pytestmark = pytest.mark.anyio
AT_ONCE = 4
ORIGIN = "http://zoo.localhost"


@pytest.fixture(scope="module")
async def browser(anyio_backend: str, zoo_hosts: dict[str, str]) -> AsyncIterator[Browser]:
    async with Browser(zoo_hosts) as opened:
        yield opened


async def differences(pages: list[ZooPage], browser: Browser) -> dict[str, list[str]]:
    room = asyncio.Semaphore(AT_ONCE)

    async def compare(page: ZooPage) -> tuple[str, list[str]]:
        async with room:
            session = await browser.open(f"{ORIGIN}/{page.name}")
            found = faults(page, (await session.observe()).lines)
            await session.close()
            return page.name, found

    return {name: found for name, found in await asyncio.gather(*map(compare, pages)) if found}


def test_the_zoo_has_sixty_pages_and_twenty_five_after_component_libraries() -> None:
    pages = zoo()
    assert len(pages) >= 60
    assert sum(page.name.startswith(("like-", "npm-")) for page in pages) >= 25
    assert len({library for page in pages for library in page.libraries}) >= 4
    assert all(page.sees and page.about for page in pages)


async def test_what_is_told_of_a_page_is_what_a_person_sees(browser: Browser) -> None:
    own = [page for page in zoo() if not page.libraries]
    assert await differences(own, browser) == {}


async def test_pages_with_libraries_as_npm_has_them_are_told_as_a_person_sees_them(browser: Browser) -> None:
    pages = [page for page in zoo() if page.libraries and all(map(is_fetched, page.libraries))]
    if not pages:
        pytest.skip("the libraries are not here: python tests/support/npm_cache.py fetches them")
    assert await differences(pages, browser) == {}

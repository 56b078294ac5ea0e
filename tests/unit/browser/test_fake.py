"""What the fake offers beyond the session contract."""

from __future__ import annotations

import pytest

from clickgrad.browser import FakeBrowser, FakeElement, FakePage
from clickgrad.types import Click, GoBackward

pytestmark = pytest.mark.anyio

SITE = {"http://toy/": FakePage("Toy", (FakeElement("link", "Nowhere", to="http://toy/nowhere"), "Text"))}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_browser_remembers_what_its_sessions_were_opened_with() -> None:
    browser = FakeBrowser(SITE)
    await browser.open("http://toy/?a=1", {"x-world": "7"}, [("toy", "login", "emma")])
    assert browser.opened == [("http://toy/?a=1", {"x-world": "7"}, (("toy", "login", "emma"),))]


async def test_a_dead_link_leads_to_a_page_that_says_so_and_back() -> None:
    session = await FakeBrowser(SITE).open("http://toy/")
    await session.observe()
    assert await session.perform(Click(0)) == ""
    assert (await session.observe()).lines == ("There is no such page.",)
    assert await session.perform(GoBackward()) == ""
    assert (await session.observe()).title == "Toy"


async def test_it_renders_html_as_well() -> None:
    session = await FakeBrowser(SITE, rendering="html").open("http://toy/")
    assert (await session.observe()).lines == ('<a id="0"> Nowhere </a>', "<p> Text </p>")

"""What only a real browser can show: tabs, dialogs, covered elements, the fence, hung pages and dead browsers."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest
from loopback import until

from clickgrad.browser import Browser, Session
from clickgrad.browser.pool import Sharing
from clickgrad.errors import BrowserError
from clickgrad.types import Click, GoBackward, Hover, PageAction, RightClick, SwitchTab, Type, Wait

if TYPE_CHECKING:
    from tests.contract.conftest import Site

pytestmark = pytest.mark.anyio
ORIGIN = "http://shop.localhost"


async def look(session: Session, name: str) -> int:
    return next(element.id for element in (await session.observe()).elements if element.name == name)


async def click(session: Session, name: str) -> str:
    return await session.perform(Click(await look(session, name)))


def busy_share(browser: Browser, over_s: float) -> float:
    """The processor time of all Chromium processes in the next `over_s` seconds, as a share of one core."""
    main = psutil.Process(browser.process_ids[0])
    processes = [main, *main.children(recursive=True)]
    before = [sum(process.cpu_times()[:2]) for process in processes]
    time.sleep(over_s)
    spent = 0.0
    for process, earlier in zip(processes, before, strict=True):
        with suppress(psutil.NoSuchProcess):  # what has ended is not busy any more
            spent += sum(process.cpu_times()[:2]) - earlier
    return spent / over_s


async def test_the_outline_keeps_what_a_person_sees_and_says_nothing_twice(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/outline")
    assert (await session.observe()).lines == (
        "link Blue Ceramic Mug [0]",
        "link Start page [1]",
        "Offers of the week",
        "$12.50, 4.5 stars",
        "Made by hand in small batches.",
        "Order, 1001",
        "Total, $30.00",
        "textbox Search [2] = blue",
        "textbox E-mail [3]",
        "select Sort by [4] = Rating (Name, Rating)",
        "radio Large [5] = on",
        "textbox Password [6] = ******",
        "button Add to Cart [7]",
        "button Buy [8] (disabled)",
        "tab Reviews [9] (selected)",
        "button Open card Details [10]",
        "link Details [11]",
        "button More [12] (collapsed)",
    )
    await session.close()


async def test_an_element_knows_where_it_is_seen(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/outline")
    elements = (await session.observe()).elements
    for element in elements:
        assert element.box is not None
        left, top, width, height = element.box
        assert min(width, height) > 0
        assert -width < left < 1280
        assert -height < top < 720
    assert replace(elements[0], box=None) == elements[0], "fonts decide the place, so it makes no two pages differ"


async def test_the_html_rendering_has_the_same_ids(hosts: dict[str, str]) -> None:
    async with Browser(hosts, rendering="html") as browser:
        session = await browser.open(f"{ORIGIN}/")
        assert (await session.observe()).lines == (
            "<h1> Welcome to the shop </h1>",
            '<a id="0"> Mugs </a>',
            '<input id="1" type="text" title="Search">',
            '<select id="2" title="Sort by"> <option selected> Name </option>'
            " <option> Price low to high </option> </select>",
            '<input id="3" type="checkbox" title="Gift">',
            '<button id="4" status="disabled"> Buy </button>',
        )


async def test_a_new_tab_becomes_the_current_one_and_tabs_can_be_switched(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/tabs")
    assert await click(session, "Blank") == ""
    observation = await session.observe()
    assert (observation.tabs, observation.tab, observation.url) == (("Tabs", "Mugs"), 1, f"{ORIGIN}/mugs")
    assert await session.perform(SwitchTab(0)) == ""
    assert (await session.observe()).tab == 0
    assert await click(session, "Open") == ""
    observation = await session.observe()
    assert (observation.tabs, observation.tab, observation.title) == (("Tabs", "Mugs", "Results"), 2, "Results")
    assert await session.perform(GoBackward()) == "There is no page to go back to."
    await session.close()


async def test_dialogs_are_accepted_and_reported(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/dialogs")
    assert await click(session, "Save") == 'The page showed a dialog (alert), which was accepted: "Saved."'
    assert "Really delete?" in await click(session, "Delete")
    observation = await session.observe()
    assert observation.title == "Deleted"
    assert "Really delete?" in observation.notice
    await session.close()


async def test_a_download_is_refused_and_reported(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/dialogs")
    assert await click(session, "Download") == "The page offered a download, which was refused."
    assert session.url == f"{ORIGIN}/dialogs"
    await session.close()


async def test_hover_opens_what_only_shows_under_the_mouse(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/elements")
    assert all(element.name != "Mugs" for element in (await session.observe()).elements)
    assert await session.perform(Hover(await look(session, "Menu"))) == ""
    assert any(element.name == "Mugs" for element in (await session.observe()).elements)
    await session.close()


async def test_a_right_click_is_a_right_click(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/elements")
    assert await session.perform(RightClick(await look(session, "Right"))) == ""
    assert (await session.observe()).title == "Context"
    await session.close()


async def test_what_cannot_be_used_is_refused_with_the_reason(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/elements")
    ids = {element.name: element.id for element in (await session.observe()).elements}
    cases: list[tuple[PageAction, str]] = [
        (Click(ids["Covered"]), f"Element {ids['Covered']} is covered by something else on the page."),
        (Click(ids["Disabled"]), f"Element {ids['Disabled']} is disabled."),
        (Type(ids["Fixed"], "x"), f"Element {ids['Fixed']} is read-only."),
        (Type(ids["Born"], "soon"), f'"soon" is not a valid date for element {ids["Born"]}.'),
        (Type(ids["Styled"], "x"), f"Element {ids['Styled']} is a checkbox; it cannot be typed into."),
        (Click(ids["Remove"]), ""),
        (Click(ids["Leaver"]), f"Element {ids['Leaver']} is no longer on the page."),
    ]
    for action, notice in cases:
        assert await session.perform(action) == notice
    await session.close()


async def test_a_button_of_which_a_strip_shows_is_clicked_there(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/elements")
    assert await session.perform(Click(await look(session, "Strip"))) == ""
    assert (await session.observe()).title == "Strip"
    await session.close()


async def test_a_styled_checkbox_is_clicked_through_its_label(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/elements")
    box = await look(session, "Styled")
    assert await session.perform(Click(box)) == ""
    assert (await session.observe()).elements[box].value == "on"
    await session.close()


async def test_a_date_is_typed_as_a_date(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/elements")
    born = await look(session, "Born")
    assert await session.perform(Type(born, "2023-05-01")) == ""
    assert (await session.observe()).elements[born].value == "2023-05-01"
    await session.close()


async def test_typing_reaches_the_listeners_of_the_page(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/elements")
    assert await session.perform(Type(await look(session, "Keys"), "Grüße, 東京")) == ""
    assert "Input: Grüße, 東京" in (await session.observe()).lines
    await session.close()


async def test_an_action_waits_for_the_requests_and_changes_it_caused(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/elements")
    assert await click(session, "Load") == ""
    assert "Arrived" in (await session.observe()).lines
    await session.close()


async def test_every_click_is_followed_by_the_page_it_leads_to(chromium: Browser) -> None:
    async def walk() -> None:
        session = await chromium.open(f"{ORIGIN}/")
        for turn in range(30):
            name = "Home" if turn % 2 else "Mugs"
            assert await click(session, name) == ""
            assert (await session.observe()).title == name
        await session.close()

    await asyncio.gather(*(walk() for _ in range(4)))


async def test_headers_and_cookies_belong_to_one_session(chromium: Browser, site: Site) -> None:
    first, second = await asyncio.gather(
        chromium.open(f"{ORIGIN}/?first", {"x-world": "one"}, [("shop.localhost", "login", "emma")]),
        chromium.open(f"{ORIGIN}/?second", {"x-world": "two"}),
    )
    seen = {path: headers for path, headers in site.requests if path in ("/?first", "/?second")}
    assert (seen["/?first"]["x-world"], seen["/?first"]["Cookie"]) == ("one", "login=emma")
    assert seen["/?second"]["x-world"] == "two"
    assert "Cookie" not in seen["/?second"]
    await first.close()
    await second.close()


async def test_a_page_reaches_nothing_outside_the_fence(chromium: Browser, other_site: Site) -> None:
    port = other_site.address.partition(":")[2]
    session = await chromium.open(f"{ORIGIN}/hostile?port={port}")
    while "Tried" not in (await session.observe()).lines:
        await session.perform(Wait())
    assert "outside the sites of this task." in await click(session, "Leave")
    await session.perform(GoBackward())
    await click(session, "Open")
    assert other_site.requests == []
    await session.close()


async def test_a_link_out_of_the_fence_is_a_notice_and_the_way_back_works(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/dialogs")
    assert await click(session, "Outside") == (
        "http://outside.localhost/ could not be opened: it is outside the sites of this task."
    )
    assert await session.perform(GoBackward()) == ""
    assert (await session.observe()).title == "Dialogs"
    await session.close()


async def test_a_page_that_never_comes_is_a_notice_and_leaves_the_agent_where_it_was(hosts: dict[str, str]) -> None:
    async with Browser(hosts, timeout_s=1.0) as browser:
        session = await browser.open(f"{ORIGIN}/dialogs")
        started = time.monotonic()
        assert await click(session, "Never loads") == f"{ORIGIN}/never could not be opened."
        assert time.monotonic() - started < 6
        assert (await session.observe()).title == "Dialogs"
        assert "Saved." in await click(session, "Save")


async def test_an_answer_without_content_leaves_the_agent_where_it_was(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/dialogs")
    started = time.monotonic()
    assert await click(session, "No content") == ""
    assert time.monotonic() - started < 2
    assert (await session.observe()).title == "Dialogs"
    await session.close()


async def test_a_page_that_reloads_for_ever_can_still_be_seen(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/restless")
    observations = [await session.observe() for _ in range(20)]
    assert {observation.lines for observation in observations} == {("link Mugs [0]",)}
    await session.close()


async def test_a_page_that_never_stops_changing_costs_about_a_second(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/ticker")
    started = time.monotonic()
    assert await click(session, "Nothing") == ""
    assert time.monotonic() - started < 2.5
    assert await click(session, "Mugs") == ""
    assert (await session.observe()).title == "Mugs"
    await session.close()


async def test_a_hung_page_ends_in_an_error_while_another_session_goes_on(hosts: dict[str, str]) -> None:
    async with Browser(hosts, timeout_s=2.0) as browser:
        hung, other = await browser.open(f"{ORIGIN}/dialogs"), await browser.open(f"{ORIGIN}/")
        freezing = asyncio.create_task(click(hung, "Freeze"))
        assert await click(other, "Mugs") == ""
        assert (await other.observe()).title == "Mugs"
        with pytest.raises(BrowserError, match="performing Click"):
            await freezing
        await hung.close()
        assert await click(other, "Home") == ""
        assert busy_share(browser, over_s=1.0) < 0.5  # the endless script went with its session


async def test_a_killed_browser_is_an_error_and_the_next_session_gets_a_new_one(hosts: dict[str, str]) -> None:
    async with Browser(hosts) as browser:
        session = await browser.open(f"{ORIGIN}/")
        first = browser.process_ids
        psutil.Process(first[0]).kill()
        with pytest.raises(BrowserError):
            await click(session, "Mugs")
        await session.close()
        again = await browser.open(f"{ORIGIN}/")
        assert (await again.observe()).title == "Home"
        assert browser.process_ids != first


async def test_an_old_browser_is_replaced_and_ends_with_its_last_session(hosts: dict[str, str]) -> None:
    async with Browser(hosts, sharing=Sharing(recycle_after=2)) as browser:
        kept, second = await browser.open(f"{ORIGIN}/"), await browser.open(f"{ORIGIN}/")
        old = browser.process_ids
        await second.close()
        third = await browser.open(f"{ORIGIN}/")
        assert browser.process_ids != old
        assert await click(kept, "Mugs") == ""
        await kept.close()
        await until(lambda: not any(map(psutil.pid_exists, old)))
        assert await click(third, "Mugs") == ""

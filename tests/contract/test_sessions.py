"""What every session promises, held against the fake and against Chromium."""

from __future__ import annotations

import pytest

from clickgrad.browser import Browser, FakeBrowser, Session
from clickgrad.errors import BrowserError
from clickgrad.types import (
    Click,
    GoBackward,
    GoForward,
    Hover,
    Observation,
    PressEnter,
    RightClick,
    ScrollDown,
    ScrollUp,
    Search,
    Select,
    SwitchTab,
    Type,
    Wait,
)

pytestmark = pytest.mark.anyio
ORIGIN = "http://shop.localhost"


@pytest.fixture(params=["fake", "chromium"])
def browser(request: pytest.FixtureRequest) -> Browser | FakeBrowser:
    chosen = request.getfixturevalue(request.param)
    assert isinstance(chosen, Browser | FakeBrowser)
    return chosen


def find(observation: Observation, name: str) -> int:
    return next(element.id for element in observation.elements if element.name == name)


async def look(session: Session, name: str) -> int:
    return find(await session.observe(), name)


async def test_both_show_the_same_lines_for_the_same_page(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    observation = await session.observe()
    assert observation.lines == (
        "Welcome to the shop",
        "link Mugs [0]",
        "textbox Search [1]",
        "select Sort by [2] = Name (Name, Price low to high)",
        "checkbox Gift [3] = off",
        "button Buy [4] (disabled)",
    )
    assert (observation.url, observation.title, observation.notice) == (f"{ORIGIN}/", "Home", "")
    assert (observation.tabs, observation.tab) == (("Home",), 0)
    await session.close()


async def test_a_click_on_a_link_navigates(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    assert await session.perform(Click(await look(session, "Mugs"))) == ""
    observation = await session.observe()
    assert (session.url, observation.url, observation.title) == (f"{ORIGIN}/mugs", f"{ORIGIN}/mugs", "Mugs")
    assert "Blue mug, $12.50" in observation.lines
    await session.close()


async def test_typing_replaces_the_live_value(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    for text in ("blue", "red mug", "x", ""):
        field = await look(session, "Search")
        assert await session.perform(Type(field, text)) == ""
        observation = await session.observe()
        assert observation.elements[field].value == text
    assert session.url == f"{ORIGIN}/"
    await session.close()


async def test_search_types_and_submits(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    assert await session.perform(Search(await look(session, "Search"), "blue mug")) == ""
    assert session.url == f"{ORIGIN}/results?q=blue+mug"
    assert (await session.observe()).title == "Results"
    await session.close()


async def test_enter_submits_what_was_typed(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    await session.perform(Type(await look(session, "Search"), "cups"))
    assert await session.perform(PressEnter()) == ""
    assert session.url == f"{ORIGIN}/results?q=cups"
    await session.close()


async def test_a_checkbox_is_toggled_by_clicks(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    for expected in ("on", "off"):
        box = await look(session, "Gift")
        await session.perform(Click(box))
        assert (await session.observe()).elements[box].value == expected
    await session.close()


async def test_an_option_is_selected_by_its_text_in_any_case(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    dropdown = await look(session, "Sort by")
    assert await session.perform(Select(dropdown, " price LOW  to high")) == ""
    assert (await session.observe()).elements[dropdown].value == "Price low to high"
    assert await session.perform(Select(dropdown, "Colour")) == (
        f'Dropdown {dropdown} has no option "Colour". It has Name, Price low to high.'
    )
    assert (await session.observe()).elements[dropdown].value == "Price low to high"
    await session.close()


async def test_an_impossible_action_is_a_notice_and_part_of_the_next_observation(
    browser: Browser | FakeBrowser,
) -> None:
    session = await browser.open(f"{ORIGIN}/")
    home = await session.observe()
    link, buy, dropdown = find(home, "Mugs"), find(home, "Buy"), find(home, "Sort by")
    for action, notice in (
        (Click(99), "There is no element 99 on this page."),
        (Click(buy), f"Element {buy} is disabled."),
        (Click(dropdown), f"Element {dropdown} is a dropdown: choose with Select Dropdown Option."),
        (Type(link, "x"), f"Element {link} is a link; it cannot be typed into."),
        (Select(link, "x"), f"Element {link} is a link, not a dropdown."),
        (SwitchTab(3), "There is no tab 3."),
        (GoBackward(), "There is no page to go back to."),
        (GoForward(), "There is no page to go forward to."),
        (ScrollDown(), "The page does not scroll further down."),
        (ScrollUp(), "The page does not scroll further up."),
    ):
        assert await session.perform(action) == notice
        assert (await session.observe()).notice == notice
    assert await session.perform(Click(link)) == ""
    assert (await session.observe()).notice == ""
    await session.close()


async def test_what_something_covers_is_marked_and_cannot_be_used(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/covered")
    assert (await session.observe()).lines == (
        "A note lies over the button",
        "button Buy [0] (covered)",
        "link Home [1]",
    )
    for action in (Click(0), RightClick(0), Hover(0)):
        assert await session.perform(action) == "Element 0 is covered by something else on the page."
        assert (await session.observe()).notice == "Element 0 is covered by something else on the page."
    assert await session.perform(Click(1)) == ""
    assert session.url == f"{ORIGIN}/"
    await session.close()


async def test_ids_are_void_after_a_navigation_until_the_next_observation(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    await session.perform(Click(await look(session, "Mugs")))
    assert await session.perform(Click(0)) == "There is no element 0 on this page."
    assert session.url == f"{ORIGIN}/mugs"
    await session.close()


async def test_back_and_forward_walk_the_history(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    await session.perform(Click(await look(session, "Mugs")))
    assert await session.perform(GoBackward()) == ""
    assert (await session.observe()).title == "Home"
    assert await session.perform(GoForward()) == ""
    assert (await session.observe()).title == "Mugs"
    await session.close()


async def test_scrolling_moves_the_viewport_by_four_fifths_and_says_what_is_beyond(
    browser: Browser | FakeBrowser,
) -> None:
    session = await browser.open(f"{ORIGIN}/long")
    top = await session.observe()
    # 720 px of viewport hold 18 items of 40 px; the body's margin only shifts the first.
    assert (top.lines[0], top.lines[-1]) == ("Item 0", "… more below, scroll down")
    assert "Item 16" in top.lines
    assert "Item 19" not in top.lines
    assert await session.perform(ScrollDown()) == ""
    middle = await session.observe()
    assert (middle.lines[0], middle.lines[-1]) == ("… more above, scroll up", "… more below, scroll down")
    assert middle.lines[1] in ("Item 13", "Item 14")  # 0.8 * 720 / 40 = 14.4
    for _ in range(3):
        await session.perform(ScrollDown())
    bottom = await session.observe()
    assert bottom.lines[-1] == "link The end [0]"
    await session.perform(ScrollUp())
    assert (await session.observe()).lines[-1] == "… more below, scroll down"
    await session.close()


async def test_the_page_text_is_the_whole_page(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/long")
    text = await session.page_text()
    assert [line for line in text.splitlines() if line][:2] == ["Item 0", "Item 1"]
    assert "Item 59" in text
    assert "The end" in text
    await session.close()


async def test_hover_right_click_and_wait_leave_a_still_page_as_it_is(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    before = await session.observe()
    link = find(before, "Mugs")
    for action in (Hover(link), RightClick(link), Wait()):
        assert await session.perform(action) == ""
    assert await session.observe() == before
    await session.close()


async def test_a_screenshot_is_a_jpeg(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    image = await session.screenshot()
    assert (image[:2], image[-2:]) == (b"\xff\xd8", b"\xff\xd9")
    await session.close()


async def test_closing_twice_is_closing_once_and_a_closed_session_raises(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/")
    await session.close()
    await session.close()
    with pytest.raises(BrowserError):
        await session.observe()


async def test_a_start_page_out_of_reach_is_a_browser_error(browser: Browser | FakeBrowser) -> None:
    with pytest.raises(BrowserError, match=r"opening http://outside\.localhost/"):
        await browser.open("http://outside.localhost/")


async def test_a_session_may_start_with_several_tabs_the_first_in_front(browser: Browser | FakeBrowser) -> None:
    session = await browser.open(f"{ORIGIN}/", more_tabs=[f"{ORIGIN}/mugs", f"{ORIGIN}/results"])
    seen = await session.observe()
    assert (seen.title, seen.tabs, seen.tab) == ("Home", ("Home", "Mugs", "Results"), 0)
    assert await session.perform(SwitchTab(1)) == ""
    seen = await session.observe()
    assert (seen.title, seen.tabs, seen.tab) == ("Mugs", ("Home", "Mugs", "Results"), 1)
    assert session.url == f"{ORIGIN}/mugs"
    home = next(element for element in seen.elements if element.name == "Home")
    await session.perform(Click(home.id))
    assert (await session.observe()).tabs == ("Home", "Home", "Results")
    assert await session.perform(SwitchTab(3)) == "There is no tab 3."
    await session.close()

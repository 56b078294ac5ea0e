"""What a page does besides showing itself: dialogs, files, windows. Every one ends in a turn with a notice."""

from __future__ import annotations

import pytest
from hands import click, look

from clickgrad.browser import Browser
from clickgrad.types import Search, Select, SwitchTab, Type

pytestmark = pytest.mark.anyio
ORIGIN = "http://shop.localhost"
NO_FILE = "takes a file, and there is none to give."


@pytest.mark.parametrize(
    ("button", "notice"),
    [("Loop", "The page kept showing dialogs, so its script was stopped."), ("Nag", '"Tick"')],
)
async def test_a_page_that_shows_dialogs_for_ever_can_be_left(chromium: Browser, button: str, notice: str) -> None:
    session = await chromium.open(f"{ORIGIN}/popups")
    assert notice in await click(session, button)
    await click(session, "Mugs")
    assert (await session.observe()).title == "Mugs"
    await session.close()


async def test_a_prompt_gets_its_default_answer(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/popups")
    assert await click(session, "Name") == 'The page showed a dialog (prompt), which was accepted: "Your name?"'
    assert (await session.observe()).title == "Emma"
    await session.close()


async def test_a_page_that_asks_to_stay_is_left_all_the_same(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/popups")
    await click(session, "Guard")
    assert (await session.observe()).title == "Guarded"
    assert await click(session, "Mugs") == ""
    assert (await session.observe()).title == "Mugs"
    await session.close()


async def test_there_is_no_file_to_give(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/popups")
    photo = await look(session, "Photo")
    assert await click(session, "Photo") == f"Element {photo} {NO_FILE}"
    assert await session.perform(Type(photo, "/etc/passwd")) == f"Element {photo} {NO_FILE}"
    assert await click(session, "Choose") == "The page asked for a file, and there is none to give."
    assert (await session.observe()).elements[photo].value == ""
    await session.close()


async def test_a_flood_of_tabs_ends_at_a_dozen(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/popups")
    assert await click(session, "Flood") == "The page opened more tabs than there may be, which were closed."
    assert len((await session.observe()).tabs) == 12
    assert await session.perform(SwitchTab(0)) == ""
    assert (await session.observe()).title == "Popups"
    await session.close()


async def test_a_window_that_closes_itself_leaves_the_agent_where_it_was(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/popups")
    await click(session, "Flash")

    async def tabs() -> tuple[str, ...]:
        return (await session.observe()).tabs

    for _ in range(50):
        if len(await tabs()) == 1:
            break
    assert await tabs() == ("Popups",)
    await session.close()


async def test_a_document_that_a_script_has_emptied_is_an_empty_page(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/popups")
    assert await click(session, "Empty") == ""
    assert ((await session.observe()).lines, await session.page_text()) == ((), "")
    await session.close()


async def test_a_list_that_is_no_dropdown_says_how_to_choose(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/popups")
    colour = await look(session, "Colour")
    assert await session.perform(Select(colour, "Blue")) == (
        f"Element {colour} is a combobox, not a dropdown. Click it, then its option."
    )
    await click(session, "Colour")
    assert await click(session, "Blue") == ""
    assert (await session.observe()).elements[colour].value == "Blue"
    await session.close()


async def test_a_search_is_submitted_by_the_enter_key(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/searching")
    assert await session.perform(Search(await look(session, "Live"), "mug")) == ""
    assert "Found mug" in (await session.observe()).lines
    assert await session.perform(Search(await look(session, "Form"), "cup")) == ""
    assert session.url == f"{ORIGIN}/results?q=cup&by=name"
    await session.close()

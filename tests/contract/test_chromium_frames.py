"""Frames, dialogs that cover the page, pages that scroll in a pane: seen and acted on as a person would."""

from __future__ import annotations

import pytest
from hands import click, look

from clickgrad.browser import Browser
from clickgrad.types import Click, GoBackward, GoForward, Hover, ScrollDown, ScrollUp, Select, Type

pytestmark = pytest.mark.anyio
ORIGIN = "http://shop.localhost"
BEHIND = "… the rest of the page is behind this dialog"


async def test_frames_of_the_same_origin_are_seen_in_place_and_others_are_named(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/frames")
    assert (await session.observe()).lines == (
        "Before",
        "textbox Note [0]",
        "Nothing said",
        "button Press [1]",
        "select Size [2] = Small (Small, Large)",
        "link Deep [3]",
        "button Between [4]",
        "button Halved [5]",
        "frame outside.localhost (cannot be read)",
        "After",
        "… more below, scroll down",  # in the small frame
    )
    await session.close()


async def test_what_is_in_a_frame_has_its_place_in_the_viewport(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/frames")
    boxes = {element.name: element.box for element in (await session.observe()).elements}
    press, between, halved = boxes["Press"], boxes["Between"], boxes["Halved"]
    assert press
    assert between
    assert halved
    assert press[0] == 8 + 5 + 3  # the body's margin, the frame's border and padding
    assert press[1] + press[3] < between[1]
    assert halved[0] == 8 + (5 + 3) // 2
    assert halved[2:] == (100, 45)  # 200 x 90 at half the size
    await session.close()


async def test_what_is_in_a_frame_gets_real_input_at_the_right_point(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/frames")
    assert await session.perform(Type(await look(session, "Note"), "hello")) == ""
    assert "hello" in (await session.observe()).lines
    assert await click(session, "Press") == ""
    assert await session.perform(Select(await look(session, "Size"), " LARGE ")) == ""
    assert await click(session, "Halved") == ""
    lines = (await session.observe()).lines
    assert "button Pressed [1]" in lines
    assert "select Size [2] = Large (Small, Large)" in lines
    assert "button true 100 [5]" in lines  # a trusted event in the middle of 200 px, as the frame counts them
    await session.close()


async def test_a_link_in_a_nested_frame_moves_only_that_frame_and_back_undoes_it(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/frames")
    assert await click(session, "Deep") == ""
    seen = await session.observe()
    assert (seen.title, "All mugs" in seen.lines) == ("Frames", True)
    assert await session.perform(GoBackward()) == ""
    assert "link Deep [3]" in (await session.observe()).lines
    assert await session.perform(GoForward()) == ""
    assert "All mugs" in (await session.observe()).lines
    await session.close()


async def test_a_frame_is_scrolled_when_the_page_is_not_and_its_elements_move_along(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/frames")
    assert all(element.name != "Far down" for element in (await session.observe()).elements)
    for _ in range(6):
        await session.perform(ScrollDown())
        seen = await session.observe()
    assert seen.notice == "The page does not scroll further down."
    far = next(element for element in seen.elements if element.name == "Far down")
    assert far.box
    assert far.box[1] < next(e.box[1] for e in seen.elements if e.name == "Between" and e.box)
    assert await session.perform(Click(far.id)) == ""
    assert "Search results" in (await session.observe()).lines
    await session.close()


async def test_an_element_whose_frame_has_gone_is_no_longer_on_the_page(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/frames")
    ids = {element.name: element.id for element in (await session.observe()).elements}
    assert await session.perform(Click(ids["Deep"])) == ""
    assert await session.perform(Click(ids["Deep"])) == f"Element {ids['Deep']} is no longer on the page."
    assert await session.perform(Click(ids["Press"])) == ""
    await session.close()


async def test_the_page_text_holds_that_of_the_frames(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/frames")
    text = await session.page_text()
    assert [text.index(words) for words in ("Before", "After", "Nothing said", "Far down", "Deep")] == sorted(
        text.index(words) for words in ("Before", "After", "Nothing said", "Far down", "Deep")
    )
    await session.close()


async def test_a_modal_dialog_is_all_there_is_until_it_closes(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/modal")
    page = (await session.observe()).lines
    assert page == ("Behind", "button Ask [0]", "button Overlay [1]", "link Mugs [2]")
    for opener, dialog in (("Ask", ("Sure?", "button Yes [0]")), ("Overlay", ("Accept cookies", "button Close [0]"))):
        ids = {element.name: element.id for element in (await session.observe()).elements}
        await session.perform(Click(ids[opener]))
        covered = f"Element {ids['Mugs']} is covered by something else on the page."
        assert await session.perform(Click(ids["Mugs"])) == covered
        seen = await session.observe()
        assert (seen.lines, seen.notice) == ((*dialog, BEHIND), covered)
        assert await session.perform(Click(0)) == ""
        assert (await session.observe()).lines == page
    await session.close()


async def test_the_pane_of_an_app_shell_scrolls_in_place_of_the_page(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/shell")
    top = await session.observe()
    assert (top.lines[:2], top.lines[-1]) == (("link Home [0]", "Item 0"), "… more below, scroll down")
    assert "Item 18" not in top.lines  # 18 items of 40 px fill the 720 px
    assert await session.perform(ScrollDown()) == ""
    bottom = await session.observe()
    assert (bottom.lines[0], bottom.lines[-1]) == ("… more above, scroll up", "link The end [1]")
    assert await session.perform(ScrollDown()) == "The page does not scroll further down."
    assert await session.perform(ScrollUp()) == ""
    assert (await session.observe()).lines == top.lines
    await session.close()


async def test_a_menu_stays_open_while_the_mouse_goes_to_its_items(chromium: Browser) -> None:
    session = await chromium.open(f"{ORIGIN}/menu")
    assert await session.perform(Hover(await look(session, "Products"))) == ""
    assert await session.perform(Hover(await look(session, "Cups"))) == ""
    assert await click(session, "Mugs") == ""
    assert session.url == f"{ORIGIN}/mugs"
    await session.close()

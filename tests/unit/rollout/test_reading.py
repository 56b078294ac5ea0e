"""A page of ten lines, of which a prompt has room for four: `cut` is the number of the first line without room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clickgrad.rollout.reading import Reading
from clickgrad.types import Click, Observation, PageAction, ScrollDown, ScrollUp, Type, Unparsable, Wait

LINES = tuple(f"Line {number}" for number in range(10))
PAGE = Observation("http://toy/", "Toy", LINES, (), ("Toy", "Other"))


def at_line_four() -> Reading:
    reading = Reading()
    reading.show(PAGE)
    assert reading.turn(ScrollDown(), cut=4)
    assert reading.show(PAGE).first == 4
    return reading


def test_scrolling_goes_through_the_lines_and_back_before_it_is_the_browsers() -> None:
    reading = Reading()
    firsts = [reading.show(PAGE).first]
    for action, cut in ((ScrollDown(), 4), (ScrollDown(), 8), (ScrollUp(), None), (ScrollDown(), 7), (ScrollUp(), 10)):
        assert reading.turn(action, cut)
        firsts.append(reading.show(PAGE).first)
    assert firsts == [0, 4, 8, 4, 7, 4]
    assert reading.turn(ScrollUp(), 8)
    reading.show(PAGE)
    assert not reading.turn(ScrollUp(), 4)  # from the first line on, it is the browser's
    assert not reading.turn(ScrollDown(), None)  # and so it is when there was room for the last one


def test_a_page_of_which_nothing_had_room_is_scrolled_by_the_browser() -> None:
    reading = Reading()
    reading.show(PAGE)
    assert not reading.turn(ScrollDown(), cut=0)


@pytest.mark.parametrize("action", [Type(3, "x"), Click(3), Wait(), Unparsable("no action")])
def test_the_agent_stays_where_it_is_while_what_it_scrolled_past_is_as_it_was(action: PageAction | Unparsable) -> None:
    reading = at_line_four()
    assert not reading.turn(action, cut=8)
    shown = reading.show(replace(PAGE, lines=(*LINES[:6], "changed", "and longer", *LINES[7:])))
    assert shown.first == 4
    assert reading.turn(ScrollUp(), cut=8)
    assert reading.show(PAGE).first == 0


@pytest.mark.parametrize(
    "other",
    [
        replace(PAGE, url="http://toy/next"),
        replace(PAGE, tab=1),
        replace(PAGE, lines=("Saved.", *LINES)),
        replace(PAGE, lines=LINES[:2]),
    ],
)
def test_another_page_is_shown_from_its_top(other: Observation) -> None:
    reading = at_line_four()
    reading.turn(Click(3), cut=8)
    assert reading.show(other) == other
    assert not reading.turn(ScrollUp(), cut=4)


def test_a_browser_that_scrolled_shows_its_new_lines_from_the_top_even_if_they_begin_alike() -> None:
    reading = at_line_four()
    assert not reading.turn(ScrollDown(), cut=None)
    below = replace(PAGE, lines=(*LINES[:9], "Line 10"))
    assert reading.show(below) == below


def test_a_browser_that_could_not_scroll_leaves_the_agent_where_it_is() -> None:
    reading = at_line_four()
    assert not reading.turn(ScrollDown(), cut=None)
    end = replace(PAGE, notice="The page does not scroll further down.")
    assert reading.show(end) == replace(end, first=4)


def test_a_page_that_never_stops_changing_is_read_on_all_the_same() -> None:
    reading = Reading()
    for seconds, first in enumerate((0, 4, 8)):
        clock = replace(PAGE, lines=(f"{seconds} s", *LINES[1:]))
        assert reading.show(clock) == replace(clock, first=first)
        assert reading.turn(ScrollDown(), cut=first + 4 if first < 8 else None) == (first < 8)


@pytest.mark.parametrize("shrunk", [replace(PAGE, lines=LINES[:4]), replace(PAGE, url="http://toy/next")])
def test_a_page_that_left_while_it_was_read_is_shown_from_its_top(shrunk: Observation) -> None:
    reading = Reading()
    reading.show(PAGE)
    assert reading.turn(ScrollDown(), cut=4)
    assert reading.show(shrunk) == shrunk


def test_an_old_notice_is_not_told_again_when_the_browser_was_left_alone() -> None:
    """The session says it until it is asked to act again."""
    refused = replace(PAGE, notice="Element 9 is disabled.")
    reading = Reading()
    reading.show(PAGE)
    reading.turn(Click(9), cut=4)
    assert reading.show(refused).notice == "Element 9 is disabled."
    reading.turn(ScrollDown(), cut=3)
    assert reading.show(refused) == replace(PAGE, first=3)
    reading.turn(Unparsable("it is empty"), cut=7)
    assert reading.show(refused).notice == "the last reply was no action: it is empty"

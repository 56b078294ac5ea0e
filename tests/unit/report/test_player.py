from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from observed import observed
from tiny import make_trajectory, make_turn

from clickgrad.agent.prompt import ABOVE
from clickgrad.browser.render import Rendering
from clickgrad.browser.snapshot import Control
from clickgrad.codec import to_plain
from clickgrad.report.viewer.player import show_trajectory
from clickgrad.types import Click, Observation


def test_a_page_is_shown_from_the_line_to_which_the_agent_had_scrolled(tmp_path: Path) -> None:
    page = Observation("http://toy/", "Toy", ("one", "two", "three"), ())
    turns = [replace(make_turn([1], [2]), observation=replace(page, first=first)) for first in (0, 2)]
    record = to_plain(make_trajectory(turns, 1.0))
    del record["turns"][0]["observation"]["first"]  # as files written before have it
    shown = show_trajectory(record, [], tmp_path / "t.jsonl.zst")["turn_list"]
    assert [turn["lines"] for turn in shown] == [["Page: toy/", "one", "two", "three"], ["Page: toy/", ABOVE, "three"]]


@pytest.mark.parametrize("rendering", ["outline", "html"])
def test_the_line_of_the_element_that_was_acted_on_is_told_by_the_page_and_not_by_its_text(
    rendering: Rendering, tmp_path: Path
) -> None:
    link = Control(3, "link", "Mugs", tag="a")
    page = observed("Toy", 'He said "link Mugs [3]"', "two", link, "four", rendering=rendering)
    acting = replace(make_turn([1], [2]), action=Click(3))
    turns = [replace(acting, observation=replace(page, first=first, notice="n")) for first in (0, 2, 3)]
    record = to_plain(make_trajectory([*turns, replace(acting, observation=page)], 1.0))
    del record["turns"][3]["observation"]["elements"][0]["line"]  # as files written before have it
    shown = show_trajectory(record, [], tmp_path / "t.jsonl.zst")["turn_list"]
    assert [turn["acted_line"] for turn in shown] == [4, 3, None, None]
    assert [turn["lines"][turn["acted_line"]] for turn in shown[:2]] == [page.lines[2]] * 2

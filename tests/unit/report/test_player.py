from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tiny import make_trajectory, make_turn

from clickgrad.agent.prompt import ABOVE
from clickgrad.codec import to_plain
from clickgrad.report.viewer.player import show_trajectory
from clickgrad.types import Observation


def test_a_page_is_shown_from_the_line_to_which_the_agent_had_scrolled(tmp_path: Path) -> None:
    page = Observation("http://toy/", "Toy", ("one", "two", "three"), ())
    turns = [replace(make_turn([1], [2]), observation=replace(page, first=first)) for first in (0, 2)]
    record = to_plain(make_trajectory(turns, 1.0))
    del record["turns"][0]["observation"]["first"]  # as files written before have it
    shown = show_trajectory(record, [], tmp_path / "t.jsonl.zst")["turn_list"]
    assert [turn["lines"] for turn in shown] == [["Page: toy/", "one", "two", "three"], ["Page: toy/", ABOVE, "three"]]

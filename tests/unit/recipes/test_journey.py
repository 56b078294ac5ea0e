"""What `train` tells of its way: how much is left of the whole, by what was reckoned and how it went so far."""

from __future__ import annotations

import time
from pathlib import Path

from clickgrad.config import load_config
from clickgrad.display import Journey
from clickgrad.planning.journey import STAGES, opening_lines, reckon_stages

PARTS = (("first", 60.0), ("second", 120.0), ("third", 60.0))


def test_what_is_left_goes_by_the_pace_so_far() -> None:
    way = Journey(PARTS)
    assert way.enter("first") == "part 1 of 3: first, about 4 min left for the whole"
    assert way.enter("elsewhere") == ""
    # A minute was reckoned for the first part and two went by: the second and third, three minutes, will take six.
    way.began = time.monotonic() - 120
    assert way.enter("second") == "part 2 of 3: second, about 6 min left for the whole"
    # Half of the second: two minutes were reckoned so far and two went by, two are to come.
    assert way.left(0.5) == "about 2 min left for the whole"


def test_the_stages_of_the_default_run_are_told_with_their_share() -> None:
    stages = reckon_stages(load_config(None, [], "train", default="quick"))
    assert [name for name, _ in stages] == list(STAGES)
    told = list(opening_lines(stages, Path("runs/quick")))
    assert told[0].startswith("plan: about ")
    assert len(told) == 1 + len(STAGES) + 2
    assert "`clickgrad view runs/quick`" in told[-2]

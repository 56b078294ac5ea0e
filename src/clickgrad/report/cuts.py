"""Episodes at smaller turn limits than they were sampled at: `cuts.json` of an evaluation, and rates made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clickgrad.codec import CodecError, from_plain, to_plain
from clickgrad.integrity import write_whole
from clickgrad.report.stats import Rate

CUTS = "cuts.json"
KEPT, RULE, REPLAY, LOST = "kept", "rule", "replay", "lost"
HOW = {
    KEPT: "ended within the limit by itself: as sampled",
    RULE: "went on beyond the limit, and the task asks for an answer: failed for want of one",
    REPLAY: "went on beyond the limit: played again up to it and judged there",
    LOST: "no verdict as sampled, or the replay came out differently: in no denominator",
}


@dataclass(frozen=True, slots=True)
class Cut:
    """What one episode comes to at a limit."""

    episode: str
    limit: int
    turns: int
    reward: float | None
    how: str  # one of HOW


def write_cuts(folder: Path, cuts: Sequence[Cut]) -> None:
    """All at once: a kill leaves the file as it was."""
    write_whole(folder / CUTS, json.dumps([to_plain(cut) for cut in cuts], indent=0) + "\n")


def read_cuts(folder: Path, skipped: list[str]) -> list[Cut]:
    """Empty where there are none; what cannot be read is added to `skipped`."""
    path = folder / CUTS
    if not path.is_file():
        return []
    try:
        stored = json.loads(path.read_text("utf-8"))
        if not isinstance(stored, list):
            raise CodecError("not a list of cuts")
        return [from_plain(Cut, plain) for plain in stored]
    except (OSError, ValueError, RecursionError) as error:
        skipped.append(f"{folder.name}/{CUTS}: {error}")
        return []


def rate_at(cuts: Sequence[Cut], limit: int) -> Rate:
    judged = [cut.reward for cut in cuts if cut.limit == limit and cut.reward is not None]
    lost = sum(cut.limit == limit and cut.reward is None for cut in cuts)
    return Rate(sum(reward == 1.0 for reward in judged), len(judged), infra_failed=lost)

"""Film strips: three stored episodes as rows of pictures, what was used ringed. Reads files only."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clickgrad.codec import to_plain
from clickgrad.report.episodes import Episode
from clickgrad.report.index import TrajectoryIndex
from clickgrad.report.runs import is_inside
from clickgrad.report.viewer.player import describe, element_of
from clickgrad.run_layout import EVALUATION, SCREENSHOTS, TRAJECTORIES, picture_name
from clickgrad.types import Trajectory

VIEWPORT = (1280, 720)  # of the sessions, and so of their pictures
SCENES = 6  # of a strip; longer episodes show their first and their last turns
MARGIN = 3  # pixels between an element and its ring


@dataclass(frozen=True, slots=True)
class Ring:
    """In percent of the picture."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Scene:
    """A turn as people see it."""

    picture: Path | None
    ring: Ring | None
    action: str

    @property
    def data(self) -> str:
        """For a page without files beside it; "" when there is no picture."""
        if self.picture is None:
            return ""
        kind = "png" if self.picture.suffix == ".png" else "jpeg"
        return f"data:image/{kind};base64,{b64encode(self.picture.read_bytes()).decode()}"


@dataclass(frozen=True, slots=True)
class Strip:
    title: str
    intent: str
    policy: str
    passed: bool
    scenes: tuple[Scene, ...]
    left_out: int = 0  # turns in the middle


def scenes_of(trajectory: Trajectory, folder: Path) -> list[Scene]:
    return _scenes(to_plain(trajectory), folder)


def _scenes(record: Mapping[str, Any], folder: Path) -> list[Scene]:
    scenes = []
    for number, turn in enumerate(record["turns"]):
        action = turn.get("action") or {}
        element = element_of(turn.get("observation") or {}, action)
        box = element.get("box") if element else None
        names = (turn.get("screenshot"), picture_name(f"{record['episode']}-{number:02d}"))
        picture = next((folder / str(name) for name in names if name and _is_ours(folder / str(name), folder)), None)
        scenes.append(Scene(picture, ring_around(box) if box else None, describe(action, element)))
    return scenes


def _is_ours(path: Path, folder: Path) -> bool:
    try:
        return path.is_file() and is_inside(path, folder)
    except OSError:
        return False


def ring_around(box: Sequence[float]) -> Ring:
    left, top, width, height = box
    across, down = VIEWPORT
    return Ring(
        round(100 * (left - MARGIN) / across, 2),
        round(100 * (top - MARGIN) / down, 2),
        round(100 * (width + 2 * MARGIN) / across, 2),
        round(100 * (height + 2 * MARGIN) / down, 2),
    )


def choose_strips(before: Sequence[Episode], after: Sequence[Episode]) -> list[tuple[str, str, int]]:
    """Title, episode and which evaluation (0 before, 1 after): gained by training, lost by it, a typical failure.

    Gained and lost are shown by both policies. The typical failure has the commonest cause among those that fail after.
    """
    rewards = {episode.task: episode for episode in before}
    pairs = [(rewards[episode.task], episode) for episode in after if episode.task in rewards]
    gained = next(((old, new) for old, new in pairs if (old.reward, new.reward) == (0.0, 1.0)), None)
    lost = next(((old, new) for old, new in pairs if (old.reward, new.reward) == (1.0, 0.0)), None)
    failed = [episode for episode in after if episode.reward == 0.0 and (lost is None or episode is not lost[1])]
    chosen = []
    if gained:
        chosen += [("Gained: before", gained[0].name, 0), ("Gained: after", gained[1].name, 1)]
    if lost:
        chosen += [("Lost: before", lost[0].name, 0), ("Lost: after", lost[1].name, 1)]
    if failed:
        cause, count = Counter(episode.cause for episode in failed).most_common(1)[0]
        typical = next(episode for episode in failed if episode.cause == cause)
        chosen.append((f"A typical failure ({cause}, {count} of {len(failed)})", typical.name, 1))
    return chosen


def read_strips(stages: Sequence[Path], played: Sequence[Sequence[Episode]]) -> list[Strip]:
    """Of the last two evaluations, or of the only one."""
    if not played:
        return []
    before, after = (played[-2], played[-1]) if len(played) > 1 else ((), played[-1])
    folders = (stages[-2] if len(stages) > 1 else stages[-1], stages[-1])
    strips = [_read(folders[which], name, title) for title, name, which in choose_strips(before, after)]
    return [strip for strip in strips if strip and any(scene.picture for scene in strip.scenes)]


def _read(stage: Path, name: str, title: str) -> Strip | None:
    index = TrajectoryIndex(stage / TRAJECTORIES / EVALUATION)
    index.refresh()
    number = next((n for n, entry in enumerate(index.entries) if entry.episode.name == name), None)
    if number is None:
        return None
    try:
        record = index.record(number)
        scenes = _scenes(record, stage / SCREENSHOTS)
    except (ValueError, OSError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # the report is of what can be read
    episode = index.entries[number].episode
    shown = scenes if len(scenes) <= SCENES else [*scenes[: SCENES - 2], *scenes[-2:]]
    passed = episode.reward == 1.0
    return Strip(title, episode.intent, episode.policy, passed, tuple(shown), len(scenes) - len(shown))

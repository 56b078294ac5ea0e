"""Pictures of stored episodes that have none: their actions performed again in a fresh world, a picture every turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

from clickgrad.backends.agents import Screenshots
from clickgrad.backends.venues import open_venue
from clickgrad.config import Config
from clickgrad.errors import ClickgradError, UserError
from clickgrad.rollout.again import Diverged, act, observe_again
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.rollout.venue import Venue
from clickgrad.run_layout import CONFIG, SCREENSHOTS, TRAJECTORIES, picture_name
from clickgrad.types import Trajectory


class Drawer:
    """One at a time: a person waits for each."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = asyncio.Lock()

    async def draw(self, file: Path, episode: str) -> int:
        """How many pictures it made, beside the trajectories; UserError where a page comes out otherwise."""
        trajectory = find_episode(file, episode)
        async with self._lock, open_venue(self._config_for(file)) as venue:
            return await draw(trajectory, venue, pictures_of(file))

    def _config_for(self, file: Path) -> Config:
        """The universe and the rendering are the run's."""
        return run_config(file, self._config)


async def draw(trajectory: Trajectory, venue: Venue, folder: Path) -> int:
    save = Screenshots(folder)
    try:
        async with venue.open(trajectory.task) as visit:
            before = None
            for number, turn in enumerate(trajectory.turns):
                await observe_again(turn, before, number + 1, visit.session)
                save(f"{trajectory.episode}-{number:02d}", await visit.session.screenshot())
                await act(turn, visit.session)
                before = turn
    except Diverged as diverged:
        raise UserError(f"{trajectory.episode} cannot be drawn, its pages come out otherwise: {diverged}") from None
    return len(trajectory.turns)


def find_episode(file: Path, episode: str | None) -> Trajectory:
    """By its name, or the first of the file."""
    if not file.is_file():
        raise UserError(f"there is no trajectory file {file}")
    trajectories = TrajectoryFile(file).read()
    found = [one for one in trajectories if episode is None or one.episode == episode or one.task.id == episode]
    if not found:
        names = ", ".join(one.episode for one in trajectories[:5])
        raise UserError(f"{file} has no episode {episode!r}; it begins with {names or 'nothing: it is empty'}")
    return found[0]


def pictures_of(file: Path) -> Path:
    """Where the pictures of a trajectory file's episodes lie."""
    run = file.parent.parent if file.parent.name == TRAJECTORIES else file.parent
    return run / SCREENSHOTS


def stored_picture(trajectory: Trajectory, number: int, folder: Path) -> Path | None:
    """Of a turn, by the name it was stored with or drawn under."""
    turn = trajectory.turns[number]
    names = [turn.screenshot] if turn.screenshot else []
    for name in (*names, picture_name(f"{trajectory.episode}-{number:02d}")):
        if Path(name).name == name and (folder / name).is_file():
            return folder / name
    return None


def run_config(file: Path, config: Config) -> Config:
    """`config` with the tasks and the rendering of the run that the file lies in, where it has options of its own."""
    from clickgrad.config import load_config

    own = pictures_of(file).parent / CONFIG
    if not own.is_file():
        return config
    try:
        theirs = load_config(str(own), [], "replay")
    except ClickgradError:
        return config
    return config.model_copy(update={"tasks": theirs.tasks, "agent": theirs.agent})

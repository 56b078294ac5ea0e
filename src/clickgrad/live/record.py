"""Record: a person does a task in the viewer, and what they did is a demonstration like any other."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from clickgrad.backends.agents import make_agent
from clickgrad.backends.local import LocalPlayers
from clickgrad.backends.policies import PolicySpec, prompt_builder
from clickgrad.backends.tasks import chosen_tasks, find_task
from clickgrad.backends.venues import open_venue, universe_of
from clickgrad.config import Config
from clickgrad.live.person import Person
from clickgrad.live.showing import Show, play_rounds, served, take_seats
from clickgrad.live.studio import Seat, Stage
from clickgrad.recipes.demos import timeless
from clickgrad.rollout.live import LiveFolder
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import LIVE
from clickgrad.types import Trajectory

TURNS = 100  # a person may look around
PATIENCE_S = 4 * 3600.0
AGENTS = "beside.jsonl.zst"  # what the policy beside the person did: no demonstration


class Demonstrations(TrajectoryFile):
    """As recorded ones are stored: without times, and without where the fonts of this machine put things."""

    def append(self, trajectory: Trajectory) -> None:
        super().append(timeless(trajectory))


async def record(config: Config, task: str | None, rival: PolicySpec | None, out: Path, show: Show) -> list[Trajectory]:
    """`out` is appended to, whether an episode passed or not: those who clone take what passed."""
    tasks = chosen_tasks(config, "all")
    first = find_task(tasks, task, config.tasks.suite) if task else None
    out.parent.mkdir(parents=True, exist_ok=True)
    file = Demonstrations(out)
    file.require_ours()
    folder = LiveFolder(out.parent / LIVE, always=True, universe=universe_of(config))
    stage = Stage("record", folder, tasks, config.seed, len(file.read()))
    with folder.opened():
        async with served(stage, config, out.parent, show), AsyncExitStack() as stack:
            stage.tell("opening the sites" + (f" and loading {rival}" if rival else ""))
            builder = prompt_builder(config, None)
            person = Person(builder.grammar)
            venue = await stack.enter_async_context(open_venue(config))
            agent = make_agent(config, person, builder, 0.0, out.parent)
            limits = replace(agent.limits, max_turns=TURNS, episode_s=PATIENCE_S, reply_s=PATIENCE_S)
            players = LocalPlayers(replace(agent, limits=limits), venue, live=folder)
            seats = [Seat("you", players, file, person)]
            if rival:
                paced = replace(folder, pace_s=show.pace_s)
                seats += await take_seats(stack, config, [rival], paced, TrajectoryFile(out.with_name(AGENTS)))
            stage.seat(seats)
            try:
                return await play_rounds(stage, first, show.once)
            finally:
                stage.dismiss_person()

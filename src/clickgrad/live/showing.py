"""Putting a stage on: the viewer's server in this process, the browser of whoever sits here, rounds until the end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from clickgrad.backends.agents import as_trained, make_agent, pictured_always
from clickgrad.backends.local import LocalPlayers
from clickgrad.backends.policies import PolicySpec, open_policy
from clickgrad.backends.venues import open_venue
from clickgrad.config import Config
from clickgrad.display import say
from clickgrad.live.drawing import Drawer
from clickgrad.live.studio import Seat, Stage
from clickgrad.report.viewer.server import (
    Extras,
    address_of,
    bind,
    is_loopback,
    make_app,
    open_browser,
    server_config,
)
from clickgrad.rollout.live import LiveFolder
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.rollout.venue import Venue
from clickgrad.types import Outcome, Task, Trajectory


@dataclass(frozen=True, slots=True)
class Show:
    """How it is shown, by the command line."""

    host: str = "127.0.0.1"
    port: int = 8420
    browse: bool = True  # open a browser where there is a display
    once: bool = False  # end after the first verdict
    pace_s: float = 0.8


class _Server(uvicorn.Server):
    """Leaves signals to us: one Ctrl-C ends the episodes and the server together. Says when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def served(stage: Stage, config: Config, root: Path, show: Show) -> AsyncIterator[str]:
    """The viewer on this stage, at the address given."""
    listener = _listener(show)
    address = f"{address_of(listener, show.host)}#/live"
    extras = Extras(Drawer(config).draw, stage)
    server = _Server(server_config(make_app(root, is_loopback(show.host), extras)))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await server.up.wait()  # what comes next may hold up the loop for seconds
        say(address)
        if show.browse and not open_browser(address):
            say("No browser opened by itself: open the address in yours.")
        say("Ctrl-C ends it.")
        yield address
    finally:
        server.should_exit = True
        await asyncio.wait([serving], timeout=5)
        listener.close()


def _listener(show: Show) -> socket.socket:
    listener = bind(show.host, show.port)
    if not is_loopback(show.host):
        say(f"Everyone who reaches {show.host} can look on, and play where a person may.")
    return listener


async def take_seats(
    stack: AsyncExitStack, config: Config, specs: Sequence[PolicySpec], folder: LiveFolder, file: TrajectoryFile
) -> list[Seat]:
    """Every policy as it was trained; in the same sites and browser where they read pages alike."""
    venues: dict[str, Venue] = {}
    seats = []
    for spec in specs:
        own = as_trained(config, spec)
        if own.agent.rendering not in venues:
            venues[own.agent.rendering] = await stack.enter_async_context(open_venue(own))
        # Loading a model takes seconds, in which the page must be answered.
        policy, builder = await asyncio.to_thread(stack.enter_context, open_policy(spec, own))
        agent = pictured_always(make_agent(own, policy, builder, 0.0, folder.path.parent), folder.path.parent)
        seats.append(Seat(str(spec), LocalPlayers(agent, venues[own.agent.rendering], live=folder), file))
    return seats


async def play_rounds(
    stage: Stage, first: Task | None, once: bool, following: Callable[[], Awaitable[Task]] | None = None
) -> list[Trajectory]:
    """Task after task, as they are asked for; the first round's trajectories where there is only one."""
    task = first or await stage.next_task()
    while True:
        trajectories = await stage.play(task)
        if once:
            return trajectories
        say(verdict_lines(trajectories))
        task = await (following or stage.next_task)()


def verdict_lines(trajectories: Sequence[Trajectory]) -> str:
    """What came of it, when it has ended by itself."""
    return "\n".join(f"{trajectory.policy}: {verdict_line(trajectory)}" for trajectory in trajectories)


def verdict_line(trajectory: Trajectory) -> str:
    if trajectory.verdict.outcome is Outcome.PASSED:
        return f"passed {trajectory.task.id} in {len(trajectory.turns)} turns"
    wrong = "; ".join(result.reason for result in trajectory.verdict.results if not result.passed)
    word = "failed" if trajectory.verdict.outcome is Outcome.FAILED else "no verdict on"
    return f"{word} {trajectory.task.id}: {trajectory.error or wrong or trajectory.end.value}"

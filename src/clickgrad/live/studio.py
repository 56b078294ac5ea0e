"""A stage for one task at a time: policies, or a person, each in a world of their own, told live to the viewer."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clickgrad.backends.local import LocalPlayers
from clickgrad.live.person import Person
from clickgrad.rollout.live import LiveFolder, live_name
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Task, Trajectory

GONE_S = 4.0  # after which a person who closed the page has left: a page that is loaded anew is back sooner
SHOWN = 400  # tasks to choose from


@dataclass(frozen=True, slots=True)
class Seat:
    """Who plays, and where what they did is kept."""

    title: str
    players: LocalPlayers
    file: TrajectoryFile
    person: Person | None = None


def spread(tasks: Sequence[Task]) -> list[Task]:
    """The first task of every template, then the second of every one and so on; of each round the shortest first."""
    seen = Counter[str]()
    keys = {}
    for task in tasks:
        keys[task.id] = (seen[task.template], task.expert_turns or math.inf)
        seen[task.template] += 1
    return sorted(tasks, key=lambda task: keys[task.id])


class Stage:
    """A `Studio` for the viewer. Rounds follow one another: one task, every seat at once."""

    def __init__(self, kind: str, folder: LiveFolder, tasks: Sequence[Task], seed: int, before: int = 0) -> None:
        self._kind = kind
        self._folder = folder
        self._tasks = {task.id: task for task in tasks}
        self._offered = [{"id": task.id, "intent": task.intent} for task in spread(tasks)[:SHOWN]]
        self._seed = seed
        self._seats: Sequence[Seat] = ()
        self._round = before  # episodes that are stored already: each has a name of its own
        self._names: list[str] = []
        self._task: Task | None = None
        self._doing = "getting ready"
        self._wanted: asyncio.Queue[Task] = asyncio.Queue()
        self._playing: asyncio.Task[list[Trajectory]] | None = None
        self._pages = 0
        self._watch_person: asyncio.TimerHandle | None = None

    # --- what the viewer asks ---

    def plain(self) -> dict[str, Any]:
        return {
            "kind": self._kind,
            "doing": self._doing,
            "ids": [f".@{live_name(name)}" for name in self._names],
            "seats": [{"title": seat.title, "person": seat.person is not None} for seat in self._seats],
            "task": {"id": self._task.id, "intent": self._task.intent, "user": self._task.user} if self._task else None,
            "tasks": self._offered if self._seats else [],
        }

    async def ask(self, wish: dict[str, Any]) -> dict[str, Any]:
        match wish.get("want"):
            case "act":
                person = next((seat.person for seat in self._seats if seat.person), None)
                return {"told": person.act(wish) if person else "Nobody plays by hand here."}
            case "play":
                task = self._tasks.get(str(wish.get("task")))
                if task is None:
                    return {"told": "There is no such task here."}
                if not self._seats:
                    return {"told": "Still getting ready."}
                self._end_round()
                self._wanted.put_nowait(task)
                return {"told": ""}
        return {"told": "That is nothing this page can ask for."}

    def joined(self) -> None:
        self._pages += 1
        if self._watch_person:
            self._watch_person.cancel()
            self._watch_person = None

    def left(self) -> None:
        self._pages -= 1
        if not self._pages:
            self._watch_person = asyncio.get_running_loop().call_later(GONE_S, self.dismiss_person)

    # --- what the command does ---

    def tell(self, doing: str) -> None:
        self._doing = doing

    def seat(self, seats: Sequence[Seat]) -> None:
        self._seats = seats
        self._doing = ""

    def dismiss_person(self) -> None:
        for seat in self._seats:
            if seat.person:
                seat.person.leave()

    async def next_task(self) -> Task:
        return await self._wanted.get()

    async def play(self, task: Task) -> list[Trajectory]:
        """One round: what the seats left behind, in their order. Ended early, it is what was finished: nothing."""
        self._round += 1
        self._task = task
        self._names = [f"{task.id}/{self._kind}-{self._round}-{number}/try-0" for number in range(len(self._seats))]
        self._playing = asyncio.create_task(self._play_all(task))
        try:
            await asyncio.wait([self._playing])
            return [] if self._playing.cancelled() else self._playing.result()
        finally:
            if not self._playing.done():  # the command itself ends
                self._end_round()
                await asyncio.wait([self._playing], timeout=GONE_S)

    async def _play_all(self, task: Task) -> list[Trajectory]:
        return list(await asyncio.gather(*map(self._play, self._seats, self._names, [task] * len(self._seats))))

    async def _play(self, seat: Seat, name: str, task: Task) -> Trajectory:
        if seat.person:
            seat.person.begin()
        trajectory = await seat.players.play(name, task, self._seed)
        seat.file.append(trajectory)
        return trajectory

    def _end_round(self) -> None:
        """A person's episode is kept as unfinished; a policy's is dropped."""
        if self._playing is None or self._playing.done():
            return
        if any(seat.person for seat in self._seats):
            self.dismiss_person()
        else:
            self._playing.cancel()

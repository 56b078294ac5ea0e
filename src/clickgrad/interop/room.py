"""A room with sites and a browser, for interfaces that step: many episodes at once, from any thread.

    with Room(interop_config("pocket")) as room:
        episode = room.begin(task)
        step = episode.step('do(action="Click", element="3")')

Calls block; whoever has an event loop says `await asyncio.to_thread(episode.step, reply)`. Every episode has a world
and a browser session of its own. A step raises InfraError when our machinery fails, and when nobody can say whether the
task was done: neither is ever a reward.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from clickgrad.agent.prompt import page_lines
from clickgrad.backends.policies import prompt_builder
from clickgrad.backends.venues import open_venue
from clickgrad.config import Config, load_config
from clickgrad.errors import ClickgradError, InfraError, UserError, WorldError, boundary
from clickgrad.rollout.episode import unjudged_because
from clickgrad.rollout.reading import with_notice_of
from clickgrad.rollout.venue import Venue, Visit
from clickgrad.tasks.checks import judge
from clickgrad.types import Completion, Evidence, Exit, Message, Observation, Task, Unparsable, Verdict

T = TypeVar("T")
CLOSE_S = 30.0


def interop_config(suite: str = "pocket", *, max_turns: int = 8, world_seed: int = 0, **agent: str) -> Config:
    """The options of `evaluate`, by what foreign interfaces let one choose; `agent` is any option of that section."""
    settings = [f"tasks.suite='{suite}'", f"tasks.seed={world_seed}", f"agent.max_turns={max_turns}"]
    settings += [f"agent.{name}={value}" for name, value in ({"reply_format": "plain"} | agent).items()]
    return load_config(None, settings, "evaluate")


@dataclass(frozen=True, slots=True)
class Step:
    page: Observation
    verdict: Verdict | None = None  # as it stands; None where nobody can say before the end
    terminated: bool = False  # the agent or the page ended it
    truncated: bool = False  # the turn limit did

    @property
    def reward(self) -> float | None:
        return self.verdict.reward if self.verdict else None

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated

    @property
    def text(self) -> str:
        return "\n".join(page_lines(self.page))


class Room:
    """Opens with the first episode, lives in a thread of its own, and ends browser and sites on `close`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._venue: Future[Venue] = Future()
        self._ended: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Event | None = None
        self._episodes: set[Episode] = set()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def begin(self, task: Task) -> Episode:
        """On the task's start page, in a fresh world."""
        self._open()
        self._venue.result()
        episode = Episode(self, task)
        self._episodes.add(episode)
        self.run(episode.start(self._venue.result()))
        return episode

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """In the room's own loop."""
        if self._loop is None or self._closed:
            work.close()
            raise UserError("the room is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """Ends open episodes, browser and sites. Idempotent."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is None or self._loop is None or self._closing is None:
            return
        if self._venue.exception() is None:
            self._loop.call_soon_threadsafe(self._closing.set)
            self._ended.result(CLOSE_S)
        thread.join(CLOSE_S)

    def forget(self, episode: Episode) -> None:
        self._episodes.discard(episode)

    def _open(self) -> None:
        with self._lock:
            if self._closed:
                raise UserError("the room is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._live, name="clickgrad-room", daemon=True)
                self._thread.start()

    def _live(self) -> None:
        try:
            with boundary(InfraError, "running sites and browser"):
                asyncio.run(self._host())
        except ClickgradError as error:
            self._venue.set_exception(error) if not self._venue.done() else self._ended.set_exception(error)
        else:
            self._ended.set_result(None)

    async def _host(self) -> None:
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        async with open_venue(self.config) as venue:
            self._venue.set_result(venue)
            await self._closing.wait()
            for episode in tuple(self._episodes):
                await episode.finish()


class Episode:
    """One task from its start page to the verdict. Single use, one caller at a time."""

    def __init__(self, room: Room, task: Task) -> None:
        self._room = room
        self.task = task
        self._builder = prompt_builder(room.config, None)
        self._turns_left = room.config.agent.max_turns
        self._history: list[Completion] = []
        self._stack = AsyncExitStack()
        self._visit: Visit | None = None
        self.last = Step(Observation("", "", (), ()))

    def step(self, reply: str) -> Step:
        """What a model would write: a remark and an action."""
        return self._room.run(self._step(reply))

    def end(self) -> None:
        """World and session are gone. Idempotent, also after the room has closed."""
        if self._visit is not None:
            self._room.run(self.finish())

    def messages(self) -> tuple[Message, ...]:
        """What a chat model would be asked now: system, task, replies so far, the newest page."""
        return self._builder.prompt("", self.task, self._history, self.last.page).messages

    async def start(self, venue: Venue) -> None:
        """In the room's loop."""
        try:
            with boundary(InfraError, f"opening {self.task.id}"):
                self._visit = await self._stack.enter_async_context(venue.open(self.task))
                self.task = self._visit.task or self.task
                self.last = Step(await self._visit.session.observe(), await self._standing(self._visit))
        except BaseException:
            await self.finish()
            raise

    async def finish(self) -> None:
        """In the room's loop."""
        self._visit = None
        self._room.forget(self)
        await self._stack.aclose()

    async def _step(self, reply: str) -> Step:
        if self._visit is None:
            raise UserError("the episode is over: begin another one")
        try:
            with boundary(InfraError, f"a turn of {self.task.id}"):
                self.last = await self._turn(reply, self._visit)
        except InfraError:
            await self.finish()
            raise
        if self.last.over:
            await self.finish()
        return self.last

    async def _turn(self, reply: str, visit: Visit) -> Step:
        visit.require_site()
        action, read_as = self._builder.grammar.read(reply, self.last.page.elements)
        if not isinstance(action, Exit | Unparsable):
            await visit.session.perform(action)
        self._turns_left -= 1
        self._history.append(self._builder.reply(reply))
        page = with_notice_of(action, await visit.session.observe(), read_as=read_as)
        terminated = isinstance(action, Exit) or visit.over()
        truncated = not terminated and self._turns_left == 0
        if not terminated and not truncated:
            return Step(page, await self._standing(visit))
        answer = action.message if isinstance(action, Exit) else None
        return Step(page, decided(self.task, await visit.evidence(answer)), terminated, truncated)

    async def _standing(self, visit: Visit) -> Verdict | None:
        """What the turn limit would come to here."""
        if visit.peek is None:
            return None
        verdict = judge(self.task, await visit.peek())
        return None if verdict.reward is None else verdict


def decided(task: Task, evidence: Evidence) -> Verdict:
    """Passed or failed; an error where nobody can say."""
    verdict = judge(task, evidence)
    if verdict.reward is None:
        raise WorldError(f"task {task.id} cannot be judged: {unjudged_because(verdict) or 'it has no checks'}")
    return verdict


def reasons(verdict: Verdict) -> str:
    return "; ".join(result.reason for result in verdict.results)

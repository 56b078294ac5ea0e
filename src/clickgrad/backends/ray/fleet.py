"""The browser workers of a cluster: as many as it carries, replaced when they are lost or hang.

An episode whose worker is lost becomes CRASHED, like one whose browser died: the scheduler tries it again, on another
worker, within its cap, and it is in no denominator.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.metrics import Counter, Gauge

from clickgrad.backends.ray.engine import Engines
from clickgrad.backends.ray.events import Events
from clickgrad.backends.ray.worker import OpenParts, Worker
from clickgrad.errors import ClickgradError, InfraError, UserError
from clickgrad.rollout.episode import UNJUDGED
from clickgrad.types import USUAL, End, Opening, Task, Trajectory

TEND_S = 2.0  # between two looks at who is there
CLOSE_S = 20.0
MOST_LOST_AT_START = 3  # workers in a row that never came up
MOST_TOLD = 120  # characters of what Ray says


@dataclass(frozen=True, slots=True)
class FleetOptions:
    workers: int  # 0: as many as the cluster carries, counted anew as nodes come and go
    worker_cpus: float
    episodes_each: int
    episode_s: float  # after which a worker that has not answered counts as hung
    patience_s: float  # for the first worker to come up, and when all are lost


@dataclass(eq=False, slots=True)
class _Hand:
    """A worker as the driver sees it."""

    name: str
    actor: Any
    where: str = ""
    ready: bool = False
    busy: int = 0
    played: int = 0
    failed: int = 0
    since: float = field(default_factory=time.monotonic)


class Fleet:
    """Lives on one event loop, as the scheduler does."""

    def __init__(
        self,
        open_parts: OpenParts,
        policy: str,
        prompt_format: str,
        engines: Engines | None,
        options: FleetOptions,
        events: Events,
    ) -> None:
        self._open_parts = open_parts
        self._policy = policy
        self._prompt_format = prompt_format
        self._engines = engines
        self._options = options
        self._events = events
        self._hands: list[_Hand] = []
        self._made = 0
        self._stillborn: list[str] = []  # why the last workers never came up
        self._changed = asyncio.Event()
        self._watches: set[asyncio.Task[None]] = set()
        self._played = Counter("clickgrad_episodes", "Episodes played, by worker and end", ("worker", "end"))
        self._present = Gauge("clickgrad_workers", "Browser workers that are ready")

    async def open(self) -> None:
        self._watch(self._tend())

    async def play(self, episode: str, task: Task, seed: int, opening: Opening = USUAL) -> Trajectory:
        hand = await self._free_hand()
        hand.busy += 1
        started = time.monotonic()
        try:
            engine = self._engines.home(episode) if self._engines else None
            async with asyncio.timeout(self._options.episode_s):
                trajectory: Trajectory = await hand.actor.play.remote(episode, task, seed, engine, opening)
        except TimeoutError:
            trajectory = self._lost(hand, episode, task, seed, started, "did not answer in time")
        except RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, ClickgradError):
                raise cause from error
            trajectory = self._lost(hand, episode, task, seed, started, _reason(error))
        finally:
            hand.busy -= 1
            self._changed.set()
        hand.played += 1
        hand.failed += not trajectory.usable
        self._played.inc(tags={"worker": hand.name, "end": trajectory.end.value})
        if not trajectory.usable and self._engines:
            await asyncio.to_thread(self._engines.mend)
        return trajectory

    def figures(self) -> dict[str, float]:
        """Since the last time: by worker, and what was lost."""
        now, row = time.monotonic(), dict[str, float]()
        for hand in self._hands:
            row[f"worker/{hand.name}/episodes_per_min"] = 60 * hand.played / max(1e-9, now - hand.since)
            row[f"worker/{hand.name}/failed"] = hand.failed
            hand.played, hand.failed, hand.since = 0, 0, now
        row["workers"] = sum(hand.ready for hand in self._hands)
        row["workers_lost"] = self._events.counts["worker lost"]
        row["episodes_repeated"] = self._events.counts["episode repeated"]
        return row

    async def close(self) -> None:
        for watch in self._watches:
            watch.cancel()
        ending = [hand.actor.close.remote() for hand in self._hands if hand.ready]
        if ending:
            await asyncio.to_thread(ray.wait, ending, num_returns=len(ending), timeout=CLOSE_S)
        for hand in self._hands:
            ray.kill(hand.actor)
        self._hands.clear()

    # --- who is there ---

    async def _free_hand(self) -> _Hand:
        """The least busy worker, once one has room."""
        deadline = time.monotonic() + self._options.patience_s
        while True:
            ready = [hand for hand in self._hands if hand.ready]
            free = [hand for hand in ready if hand.busy < self._options.episodes_each]
            if free:
                return min(free, key=lambda hand: hand.busy)
            if len(self._stillborn) >= MOST_LOST_AT_START:
                raise UserError(f"no browser worker comes up: {self._stillborn[-1]}")
            if not ready and time.monotonic() > deadline:
                raise InfraError(f"no browser worker was there for {self._options.patience_s:.0f} s; see `ray status`")
            self._changed.clear()
            try:
                async with asyncio.timeout(TEND_S):
                    await self._changed.wait()
            except TimeoutError:
                if ready:
                    deadline = time.monotonic() + self._options.patience_s

    async def _tend(self) -> None:
        while True:
            missing = await asyncio.to_thread(self._target) - len(self._hands)
            for _ in range(missing):
                self._hire()
            self._present.set(sum(hand.ready for hand in self._hands))
            await asyncio.sleep(TEND_S)

    def _target(self) -> int:
        if self._options.workers:
            return self._options.workers
        room = ray.available_resources().get("CPU", 0.0) // self._options.worker_cpus
        pending = sum(not hand.ready for hand in self._hands)
        return len(self._hands) + max(0, int(room) - pending)

    def _hire(self) -> None:
        self._made += 1
        actor = ray.remote(Worker).options(
            num_cpus=self._options.worker_cpus, max_concurrency=self._options.episodes_each + 2
        )
        hand = _Hand(f"w{self._made}", actor.remote(self._open_parts, self._policy))
        self._hands.append(hand)
        self._watch(self._welcome(hand))

    async def _welcome(self, hand: _Hand) -> None:
        try:
            host, process = await hand.actor.where.remote()
        except RayError as error:
            self._stillborn.append(str(error).strip().splitlines()[-1])  # the first lines say where, the last why
            self._dismiss(hand)
        else:
            hand.where, hand.ready, hand.since = f"{host}, process {process}", True, time.monotonic()
            self._stillborn.clear()
        self._changed.set()

    def _lost(self, hand: _Hand, episode: str, task: Task, seed: int, started: float, why: str) -> Trajectory:
        if hand in self._hands:  # the first of its episodes to notice
            self._events.note("worker lost", f"{hand.name} on {hand.where} {why}", "another takes its place")
            self._dismiss(hand)
        self._events.note("episode repeated", episode, "within rollout.retries")
        return Trajectory(
            episode=episode,
            task=task,
            seed=seed,
            turns=(),
            end=End.CRASHED,
            evidence=None,
            verdict=UNJUDGED,
            reward=None,
            error=f"InfraError: the browser worker {hand.name} was lost: {why}",
            seconds=time.monotonic() - started,
            policy=self._policy,
            prompt_format=self._prompt_format,
        )

    def _dismiss(self, hand: _Hand) -> None:
        self._hands.remove(hand)
        ray.kill(hand.actor)

    def _watch(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._watches.add(task)
        task.add_done_callback(self._watches.discard)


def _reason(error: RayError) -> str:
    lines: Sequence[str] = str(error).strip().splitlines()
    return f"({type(error).__name__}: {lines[0][:MOST_TOLD] if lines else ''})"

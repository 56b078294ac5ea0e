"""A browser worker: owns a Chromium and the sites, plays the episodes it is told to, asks an engine elsewhere."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from clickgrad.errors import PolicyError, TokenLimit, boundary
from clickgrad.policy.protocol import Policy
from clickgrad.rollout.episode import Agent, run_episode
from clickgrad.rollout.venue import Venue
from clickgrad.types import USUAL, Completion, Opening, Prompt, Sampling, Task, Trajectory


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """All that a process needs to play episodes: a venue, and an agent for whichever policy answers."""

    venue: Venue
    agent_for: Callable[[Policy | None], Agent]  # by an engine elsewhere; None: the worker has a policy of its own


OpenParts = Callable[[], AbstractAsyncContextManager[WorkerParts]]


class RemoteEngine:
    """The policy of an engine in another process of the cluster."""

    version = 0  # every completion carries its own

    def __init__(self, name: str, engine: Any) -> None:
        self.name = name
        self._engine = engine

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        with boundary(PolicyError, "asking the engine"):
            reply: Completion | str = await self._engine.complete.remote(prompt, sampling)
        if isinstance(reply, str):
            raise TokenLimit(reply)
        return reply

    def forget(self, episode: str) -> None:
        self._engine.forget.remote(episode)

    def close(self) -> None:
        """It is not ours."""


class Worker:
    """Made a Ray actor by the fleet. Episodes run on an event loop in a thread of its own, as many as are asked for.

    None of its methods may be a coroutine: Ray would run all of them on one thread, one episode after the other.
    """

    def __init__(self, open_parts: OpenParts, policy: str) -> None:
        self._policy = policy
        self.loop: Future[asyncio.AbstractEventLoop] = Future()
        self.parts: WorkerParts | None = None
        self.closing = asyncio.Event()
        self._thread = threading.Thread(target=self._serve, args=(open_parts,), name="episodes", daemon=True)
        self._thread.start()
        self.loop.result()  # raises what kept the parts from opening

    def where(self) -> tuple[str, int]:
        """Host and process id."""
        return socket.gethostname(), os.getpid()

    def play(self, episode: str, task: Task, seed: int, engine: Any, opening: Opening = USUAL) -> Trajectory:
        assert self.parts is not None
        policy: Policy | None = RemoteEngine(self._policy, engine) if engine is not None else None
        work = run_episode(episode, task, seed, self.parts.agent_for(policy), self.parts.venue, opening)
        return asyncio.run_coroutine_threadsafe(work, self.loop.result()).result()

    def close(self) -> None:
        """Browser and sites end before the process does."""
        loop = self.loop.result()
        loop.call_soon_threadsafe(self.closing.set)
        self._thread.join()

    def _serve(self, open_parts: OpenParts) -> None:
        try:
            asyncio.run(_until_closed(self, open_parts))
        except BaseException as error:
            if self.loop.done():
                raise
            self.loop.set_exception(error)


async def _until_closed(worker: Worker, open_parts: OpenParts) -> None:
    """No method, see there."""
    async with open_parts() as worker.parts:
        worker.loop.set_result(asyncio.get_running_loop())
        await worker.closing.wait()

"""What tests send to the workers and engines of a cluster: no browser, no model, and trouble on demand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tiny import FakeVenue

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.backends.ray.engine import HostedEngine
from clickgrad.backends.ray.worker import WorkerParts
from clickgrad.browser import FakePage
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.venue import Visit
from clickgrad.types import Task

SITE = {"http://toy/": FakePage("Home", ("Welcome",))}


class HangingVenue(FakeVenue):
    """Whoever opens it first waits for ever; a mark in the folder tells the others."""

    def __init__(self, folder: Path) -> None:
        super().__init__(SITE)
        self._mark = folder / "hung"

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        if not self._mark.exists():
            self._mark.touch()
            await asyncio.sleep(3600)
        async with super().open(task) as visit:
            yield visit


@asynccontextmanager
async def hanging_parts(folder: Path) -> AsyncIterator[WorkerParts]:
    agent = Agent(FixedPolicy("fixed", ['exit(message="yes")']), PromptBuilder(None, "plain"), Limits(3, 32))
    yield WorkerParts(HangingVenue(folder), lambda _: agent)


@contextmanager
def noting_engine(folder: Path) -> Iterator[HostedEngine]:
    """Writes down every weight it takes, and with which version."""

    def take(weights: Any, version: int) -> None:
        with (folder / "taken").open("a") as file:
            file.write(f"{weights} {version}\n")

    yield HostedEngine(FixedPolicy("fixed", ["yes"]), take)

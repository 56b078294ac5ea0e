"""All pages of MiniWoB++ once, in the project's own environment: which start, can be seen and acted on?

    .venv/bin/python tests/compare/miniwob_pages.py

Prints what is wrong with each page that fails, and how many do not.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from miniwob_look import fault_of
from rollouts import opened

from clickgrad.backends.venues import open_venue
from clickgrad.config import load_config
from clickgrad.rollout.venue import Venue
from clickgrad.tasks import load_tasks
from clickgrad.types import Task

AT_ONCE = 4


async def faults(venue: Venue, tasks: list[Task]) -> list[str]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(task: Task) -> str:
        async with gate:
            return await fault_of(venue, task)

    return list(await asyncio.gather(*map(one, tasks)))


def main() -> None:
    tasks = list({task.template: task for task in load_tasks("miniwob", "test")}.values())
    config = load_config(None, ["tasks.suite=miniwob"], "prove")
    with asyncio.Runner() as runner, opened(runner, open_venue(config)) as venue:
        found = runner.run(faults(venue, tasks))
    for task, fault in zip(tasks, found, strict=True):
        if fault:
            print(f"{task.template:<24} {fault}")
    print(f"{found.count('')} of {len(tasks)} pages start, can be seen and acted on")


if __name__ == "__main__":
    main()

"""The suite `miniwob`: every page of MiniWoB++ with some seeds, and scripts for those pages that can be read.

A page says what it asks for only once it has started: until then the intent is a fixed sentence. The pages run in
their default mode, as other environments run them; their own mode `test` is not used.
"""

from __future__ import annotations

from functools import cache

from clickgrad.tasks.miniwob.scripts import SCRIPTS
from clickgrad.types import RewardCheck, Split, Task
from clickgrad.worlds.miniwob import page_names, page_url

__all__ = ["SCRIPTS", "miniwob_tasks"]

# How many seeds of a page each split has, the first ones first. Demonstrations need a script.
SEEDS: dict[Split, int] = {"test": 5, "train": 20, "demo": 20}


@cache
def miniwob_tasks(seed: int) -> tuple[Task, ...]:
    """`seed` moves on to seeds of the pages that no other `seed` uses."""
    tasks: list[Task] = []
    for page in page_names():
        first = seed * sum(SEEDS.values())
        for split, count in SEEDS.items():
            if split != "demo" or page in SCRIPTS:
                tasks.extend(_task(page, number, split) for number in range(first, first + count))
            first += count
    return tuple(tasks)


def _task(page: str, seed: int, split: Split) -> Task:
    return Task(
        id=f"miniwob.{page}.{seed:04d}",
        suite="miniwob",
        split=split,
        sites=("miniwob",),
        template=page,
        intent=f"Do what the page {page} asks for.",
        start_url=page_url(page, seed),
        checks=(RewardCheck(),),
    )

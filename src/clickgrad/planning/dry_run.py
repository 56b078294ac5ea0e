"""`--dry-run`: the options a command would run with, as TOML, under remarks on its tasks and what it will take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

import tomli_w

from clickgrad.backends.engines import refuse_useless
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.codec import to_plain
from clickgrad.config import READ_BY, Config, PlacementSection
from clickgrad.errors import UserError
from clickgrad.planning.estimate import estimate
from clickgrad.planning.placement import placement_lines
from clickgrad.tasks.suites import WebArena, parse_suite
from clickgrad.tools.doctor import PEAK_GB
from clickgrad.types import Task


def resolved(config: Config, command: str, policy: str | None = None) -> str:
    """`policy` is whom an evaluation is of; None is the model of the options."""
    remarks = "".join(f"# {line}\n" for line in (f"clickgrad {command}", *_remarks(config, command, policy)))
    return remarks + tomli_w.dumps(
        {name: value for name, value in config.model_dump().items() if name in READ_BY[command]}
    )


def _remarks(config: Config, command: str, policy: str | None) -> Iterator[str]:
    if "tasks" not in READ_BY[command]:
        return
    tasks: Sequence[Task] = ()
    try:
        tasks = chosen_tasks(config, "all")
    except UserError as error:
        if not isinstance(parse_suite(config.tasks.suite), WebArena):
            raise
        yield f"without its tasks: {error}"  # they come with sites that another machine may host
    for split in ("demo", "train", "test") if tasks else ():
        own = [task for task in tasks if task.split == split]
        yield f"{split} tasks to choose from: {len(own)}, sha256 {fingerprint(own)}"
    if "reinforce" in READ_BY[command]:
        refuse_useless(config.model_copy(update={"placement": PlacementSection()}))
    if command in ("train", "clone", "reinforce", "evaluate") and policy is None:
        try:
            yield from estimate(config, command, tasks).lines()
            if command == "train":
                yield f"measured: the default run, `train`, peaks at {PEAK_GB} GB of memory (short runs, bfloat16)"
        except UserError as error:
            yield f"no estimate: {error}"
    if config.reinforce.engine == "vllm" and "placement" in READ_BY[command] and not config.reinforce.servers:
        yield from placement_lines(config)


def fingerprint(tasks: Sequence[Task]) -> str:
    """The same for the same tasks in the same order, checks included."""
    return hashlib.sha256(json.dumps([to_plain(task) for task in tasks]).encode()).hexdigest()[:16]

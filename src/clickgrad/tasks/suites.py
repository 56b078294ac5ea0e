"""Where tasks come from: the bundled suites by name, a JSON file, or the folder of a site of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from clickgrad.codec import CodecError, from_plain
from clickgrad.errors import UserError
from clickgrad.tasks.json_list import read_json_list
from clickgrad.tasks.miniwob import miniwob_tasks
from clickgrad.tasks.pocket import pocket_tasks, unseen_tasks
from clickgrad.types import Split, Task


def load_tasks(suite: str, split: Split | Literal["all"], seed: int = 0) -> tuple[Task, ...]:
    """The tasks of a split, in a stable order. `seed` is the universe's: tasks speak of what that universe holds."""
    if suite in _BUNDLED:
        tasks = _BUNDLED[suite](seed)
    elif is_webarena(suite):
        from clickgrad.tasks.webarena.files import webarena_tasks

        tasks = webarena_tasks(suite)
    elif is_own_site(suite):
        from clickgrad.tasks.own import own_tasks

        tasks = own_tasks(suite)
    elif suite.endswith(".json") or Path(suite).is_file():
        tasks = _read_file(Path(suite))
    else:
        known = ", ".join((*_BUNDLED, *_WEBARENA))
        raise UserError(
            f"unknown suite {suite!r}: use one of {known}, the path of a .json file of tasks, "
            "or a folder of your own with a site.toml"
        )
    return tasks if split == "all" else tuple(task for task in tasks if task.split == split)


_BUNDLED: dict[str, Callable[[int], tuple[Task, ...]]] = {
    "pocket": pocket_tasks,
    "pocket-unseen": unseen_tasks,
    "miniwob": miniwob_tasks,
}


_WEBARENA = ("webarena", "webarena-lite")


def is_webarena(suite: str) -> bool:
    """Whether it is played on the sites of WebArena that the user hosts: see docs/webarena.md."""
    return suite.partition(":")[0] in _WEBARENA


def is_own_site(suite: str) -> bool:
    """Whether it is a folder of the user's: see docs/your-own-site.md."""
    return suite not in _BUNDLED and Path(suite, "site.toml").is_file()


def _read_file(path: Path) -> tuple[Task, ...]:
    tasks = tuple(_read_entry(path, index, entry) for index, entry in enumerate(read_json_list(path)))
    seen: set[str] = set()
    for index, task in enumerate(tasks):
        if task.id in seen:
            raise UserError(f"{path}, entry {index}: the id {task.id!r} occurs twice: give each task its own")
        seen.add(task.id)
    return tasks


def _read_entry(path: Path, index: int, entry: object) -> Task:
    try:
        return from_plain(Task, entry)
    except CodecError as error:
        raise UserError(f"{path}, entry {index}: {error}: mend this field") from error

"""Where tasks come from: the bundled suites by name, a JSON file, or the folder of a site of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from clickgrad.codec import CodecError, from_plain
from clickgrad.errors import UserError, did_you_mean
from clickgrad.tasks.json_list import read_json_list
from clickgrad.tasks.miniwob import miniwob_tasks
from clickgrad.tasks.pocket import pocket_tasks, unseen_tasks
from clickgrad.types import Split, Task


@dataclass(frozen=True, slots=True)
class Pocket:
    """The bundled sites; `unseen` are templates that no training split has."""

    unseen: bool = False


@dataclass(frozen=True, slots=True)
class Miniwob:
    """MiniWoB++'s pages."""


@dataclass(frozen=True, slots=True)
class WebArena:
    """Played on the sites of WebArena that the user hosts: see docs/webarena.md."""

    text: str


@dataclass(frozen=True, slots=True)
class OwnSite:
    """A folder of the user's: see docs/your-own-site.md."""

    folder: Path


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A JSON file of tasks on the bundled sites."""

    path: Path


Suite = Pocket | Miniwob | WebArena | OwnSite | TaskFile
_BUNDLED: dict[str, Suite] = {"pocket": Pocket(), "pocket-unseen": Pocket(unseen=True), "miniwob": Miniwob()}
_WEBARENA = ("webarena", "webarena-lite")


def parse_suite(text: str) -> Suite:
    if text in _BUNDLED:
        return _BUNDLED[text]
    if text.partition(":")[0] in _WEBARENA:
        return WebArena(text)
    if is_own_site(text):
        return OwnSite(Path(text))
    if text.endswith(".json") or Path(text).is_file():
        return TaskFile(Path(text))
    known = ", ".join((*_BUNDLED, *_WEBARENA))
    near = did_you_mean(text, (*_BUNDLED, *_WEBARENA))
    raise UserError(
        f"unknown suite {text!r}{near}: use one of {known}, the path of a .json file of tasks, "
        "or a folder of your own with a site.toml"
    )


def is_own_site(text: str) -> bool:
    return text not in _BUNDLED and Path(text, "site.toml").is_file()


def load_tasks(suite: str, split: Split | Literal["all"], seed: int = 0) -> tuple[Task, ...]:
    """The tasks of a split, in a stable order. `seed` is the universe's: tasks speak of what that universe holds."""
    tasks = _load(parse_suite(suite), seed)
    return tasks if split == "all" else tuple(task for task in tasks if task.split == split)


def _load(suite: Suite, seed: int) -> tuple[Task, ...]:
    match suite:
        case Pocket(unseen):
            return unseen_tasks(seed) if unseen else pocket_tasks(seed)
        case Miniwob():
            return miniwob_tasks(seed)
        case WebArena(text):
            from clickgrad.tasks.webarena.files import webarena_tasks

            return webarena_tasks(text)
        case OwnSite(folder):
            from clickgrad.tasks.own import own_tasks

            return own_tasks(str(folder))
        case TaskFile(path):
            return _read_file(path)


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

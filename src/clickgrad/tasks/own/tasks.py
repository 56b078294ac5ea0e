"""Tasks of the user's own: tasks.json, or tasks.py with a function `tasks()` that returns the same entries.

{"id": "add.1", "split": "train", "intent": "Add Milk to the list Home.", "start": "/",
 "params": {"item": "Milk"}, "checks": {"python": "added"}}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from clickgrad.errors import UserError
from clickgrad.tasks.json_list import read_json_list
from clickgrad.tasks.own.site import OwnSite, read_site, validation_fault
from clickgrad.tasks.own.user_code import functions, user_code
from clickgrad.types import AnswerCheck, Check, CustomCheck, PageCheck, Scalar, Split, Task, UrlCheck

JSON, PYTHON, CHECKS = "tasks.json", "tasks.py", "checks.py"
Texts = str | list[str]


class Checks(BaseModel):
    """All that are given must pass."""

    model_config = ConfigDict(extra="forbid", strict=True)

    answer: Texts = []  # the answer is one of these
    answer_includes: Texts = []  # it holds all of these
    url: str = ""  # path, and query and #fragment if they matter, of the page the agent ended on
    page: Texts = []  # that page shows all of these
    python: Texts = []  # names of functions in checks.py


class Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(min_length=1)
    split: Split
    intent: str = Field(min_length=1)
    checks: Checks
    start: str = "/"  # a path on the site
    template: str = ""  # tasks alike share one, and an expert; without it, the id up to its last dot
    params: dict[str, Scalar] = {}  # for checks and experts; the agent sees only the intent
    expert_turns: int | None = Field(None, ge=1)


def own_tasks(suite: str) -> tuple[Task, ...]:
    """Of the folder `suite`. Every check they name is there."""
    folder = Path(suite)
    site = read_site(folder)
    tasks, seen = [], set[str]()
    for where, entry in _entries(folder):
        task = _given(where, entry) if isinstance(entry, Task) else _task(where, entry, site)
        if task.id in seen:
            raise UserError(f"{where}: the id {task.id!r} occurs twice: give each task its own")
        seen.add(task.id)
        _refuse_unknown_checks(where, task, folder / CHECKS)
        tasks.append(replace(task, suite=suite, sites=(site.name,)))
    return tuple(tasks)


def _entries(folder: Path) -> list[tuple[str, Any]]:
    """(where it stands, what stands there) of each."""
    files = [path for path in (folder / JSON, folder / PYTHON) if path.is_file()]
    if len(files) != 1:
        raise UserError(f"{folder} needs either {JSON} or {PYTHON}, and has {'both' if files else 'neither'}")
    entries = read_json_list(files[0]) if files[0].name == JSON else _from_python(files[0])
    return [(f"{files[0]}, entry {number}", entry) for number, entry in enumerate(entries)]


def _from_python(path: Path) -> list[Any]:
    maker = functions(path).get("tasks")
    if maker is None:
        raise UserError(f"{path} defines no function `tasks`: let it return a list of tasks")
    with user_code(path):
        entries = maker()
        made = list(entries) if isinstance(entries, Iterable) and not isinstance(entries, str | dict) else None
    if made is None:
        raise UserError(f"{path}: tasks() returned a {type(entries).__name__}: return a list of tasks")
    return made


def _given(where: str, task: Task) -> Task:
    if task.user is not None:
        raise UserError(f"{where}: `user` means nothing on a site of your own: let the start page log in")
    return task


def _task(where: str, entry: Any, site: OwnSite) -> Task:
    try:
        read = Entry.model_validate(entry)
    except ValidationError as error:
        raise UserError(f"{where}: {validation_fault(error, Entry)}") from None
    checks = tuple(_checks(read.checks, site))
    if not checks:
        raise UserError(f"{where}: checks is empty: give at least one of {', '.join(Checks.model_fields)}")
    return Task(
        id=read.id,
        suite="",
        split=read.split,
        sites=(site.name,),
        template=read.template or read.id.rpartition(".")[0] or read.id,
        intent=read.intent,
        start_url=read.start if "://" in read.start else f"{site.base}/{read.start.removeprefix('/')}",
        checks=checks,
        expert_turns=read.expert_turns,
        params=tuple(read.params.items()),
    )


def _checks(read: Checks, site: OwnSite) -> Iterable[Check]:
    if read.answer:
        yield AnswerCheck(_texts(read.answer))
    if read.answer_includes:
        yield AnswerCheck(_texts(read.answer_includes), "includes")
    if read.url:
        parts = urlsplit(read.url)
        base = urlsplit(site.base)
        path = base.path + (parts.path or "/")
        name = site.name if site.start else base.hostname or ""
        yield UrlCheck(name, path, tuple(parse_qsl(parts.query, keep_blank_values=True)), parts.fragment)
    if read.page:
        yield PageCheck(_texts(read.page))
    yield from map(CustomCheck, _texts(read.python))


def _texts(one_or_more: Texts) -> tuple[str, ...]:
    return (one_or_more,) if isinstance(one_or_more, str) else tuple(one_or_more)


def _refuse_unknown_checks(where: str, task: Task, path: Path) -> None:
    for check in task.checks:
        if isinstance(check, CustomCheck) and check.name not in functions(path):
            known = ", ".join(functions(path)) or "none"
            raise UserError(f"{where}: there is no check {check.name!r} in {path}; there are: {known}")

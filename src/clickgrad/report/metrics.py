"""metrics.jsonl: one JSON object a step, appended as steps end. times.jsonl: what took how long, appended likewise.

Every line ends with a checksum of what is before it. Older lines have none, and are read as they are.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from clickgrad.errors import UserError
from clickgrad.integrity import keep_copy, write_whole, writing
from clickgrad.report.rows import StepRow, finite, read_step
from clickgrad.run_layout import TIMES

T = TypeVar("T")
CHECKSUM = "crc32"


class Mirror(Protocol):
    """Someone else who is told every row."""

    def write(self, figures: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class Metrics:
    def __init__(self, path: Path, mirrors: Sequence[Mirror] = ()) -> None:
        self._path = path
        self._mirrors = mirrors

    def read(self) -> list[dict[str, Any]]:
        """The lines that are whole: a kill can tear the last one, and damage any."""
        return self._look()[0]

    def append(self, figures: Mapping[str, Any]) -> None:
        row = _line({name: _short(value) for name, value in figures.items()})
        with writing(self._path), open(self._path, "ab+") as file:
            if file.tell() and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n":
                row = "\n" + row  # the last line was torn by a kill or a full disk: this one is not to be lost with it
            file.write(row.encode())
        for mirror in self._mirrors:
            mirror.write(figures)

    def close(self) -> None:
        for mirror in self._mirrors:
            mirror.close()

    def rewind(self, step: int, tell: Callable[[str], None] = lambda line: None) -> None:
        """Forget what was written after `step`: those steps are about to be taken again.

        Damage is named, and kept in a file beside. Figures are for people: the run goes on without those that are lost.
        """
        rows, damaged = self._look()
        steps = [row for row in rows if finite(row.get("step")) is not None]
        damaged += len(rows) - len(steps)
        kept = [row for row in steps if row["step"] <= step]
        with writing(self._path):
            aside = f"; kept as {keep_copy(self._path).name}" if damaged else ""
        write_whole(self._path, "".join(map(_line, kept)))
        lost = step - len({row["step"] for row in kept})
        if damaged or lost > 0:
            tell(f"{self._path} is damaged: the figures of {max(lost, 0)} steps are lost{aside}")

    def _look(self) -> tuple[list[dict[str, Any]], int]:
        """The rows, and how many lines are none and never were the beginning of one."""
        try:
            lines = self._path.read_text("utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            return [], 0
        except OSError as error:
            raise UserError(f"cannot read {self._path}: {error.strerror}") from error
        found = [_read_object(line) for line in lines[:-1]]
        torn_by_a_kill = not lines[-1] or (lines[-1].startswith("{") and "\N{REPLACEMENT CHARACTER}" not in lines[-1])
        return [row for row in found if row is not None], found.count(None) + (not torn_by_a_kill)


def leads_out(path: Path) -> bool:
    """A link to somewhere outside of its folder, or no file at all: a pipe would be waited for forever."""
    try:
        return not path.is_file() or not path.resolve().is_relative_to(path.parent.resolve())
    except (OSError, RuntimeError):  # links in a circle
        return True


def read_steps(path: Path) -> tuple[list[StepRow], list[str]]:
    """Of metrics.jsonl, as `read_rows`."""
    found: tuple[list[StepRow], list[str]] = read_rows(path, read_step)
    return found


def read_rows(path: Path, read: Callable[[Mapping[str, Any]], T | None]) -> tuple[list[T], list[str]]:
    """The rows that can be read, for people who look on, and what was skipped. `read` is None for what is no row."""
    rows: list[T] = []
    skipped: list[str] = []
    if os.path.lexists(path) and leads_out(path):
        return [], [f"{path.name} is no file of the run"]
    try:
        text = path.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{path.name}: {error.strerror}"]
    for number, line in enumerate(text.split("\n")[:-1], 1):
        found = _read_object(line)
        row = None if found is None else read(found)
        if row is None:
            skipped.append(f"{path.name}: line {number} is no row of figures")
        else:
            rows.append(row)
    return rows, skipped


def _line(row: Mapping[str, Any]) -> str:
    """`{"step": 1, "crc32": "2b3a1f0c"}`: the checksum of the object as it is without it."""
    text = json.dumps(row)
    return f'{text[:-1]}, "{CHECKSUM}": "{_checksum(text)}"}}\n'


def _read_object(line: str) -> dict[str, Any] | None:
    """None for what is no object, or is not what was written."""
    text, has_checksum, rest = line.rpartition(f', "{CHECKSUM}": ')
    if has_checksum and rest != f'"{_checksum(text + "}")}"}}':
        return None
    try:
        row = json.loads(text + "}" if has_checksum else line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


@contextmanager
def timed(run: Path, part: str) -> Iterator[None]:
    """Add the seconds of the block to the run's times, also when it is interrupted."""
    began = time.monotonic()
    try:
        yield
    finally:
        Metrics(run / TIMES).append({"part": part, "seconds": time.monotonic() - began})


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value

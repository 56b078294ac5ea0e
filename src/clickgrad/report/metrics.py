"""metrics.jsonl: one JSON object a step, appended as steps end. times.jsonl: what took how long, appended likewise."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

TIMES = "times.jsonl"


class Mirror(Protocol):
    """Someone else who is told every row."""

    def write(self, figures: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class Metrics:
    def __init__(self, path: Path, mirrors: Sequence[Mirror] = ()) -> None:
        self._path = path
        self._mirrors = mirrors

    def read(self) -> list[dict[str, Any]]:
        """Whole lines only: a kill can tear the last one."""
        if not self._path.exists():
            return []
        lines = self._path.read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def mend(self) -> str:
        """Set a damaged file aside and go on with its whole rows; says what was done, "" when nothing was to be."""
        rows, skipped = read_rows(self._path)
        if not skipped and _is_text(self._path):
            return ""
        aside = self._path.with_name(f"{self._path.name}.damaged")
        self._path.replace(aside)
        self._write(rows)
        return f"{self._path} is damaged: set aside as {aside.name}, {len(rows)} whole rows are kept"

    def append(self, figures: Mapping[str, Any]) -> None:
        with open(self._path, "a") as file:
            file.write(json.dumps({name: _short(value) for name, value in figures.items()}) + "\n")
        for mirror in self._mirrors:
            mirror.write(figures)

    def close(self) -> None:
        for mirror in self._mirrors:
            mirror.close()

    def rewind(self, step: int) -> None:
        """Forget what was written after `step`: those steps are about to be taken again."""
        self._write([line for line in self.read() if line["step"] <= step])

    def _write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        partial = self._path.with_suffix(".partial")
        partial.write_text("".join(json.dumps(row) + "\n" for row in rows))
        partial.replace(self._path)


def read_rows(path: Path, key: str = "step") -> tuple[list[dict[str, Any]], list[str]]:
    """The rows that can be read, for people who look on, and what was skipped. A figure that is no number is None."""
    rows: list[dict[str, Any]] = []
    skipped: list[str] = []
    try:
        text = path.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{path.name}: {error.strerror}"]
    for number, line in enumerate(text.split("\n")[:-1], 1):
        row = _read_row(line, key)
        if row is None:
            skipped.append(f"{path.name}: line {number} is no row of figures")
        else:
            rows.append(row)
    return rows, skipped


def _is_text(path: Path) -> bool:
    try:
        path.read_text("utf-8")
    except FileNotFoundError:
        return True
    except UnicodeDecodeError:
        return False
    return True


def _read_row(line: str, key: str) -> dict[str, Any] | None:
    """A row is told apart by its key: a step, which must be a number, or the name of a part."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or key not in row or (key == "step" and _finite(row[key]) is None):
        return None
    return {name: value if name == key else _finite(value) for name, value in row.items()}


def _finite(value: Any) -> float | int | None:
    """The figure itself; None for what is none. A number too large for a float is none either."""
    return value if isinstance(value, int | float) and -1e300 < value < 1e300 else None


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

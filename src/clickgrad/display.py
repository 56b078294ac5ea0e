"""What a person sees while a recipe runs: a bar in a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich is loaded only where there is a bar to draw
    from rich.progress import Progress

LINE_EVERY_S = 10.0
MEANINGFUL_S = 20.0  # of reckoned time passed, before the pace says something


@dataclass(slots=True)
class Journey:
    """The stages of a command with the seconds they were reckoned to take, so that each can tell how much is left."""

    parts: tuple[tuple[str, float], ...]
    began: float = field(default_factory=time.monotonic)
    passed_s: float = 0.0  # as reckoned, of what was done in this sitting
    at: str = ""

    def enter(self, name: str) -> str:
        """The line that opens a stage; "" for one that is not of the journey."""
        names = [part for part, _ in self.parts]
        if name not in names:
            return ""
        if self.at in names and names.index(self.at) < names.index(name):
            self.passed_s += dict(self.parts)[self.at]
        self.at = name
        return f"part {names.index(name) + 1} of {len(names)}: {name}, {self.left(0.0)}"

    def left(self, done: float) -> str:
        """With a share of this stage done. What was slower than reckoned so far will be so for the rest."""
        here = dict(self.parts)[self.at]
        after = sum(seconds for _, seconds in self.parts[[name for name, _ in self.parts].index(self.at) + 1 :])
        reckoned = self.passed_s + done * here
        pace = (time.monotonic() - self.began) / reckoned if reckoned > MEANINGFUL_S else 1.0
        return f"about {max(1, round(pace * (after + (1 - done) * here) / 60))} min left for the whole"


_journey: ContextVar[Journey | None] = ContextVar("journey", default=None)


@contextmanager
def journey(parts: Sequence[tuple[str, float]]) -> Iterator[None]:
    """Stages inside of the block tell how much is left of all of them."""
    token = _journey.set(Journey(tuple(parts)))
    try:
        yield
    finally:
        _journey.reset(token)


class Ticker:
    """How far a count has come, and when it will be done."""

    def __init__(self, name: str, total: int, done: int) -> None:
        self._name = name
        self._total = total
        self._before = self._done = done
        self._started = time.monotonic()
        self._spoke = 0.0

    def advance(self, note: str = "") -> None:
        self._done += 1
        self.show(note)

    def show(self, note: str) -> None:
        now = time.monotonic()
        if now - self._spoke >= LINE_EVERY_S or self._done == self._total:
            self._spoke = now
            made = self._done - self._before
            left = (now - self._started) / made * (self._total - self._done) if made else None
            wait = f", about {left:.0f} s left" if left is not None and self._done < self._total else ""
            whole = _journey.get()
            if wait and whole and whole.at == self._name:
                wait += f" ({whole.left(self._done / self._total)})"
            print(f"{self._name}: {self._done}/{self._total}{wait}  {note}".rstrip(), flush=True)


class _SilentTicker(Ticker):
    def show(self, note: str) -> None:
        """For output that a program reads."""


class _BarTicker(Ticker):
    def __init__(self, progress: Progress, name: str, total: int, done: int) -> None:
        self._progress = progress
        self._bar = progress.add_task(name, total=total, completed=done, note="")

    def advance(self, note: str = "") -> None:
        self._progress.advance(self._bar)
        self.show(note)

    def show(self, note: str) -> None:
        self._progress.update(self._bar, note=note)


@contextmanager
def progress_bar(name: str, total: int, done: int = 0, quiet: bool = False) -> Iterator[Ticker]:
    """`done` of `total` were there before we began, and say nothing about how fast we are."""
    if quiet:
        yield _SilentTicker(name, total, done)
        return
    whole = _journey.get()
    if whole and (opening := whole.enter(name)):
        say(opening)
    if not sys.stdout.isatty():
        yield Ticker(name, total, done)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(), refresh_per_second=4) as progress:
        yield _BarTicker(progress, name, total, done)


def say(text: str) -> None:
    print(text, flush=True)

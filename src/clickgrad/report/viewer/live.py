"""Running episodes, as the processes that play them tell of them: which there are, what they have come to."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from clickgrad.agent.prompt import PLACEHOLDER
from clickgrad.report.index import read_json
from clickgrad.report.metrics import leads_out
from clickgrad.report.runs import RunFolder
from clickgrad.report.viewer.errors import NotHere
from clickgrad.report.viewer.plainly import tell_plainly
from clickgrad.report.viewer.player import show_turn
from clickgrad.run_layout import LIVE, WANTED

NAME = re.compile("[0-9a-f]{16}")
LOOK_EVERY_S = 0.08
TOUCH_EVERY_S = 2.0
FRESH_S = 900.0  # what has not changed for so long was left by a process that is gone


class Studio(Protocol):
    """A process that plays on demand, with this viewer as its stage: `clickgrad watch`, `demo` and `record`."""

    def plain(self) -> dict[str, Any]:
        """What is on: `ids` of the episodes to show, in order, and what can be asked for."""

    async def ask(self, wish: dict[str, Any]) -> dict[str, Any]:
        """What a person in front of the page wants. `{"told": ...}` says what came of it."""

    def joined(self) -> None:
        """A page has begun to watch."""

    def left(self) -> None:
        """A page has gone."""


class LivePlaces:
    """`runs` is asked anew each time; an episode's id is `<run>@<name>`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._runs: Sequence[RunFolder] = ()

    def look_at(self, runs: Sequence[RunFolder]) -> None:
        self._runs = runs

    def _folders(self) -> dict[str, Path]:
        """By the names of their runs. Links are not followed."""
        places = {".": self._root} | {run.name: run.path for run in self._runs}
        folders = {name: path / LIVE for name, path in places.items()}
        return {name: path for name, path in folders.items() if path.is_dir() and not path.is_symlink()}

    def touch(self) -> None:
        """Somebody is watching."""
        for folder in self._folders().values():
            with suppress(OSError):
                (folder / WANTED).touch()

    def listed(self) -> list[dict[str, Any]]:
        """The newest first."""
        found = []
        for run, folder in self._folders().items():
            for file in folder.glob("*.json"):
                if not NAME.fullmatch(file.stem):
                    continue
                with suppress(NotHere, OSError):
                    changed = file.stat().st_mtime
                    if time.time() - changed < FRESH_S:
                        found.append(self.state(f"{run}@{file.stem}", brief=True) | {"changed": changed})
        return sorted(found, key=lambda one: (one["phase"] == "ended", -one["changed"]))

    def state(self, name: str, brief: bool = False) -> dict[str, Any]:
        try:
            state = read_json(self._file(name, "json").read_bytes())
            turns, judged = state.pop("turns"), state.pop("judged", None)
            if judged and not brief:
                state["plainly"] = tell_plainly(judged["task"], state.get("evidence"), judged["universe"])
            shown = {} if brief else {"turn_list": _show(turns), "placeholder": PLACEHOLDER}
            return {**state, **shown, "turns": len(turns), "id": name, "run": name.rpartition("@")[0]}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise NotHere(f"no running episode {name!r}") from error

    def picture(self, name: str) -> Path:
        return self._file(name, "jpg")

    def stamps(self, name: str) -> tuple[int, int]:
        """They change when the state, or the reply under way, has."""
        return self._stamp(name, "json"), self._stamp(name, "now.json")

    def now(self, name: str) -> dict[str, Any]:
        with suppress(OSError, ValueError, NotHere):
            told = json.loads(self._file(name, "now.json").read_bytes())
            return {"turn": int(told["turn"]), "reply": str(told["reply"])}
        return {}

    def _stamp(self, name: str, suffix: str) -> int:
        try:
            return self._file(name, suffix).stat().st_mtime_ns
        except (OSError, NotHere):
            return 0

    def _file(self, name: str, suffix: str) -> Path:
        run, _, episode = name.rpartition("@")
        folder = self._folders().get(run)
        if folder is None or not NAME.fullmatch(episode) or leads_out(file := folder / f"{episode}.{suffix}"):
            raise NotHere(f"no running episode {name!r}")
        return file


def _show(turns: Sequence[Any]) -> list[dict[str, Any]]:
    """As the player shows them; the last one with all that can be acted on, for people who act."""
    shown = [show_turn(turn) for turn in turns]
    if turns:
        page = turns[-1]["observation"]
        shown[-1] |= {"elements": page["elements"], "tabs": page.get("tabs", []), "tab": page.get("tab", 0)}
    return shown


async def stream(places: LivePlaces, names: Sequence[str], studio: Studio | None) -> AsyncIterator[str]:
    """Server-sent events: `studio` and `state` when they have changed, `now` while a reply grows.

    Without names, the studio says whom to follow.
    """
    seen: dict[str, tuple[int, int]] = {}
    programme, touched = "", 0.0
    if studio:
        studio.joined()
    try:
        while True:
            if time.monotonic() - touched > TOUCH_EVERY_S:
                touched = time.monotonic()
                places.touch()
                yield ": still here\n\n"
            if studio and not names:
                plain = studio.plain()
                if (text := json.dumps(plain)) != programme:
                    programme = text
                    yield f"event: studio\ndata: {text}\n\n"
            for name in names or (studio.plain()["ids"] if studio else ()):
                before, stamps = seen.get(name, (0, 0)), places.stamps(name)
                seen[name] = stamps
                if stamps[0] != before[0]:
                    with suppress(NotHere):
                        state = await asyncio.to_thread(places.state, name)
                        yield f"event: state\ndata: {json.dumps(state)}\n\n"
                elif stamps[1] != before[1] and (now := places.now(name)):
                    yield f"event: now\ndata: {json.dumps(now | {'id': name})}\n\n"
            await asyncio.sleep(LOOK_EVERY_S)
    finally:
        if studio:
            studio.left()

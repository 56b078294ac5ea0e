"""All runs below one folder, indexed, and the questions the page asks about them. Answers are plain JSON values."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clickgrad.advantages import group_advantages
from clickgrad.report.episodes import final_tries
from clickgrad.report.index import Entry, TrajectoryIndex, format_note
from clickgrad.report.metrics import read_steps
from clickgrad.report.rows import metrics_of, plain
from clickgrad.report.runs import RunFolder, find_runs, is_inside
from clickgrad.report.summary import success_rate
from clickgrad.report.viewer.errors import NotHere
from clickgrad.report.viewer.plainly import universe_of
from clickgrad.report.viewer.player import is_picture, show_trajectory
from clickgrad.run_layout import SCREENSHOTS, TRAJECTORIES

ROWS_AT_ONCE = 200
PERSON = "person"  # as the policy of an episode that was recorded by hand
OTHERS_SHOWN = 60
LOOK_AGAIN_S = 0.5  # for new folders
PICTURES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where an episode is: a file, named relative to the root, and its number in the index of that file."""

    run: str
    file: str
    number: int
    entry: Entry

    def plain(self) -> dict[str, Any]:
        episode = self.entry.episode
        facts = asdict(episode) | {"site": episode.site, "step": episode.step, "group": episode.group}
        return facts | {
            "run": self.run,
            "id": f"{self.file}@{self.number}",
            "note": format_note(self.entry.format),
        }


@dataclass(frozen=True, slots=True)
class Filter:
    """Empty text lets everything pass."""

    site: str = ""
    reward: str = ""  # passed, failed or none
    end: str = ""
    step: str = ""
    task: str = ""  # part of a task's id
    text: str = ""  # all of these words, anywhere

    def fits(self, place: Place) -> bool:
        episode = place.entry.episode
        if (
            self.site not in ("", episode.site)
            or self.end not in ("", episode.end)
            or self.step not in ("", str(episode.step))
            or self.reward not in ("", _outcome(episode.reward))
            or self.task not in episode.task
        ):
            return False
        if not self.text:
            return True
        searched = (episode.name, episode.intent, episode.answer, episode.error, episode.policy, place.entry.text)
        where = " ".join(part for part in searched if part).lower()
        return all(word in where for word in self.text.lower().split())


class Library:
    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._runs: list[RunFolder] = []
        self._indexes: dict[str, TrajectoryIndex] = {}  # by the file's name relative to the root
        self._looked = float("-inf")

    def refresh(self, budget_s: float = 0.4) -> None:
        """Take in what is new, for so long at most; what is left over is told by `pending`."""
        deadline = time.monotonic() + budget_s
        if time.monotonic() - self._looked > LOOK_AGAIN_S:
            self._runs = find_runs(self.root)
            names = {
                path.relative_to(self.root).as_posix(): path for run in self._runs for path in run.trajectory_files
            }
            self._indexes = {name: self._indexes.get(name) or TrajectoryIndex(path) for name, path in names.items()}
            self._looked = time.monotonic()
        for index in self._indexes.values():
            index.refresh(deadline)

    @property
    def folders(self) -> list[RunFolder]:
        return self._runs

    @property
    def pending(self) -> int:
        return sum(index.pending for index in self._indexes.values())

    def run(self, name: str) -> RunFolder:
        """Only folders that were found below the root have a name here."""
        for run in self._runs:
            if run.name == name:
                return run
        raise NotHere(f"no run {name!r}")

    def runs(self) -> list[dict[str, Any]]:
        return [self._show_run(run) for run in self._runs]

    def metrics(self, name: str) -> dict[str, Any]:
        """The rows, and how to draw them: name, title and the end of the axis of every curve."""
        rows, skipped = read_steps(self.run(name).metrics)
        shown = [asdict(metric) for metric in metrics_of(rows)]
        return {"rows": [plain(row) for row in rows], "curves": shown, "skipped": skipped}

    def episodes(self, run: str, wanted: Filter, start: int) -> dict[str, Any]:
        """Those of a run and of the stages below it."""
        scope = list(self._places(run))
        matched = [place for place in scope if wanted.fits(place)]
        episodes = [place.entry.episode for place in scope]
        return {
            "total": len(scope),
            "matched": len(matched),
            "passed": sum(place.entry.episode.reward == 1.0 for place in matched),
            "start": start,
            "rows": [place.plain() for place in matched[start : start + ROWS_AT_ONCE]],
            "pending": self.pending,
            "sites": sorted({episode.site for episode in episodes}),
            "ends": sorted({episode.end for episode in episodes}),
            "steps": sorted({episode.step for episode in episodes if episode.step is not None}),
            "templates": sorted({episode.template for episode in episodes}),
        }

    def episode(self, name: str) -> dict[str, Any]:
        place, record = self._record(name)
        index = self._indexes[place.file]
        try:
            shown = show_trajectory(record, self._screenshots(self.run(place.run)), index.path)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise NotHere(f"{name} cannot be shown: {type(error).__name__}: {error}") from error
        return place.plain() | shown | {"others": self._others(place)} | self._group(place)

    def judged(self, name: str) -> tuple[Any, Any, int | None]:
        """Task, evidence and universe of an episode, as they are stored."""
        place, record = self._record(name)
        options, _ = self.run(place.run).options()
        return record["task"], record.get("evidence"), universe_of(options, record["task"])

    def _record(self, name: str) -> tuple[Place, Mapping[str, Any]]:
        place = self._place(name)
        try:
            return place, self._indexes[place.file].record(place.number)
        except (ValueError, OSError, RecursionError) as error:
            raise NotHere(f"{place.file} has changed under us: {error}") from error

    def locate(self, name: str) -> tuple[Path, str]:
        """The file of an episode, and its name in there."""
        place = self._place(name)
        return self._indexes[place.file].path, place.entry.episode.name

    def screenshot(self, run: str, name: str) -> tuple[Path, str]:
        """The picture and its type. A name with a path in it, or a link that leads out of the run, is not here."""
        folder = self.run(run)
        kind = PICTURES.get(Path(name).suffix.lower())
        if kind is None or Path(name).name != name:
            raise NotHere(f"no screenshot {name!r}")
        for place in self._screenshots(folder):
            if is_picture(place / name) and is_inside(place / name, folder.path):
                return place / name, kind
        raise NotHere(f"no screenshot {name!r}")

    @staticmethod
    def _screenshots(run: RunFolder) -> list[Path]:
        return [run.path / SCREENSHOTS, run.path / TRAJECTORIES / SCREENSHOTS]

    def _places(self, scope: str) -> Iterator[Place]:
        if scope != ".":
            self.run(scope)  # or it is not here
        for file, index in self._indexes.items():
            run = self._run_of(file)
            if _is_below(run, scope):
                yield from (Place(run, file, number, entry) for number, entry in enumerate(index.entries))

    def _place(self, name: str) -> Place:
        file, _, number = name.rpartition("@")
        index = self._indexes.get(file)
        at = whole_number(number)
        if index is None or at is None or at >= len(index.entries):
            raise NotHere(f"no episode {name!r}")
        return Place(self._run_of(file), file, at, index.entries[at])

    def _run_of(self, file: str) -> str:
        folder = Path(file).parent
        return (folder.parent if folder.name == TRAJECTORIES else folder).as_posix()

    def _show_run(self, run: RunFolder) -> dict[str, Any]:
        options, complaint = run.options()
        rows, skipped = read_steps(run.metrics)
        indexes = {file: index for file, index in self._indexes.items() if self._run_of(file) == run.name}
        episodes = [entry.episode for index in indexes.values() for entry in index.entries]
        # What experts and people demonstrated is no policy's success.
        played = [
            entry.episode
            for file, index in indexes.items()
            for entry in index.entries
            if not _is_demos(file) and entry.episode.policy != PERSON
        ]
        rate = success_rate(final_tries(played))
        return {
            "name": run.name,
            "command": str(options.get("command", "")),
            "start": str(options.get("start", "")),
            "steps": len(rows),
            "stamp": _stamp(run.metrics),
            "episodes": len(episodes),
            "demonstrations": len(episodes) - len(played),
            "below": sum(_is_below(self._run_of(file), run.name) * len(i.entries) for file, i in self._indexes.items()),
            "success": {"value": rate.value, "interval": rate.interval, "n": rate.n, "lost": rate.lost},
            "skipped": [*([complaint] if complaint else []), *skipped, *_complaints(indexes)],
            "changed": max((_changed(path) for path in (run.metrics, *run.trajectory_files)), default=0.0),
        }

    def _others(self, place: Place) -> list[dict[str, Any]]:
        """Other episodes of the same task, those of other runs first: the likeliest to be compared with."""
        same = [
            other
            for other in self._places(".")
            if other.entry.episode.task == place.entry.episode.task
            and (other.file, other.number) != (place.file, place.number)
        ]
        same.sort(key=lambda other: other.run == place.run)
        return [other.plain() for other in same[:OTHERS_SHOWN]]

    def _group(self, place: Place) -> dict[str, Any]:
        """The members of the training group with their advantages, one a slot as training took them."""
        group = place.entry.episode.group
        if group is None:
            return {"advantage": None, "members": []}
        entries = self._indexes[place.file].entries
        numbers = {entry.episode.name: n for n, entry in enumerate(entries) if entry.episode.group == group}
        chosen = sorted(final_tries(entries[n].episode for n in numbers.values()), key=lambda member: member.name)
        advantages = group_advantages([member.reward for member in chosen])
        members = [
            {
                "id": f"{place.file}@{numbers[member.name]}",
                "reward": member.reward,
                "advantage": advantage,
                "turns": member.turns,
                **self._given(place.file, numbers, member.name),
            }
            for member, advantage in zip(chosen, advantages, strict=True)
        ]
        mine = f"{place.file}@{place.number}"
        return {
            "advantage": next((member["advantage"] for member in members if member["id"] == mine), None),
            "members": members,
        }

    def _given(self, file: str, numbers: Mapping[str, int], name: str) -> dict[str, Any]:
        """How many turns a member was given, and whose they are: `leaves` is the member that it branches from."""
        try:
            given = self._indexes[file].record(numbers[name]).get("given") or {}
            turns, source = int(given.get("turns", 0)), str(given.get("source", ""))
            trunk = numbers.get(str(given.get("episode"))) if source == "branch" else None
        except (ValueError, TypeError, AttributeError, OSError, RecursionError):  # what is damaged is drawn as its own
            return {"given": 0, "source": "", "leaves": None}
        return {"given": turns, "source": source, "leaves": None if trunk is None else f"{file}@{trunk}"}


def whole_number(text: str) -> int | None:
    """None for what is none, and for one that nothing here is counted by."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


def _is_demos(file: str) -> bool:
    return Path(file).name.startswith("demos.")


def _is_below(run: str, scope: str) -> bool:
    return scope in (".", run) or run.startswith(f"{scope}/")


def _outcome(reward: float | None) -> str:
    return "none" if reward is None else "passed" if reward == 1.0 else "failed"


def _complaints(indexes: Mapping[str, TrajectoryIndex]) -> Iterable[str]:
    for file, index in indexes.items():
        name = Path(file).name
        yield from (f"{name}: {what}" for what in index.skipped)
        notes = {format_note(entry.format) for entry in index.entries} - {""}
        yield from (f"{name}: {note}" for note in sorted(notes))
        if index.torn:
            yield f"{name}: the last {index.torn} bytes are half a record, being written or torn by a kill"


def _stamp(path: Path) -> str:
    """Differs when the file has changed."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size}-{status.st_mtime_ns}"


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0

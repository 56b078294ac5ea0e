"""An index beside a trajectory file: where each frame lies and what it is about, so that no page reads them all.

`evaluate.jsonl.zst` gets `evaluate.index.json`. It is made when first needed, goes on where it stopped when the file
has grown, and is made anew when the file is another. Losing it costs only time.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from stat import S_ISREG
from typing import Any

import zstandard

from clickgrad.codec import CodecError
from clickgrad.report.episodes import Episode, read_episode
from clickgrad.rollout.store import FORMAT, READABLE, Piece, split_frames, unpack, upgraded

VERSION = 2
SUFFIX = ".jsonl.zst"
TEXT_LIMIT = 600
_FIELDS = [field.name for field in fields(Episode)]
_TUPLES = ("sites", "failed")


@dataclass(frozen=True, slots=True)
class Entry:
    offset: int
    size: int  # of the compressed frame
    format: int
    episode: Episode
    text: str  # what a search looks at: actions, answer, reasons


class TrajectoryIndex:
    """Trajectories of any format version are taken in as far as they are understood; the rest is named in `skipped`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self._skipped: list[str] = []
        self._end = 0  # bytes looked at: whole frames, and damage before one
        self._open: Piece | None = None  # damage that was being looked at when the time was up
        self._tail: Piece | None = None  # what the file ends in, if that is no whole frame
        self._size = 0
        self._status: tuple[int, int] | None = None  # size and time of change
        self._seen: tuple[int, int] | None = None  # the same, when nothing was left to look at
        self._saved = -1

    @property
    def index_path(self) -> Path:
        return self.path.with_name(self.path.name.removesuffix(SUFFIX) + ".index.json")

    @property
    def pending(self) -> int:
        """Bytes still to be looked at when a refresh ran out of time."""
        return 0 if self._seen else self._size - self._end

    def refresh(self, deadline: float = float("inf")) -> None:
        """Look at what was added, until `deadline` on the monotonic clock."""
        try:
            status = self.path.stat()
        except OSError as error:
            self._forget()
            self._skipped = [f"cannot be read: {error.strerror}"]
            return
        if not S_ISREG(status.st_mode):  # a pipe would be waited for forever
            self._forget()
            self._skipped = ["cannot be read: it is no file"]
            return
        now = (status.st_size, status.st_mtime_ns)
        if self._seen == now:
            return
        if self._status != now:
            self._open = None
        self._size, self._status = status.st_size, now
        if self._saved < 0:
            self._load()
        if status.st_size < self._end or not self._is_same_file():
            self._forget()
        self._seen = None
        if self._scan(deadline):
            self._seen = now
            self._save()

    def record(self, number: int) -> Mapping[str, Any]:
        """One stored trajectory as plain values. Raises ValueError or OSError when the file is no longer the same."""
        return _trajectory(read_json(self._frame(number)))[1]

    def _frame(self, number: int) -> bytes:
        entry = self.entries[number]
        try:
            return unpack(self._bytes(entry))
        except zstandard.ZstdError as error:
            raise ValueError(f"frame {number} of {self.path.name}: {error}") from error

    def _bytes(self, entry: Entry) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(entry.offset)
            return file.read(entry.size)

    def _scan(self, deadline: float) -> bool:
        """False when the time was up before the end."""
        damage, self._open, self._tail = self._open, None, None
        try:
            with open(self.path, "rb") as file:
                file.seek(damage.end if damage else self._end)
                for piece in split_frames(file):
                    if piece.content is None:
                        damage = damage.through(piece) if damage else piece
                    else:
                        if damage:
                            self._skipped.append(f"bytes {damage.offset} to {damage.end}: {damage.fault}")
                        damage = None
                        self._take(piece.offset, piece.size, piece.content)
                    if time.monotonic() > deadline and piece.end < self._size:
                        self._open = damage
                        return False
        except OSError as error:
            self._skipped.append(f"cannot be read: {error.strerror}")
        self._tail = damage
        return True

    @property
    def torn(self) -> int:
        """Bytes of a frame that is not whole: being written, or torn by a kill."""
        return self._size - self._end if self._seen and self._tail and self._tail.torn else 0

    @property
    def skipped(self) -> list[str]:
        """What is not shown, and why."""
        if self._tail is None or self._tail.torn:
            return self._skipped
        return [*self._skipped, f"everything from byte {self._end} on: {self._tail.fault}"]

    def _take(self, offset: int, size: int, content: bytes) -> None:
        try:
            version, plain = _trajectory(read_json(content))
            self.entries.append(Entry(offset, size, version, read_episode(plain), _searchable(plain)))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            self._skipped.append(f"the record at byte {offset}: {type(error).__name__}: {error}")
        self._end = offset + size

    def _forget(self) -> None:
        self.entries, self._skipped, self._end, self._saved, self._open, self._tail = [], [], 0, 0, None, None

    def _is_same_file(self) -> bool:
        """Whether the last entry still lies where it lay. Files are only ever appended to, or replaced."""
        if not self.entries:
            return True
        with suppress(ValueError, OSError, KeyError, RecursionError):
            return self.record(len(self.entries) - 1).get("episode") == self.entries[-1].episode.name
        return False

    def _load(self) -> None:
        self._saved = 0
        try:
            if self.index_path.is_symlink():
                return
            file = json.loads(self.index_path.read_text("utf-8"))
            stored = file["index"]
            if (file["version"], file["crc"]) != (VERSION, _crc(stored)):
                return
            self.entries = [_read_entry(row) for row in stored["entries"]]
            self._skipped, self._end, self._saved = stored["skipped"], stored["end"], stored["end"]
            if zlib.crc32(self._bytes(self.entries[-1])) != stored["last"]:
                self._forget()
        except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
            self._forget()  # missing or not ours: it is made anew

    def _save(self) -> None:
        if self._end == self._saved or not self.entries:
            return
        partial = self.index_path.with_suffix(".partial")
        with suppress(OSError):  # a folder that may only be read is looked at without an index
            stored = {
                "end": self._end,
                "last": zlib.crc32(self._bytes(self.entries[-1])),
                "skipped": self._skipped,
                "entries": [_plain_entry(entry) for entry in self.entries],
            }
            partial.unlink(missing_ok=True)
            with open(partial, "x", encoding="utf-8") as file:  # nothing is written through a link
                json.dump({"version": VERSION, "crc": _crc(stored), "index": stored}, file, separators=(",", ":"))
            partial.replace(self.index_path)
        self._saved = self._end


def _crc(stored: Any) -> int:
    """Figures are made from the index: one that was damaged must not pass for what was written."""
    return zlib.crc32(json.dumps(stored, separators=(",", ":")).encode())


def read_json(content: bytes) -> Any:
    """Infinities and what else is no number become None: they could not be sent on as JSON."""
    return json.loads(content, parse_constant=lambda _: None, parse_float=_finite)


def _finite(text: str) -> float | None:
    value = float(text)
    return value if isfinite(value) else None


def _trajectory(record: Any) -> tuple[int, dict[str, Any]]:
    if not isinstance(record, dict) or not isinstance(record.get("trajectory"), dict):
        raise CodecError("not a trajectory")
    version = record.get("format")
    return version if isinstance(version, int) else 0, upgraded(record["trajectory"])


def _searchable(plain: Mapping[str, Any]) -> str:
    actions = [" ".join(str(part) for part in turn["action"].values()) for turn in plain["turns"]]
    reasons = [str(result.get("reason", "")) for result in (plain.get("verdict") or {}).get("results", ())]
    return " · ".join([*actions, *reasons])[:TEXT_LIMIT]


def _plain_entry(entry: Entry) -> list[Any]:
    return [entry.offset, entry.size, entry.format, entry.text, *(getattr(entry.episode, name) for name in _FIELDS)]


def _read_entry(row: list[Any]) -> Entry:
    offset, size, version, text, *facts = row
    named: dict[str, Any] = dict(zip(_FIELDS, facts, strict=True))
    episode = Episode(**named | {name: tuple(named[name]) for name in _TUPLES})
    return Entry(offset, size, version, episode, text)


def format_note(version: int) -> str:
    """What to say of a record of another version: "" for those that are read as our own."""
    return "" if version in READABLE else f"format {version}, not {FORMAT}: read as far as it is understood"

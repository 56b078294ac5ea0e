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
from pathlib import Path
from typing import Any

import zstandard

from clickgrad.codec import CodecError
from clickgrad.report.episodes import Episode, read_episode
from clickgrad.rollout.store import FORMAT, READABLE, split_frames, upgraded

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
        self.skipped: list[str] = []
        self._end = 0  # bytes looked at: whole frames
        self._size = 0
        self._seen: tuple[int, int] | None = None  # size and time of change at which nothing was left to look at
        self._saved = -1
        self._broken = False

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
            self.skipped = [f"cannot be read: {error.strerror}"]
            return
        self._size = status.st_size
        if self._seen == (status.st_size, status.st_mtime_ns):
            return
        if self._saved < 0:
            self._load()
        if status.st_size < self._end or not self._is_same_file():
            self._forget()
        self._seen = None
        if self._scan(deadline):
            self._seen = (status.st_size, status.st_mtime_ns)
            self._save()

    def record(self, number: int) -> Mapping[str, Any]:
        """One stored trajectory as plain values. Raises ValueError or OSError when the file is no longer the same."""
        return _trajectory(json.loads(self._frame(number), parse_constant=lambda _: None))[1]

    def _frame(self, number: int) -> bytes:
        entry = self.entries[number]
        try:
            return zstandard.ZstdDecompressor().decompressobj().decompress(self._bytes(entry))
        except zstandard.ZstdError as error:
            raise ValueError(f"frame {number} of {self.path.name}: {error}") from error

    def _bytes(self, entry: Entry) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(entry.offset)
            return file.read(entry.size)

    def _scan(self, deadline: float) -> bool:
        """False when the time was up before the end."""
        if self._broken:
            return True
        try:
            with open(self.path, "rb") as file:
                file.seek(self._end)
                for size, content in split_frames(file):
                    self._take(size, content)
                    if time.monotonic() > deadline and self._end < self._size:
                        return False
        except zstandard.ZstdError as error:
            self._broken = True
            self.skipped.append(f"everything from byte {self._end} on: no zstd frame ({error})")
        except OSError as error:
            self.skipped.append(f"cannot be read: {error.strerror}")
        return True

    @property
    def torn(self) -> int:
        """Bytes of a frame that is not whole: being written, or torn by a kill."""
        return self._size - self._end if self._seen and not self._broken else 0

    def _take(self, size: int, content: bytes) -> None:
        try:
            version, plain = _trajectory(json.loads(content, parse_constant=lambda _: None))
            self.entries.append(Entry(self._end, size, version, read_episode(plain), _searchable(plain)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self.skipped.append(f"the record at byte {self._end}: {type(error).__name__}: {error}")
        self._end += size

    def _forget(self) -> None:
        self.entries, self.skipped, self._end, self._saved, self._broken = [], [], 0, 0, False

    def _is_same_file(self) -> bool:
        """Whether the last entry still lies where it lay. Files are only ever appended to, or replaced."""
        if not self.entries:
            return True
        with suppress(ValueError, OSError, KeyError):
            return self.record(len(self.entries) - 1).get("episode") == self.entries[-1].episode.name
        return False

    def _load(self) -> None:
        self._saved = 0
        try:
            stored = json.loads(self.index_path.read_text("utf-8"))
            if stored["version"] != VERSION:
                return
            self.entries = [_read_entry(row) for row in stored["entries"]]
            self.skipped, self._end, self._saved = stored["skipped"], stored["end"], stored["end"]
            if zlib.crc32(self._bytes(self.entries[-1])) != stored["crc"]:
                self._forget()
        except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
            self._forget()  # missing or not ours: it is made anew

    def _save(self) -> None:
        if self._end == self._saved or not self.entries or self._broken:
            return
        stored = {
            "version": VERSION,
            "end": self._end,
            "crc": zlib.crc32(self._bytes(self.entries[-1])),
            "skipped": self.skipped,
            "entries": [_plain_entry(entry) for entry in self.entries],
        }
        partial = self.index_path.with_suffix(".partial")
        with suppress(OSError):  # a folder that may only be read is looked at without an index
            partial.write_text(json.dumps(stored, ensure_ascii=False, separators=(",", ":")), "utf-8")
            partial.replace(self.index_path)
        self._saved = self._end


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

"""Trajectory files: appended to as episodes end, readable after a kill at any moment.

A file is a sequence of zstd frames, one a trajectory, each a JSON object with a format version. A frame torn by a kill
can only be the last; it is dropped by the next append and left out by reading.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from clickgrad.codec import CodecError, from_plain, to_plain
from clickgrad.errors import UserError
from clickgrad.types import End, Outcome, Trajectory, Verdict

FORMAT = 3
READABLE = (2, FORMAT)
CHUNK = 1 << 16
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class TrajectoryFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._whole: int | None = None  # bytes known to be whole frames; None before the first look

    def append(self, trajectory: Trajectory) -> None:
        self.extend([trajectory])

    def extend(self, trajectories: Sequence[Trajectory]) -> None:
        frames = b"".join(map(_frame, trajectories))
        if self._whole is None:
            self._whole = sum(size for size, _ in self._frames())
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab") as file:
                file.truncate(self._whole)
                file.write(frames)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(
                f"cannot write {self.path} ({error.strerror}): make room or permit writing, then run the same command "
                "again; what was finished is kept"
            ) from error
        self._whole += len(frames)

    def read(self) -> list[Trajectory]:
        return [self._decode(index, frame) for index, (_, frame) in enumerate(self._frames())]

    def _decode(self, index: int, frame: bytes) -> Trajectory:
        try:
            record = json.loads(frame)
            if not isinstance(record, dict) or record.get("format") not in READABLE:
                raise CodecError("not a trajectory of this version of clickgrad")
            return from_plain(Trajectory, upgraded(record.get("trajectory")))
        except ValueError as error:
            raise UserError(f"{self.path}: record {index} is malformed ({error}): move the file away") from error

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        """(compressed size, content) of every whole frame."""
        try:
            with open(self.path, "rb") as file:
                yield from split_frames(file)
        except FileNotFoundError:
            return
        except zstandard.ZstdError as error:
            raise UserError(f"{self.path} is no trajectory file ({error}): move it away") from error
        except OSError as error:
            raise UserError(f"cannot read {self.path}: {error.strerror}") from error


def upgraded(plain: Any) -> Any:
    """A stored trajectory of any readable format, in the shape and meaning of this one.

    Format 2 judged episodes that ran out of wall time. How fast our machine was says nothing about the agent: they are
    read as what they would be today.
    """
    if not isinstance(plain, dict) or plain.get("end") != "time_limit":
        return plain
    return plain | {
        "end": End.CRASHED.value,
        "evidence": None,
        "verdict": to_plain(Verdict(Outcome.UNJUDGED)),
        "reward": None,
        "error": "InfraError: the episode took longer than rollout.episode_s",
    }


def _frame(trajectory: Trajectory) -> bytes:
    record = json.dumps({"format": FORMAT, "trajectory": to_plain(trajectory)}, ensure_ascii=False)
    whole = _LONE_SURROGATE.sub("\ufffd", record)  # half a character has no UTF-8
    return zstandard.ZstdCompressor(level=6).compress(whole.encode() + b"\n")


def split_frames(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(compressed size, content) of every whole frame from where the file stands; a torn one ends it."""
    rest = file.read(CHUNK)
    while rest:
        frame, content, size = zstandard.ZstdDecompressor().decompressobj(), b"", 0
        while not frame.eof:
            if not rest:
                return  # torn by a kill
            size += len(rest)
            content += frame.decompress(rest)
            rest = file.read(CHUNK) if not frame.eof else frame.unused_data
        yield size - len(rest), content
        rest = rest or file.read(CHUNK)

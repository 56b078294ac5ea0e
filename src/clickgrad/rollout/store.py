"""Trajectory files: appended to as episodes end, readable after a kill at any moment, and told from damaged ones.

A file is a sequence of zstd frames, one a trajectory, each a JSON object with a format version. Every frame has a
checksum (older ones had none). A frame torn by a kill can only be the last; it is dropped by the next append and left
out by reading. Frames after a damaged one are found by their first four bytes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from clickgrad.codec import CodecError, from_plain, to_plain
from clickgrad.errors import InfraError, UserError
from clickgrad.integrity import keep_copy, writing
from clickgrad.types import End, Outcome, Trajectory, Verdict

FORMAT = 3
READABLE = (2, FORMAT)
CHUNK = 1 << 16
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
MAGIC = b"\x28\xb5\x2f\xfd"
HEADER_BYTES = 18  # at most
MOST_BYTES = 1 << 27  # of a trajectory as JSON: what claims to be larger is no trajectory
BLOCK_BYTES = 1 << 17  # at most, of what a block becomes
RLE, RESERVED = 1, 3


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a trajectory file: a whole frame with its content, or what lies before the next beginning of one."""

    offset: int
    size: int
    content: bytes | None
    checked: bool = False  # the frame had a checksum, and it is right
    fault: str = ""
    torn: bool = False  # the file ends before the frame does

    @property
    def end(self) -> int:
        return self.offset + self.size

    def through(self, other: Piece) -> Piece:
        """All that lies between them, as damage of the first one's kind."""
        return Piece(self.offset, other.end - self.offset, None, fault=self.fault, torn=self.torn)


class TrajectoryFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._whole: int | None = None  # bytes known to be whole frames; None before the first look

    def append(self, trajectory: Trajectory) -> None:
        self.extend([trajectory])

    def extend(self, trajectories: Sequence[Trajectory]) -> None:
        frames = b"".join(map(self._frame, trajectories))
        if self._whole is None:
            whole, damage = self._look()
            if damage:
                raise UserError(f"{_complaint(self.path, damage, len(whole))}: move the file away")
            self._whole = sum(piece.size for piece, _ in whole)
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab") as file:
                file.truncate(self._whole)
                file.write(frames)
                file.flush()
                os.fsync(file.fileno())
        self._whole += len(frames)

    def read(self) -> list[Trajectory]:
        """All of them, without an end torn by a kill. Damage is an error: `mend` goes on from what is whole."""
        trajectories, complaint = self.salvage()
        if complaint:
            raise UserError(f"{complaint}: move the file away")
        return trajectories

    def salvage(self) -> tuple[list[Trajectory], str]:
        """Those that are whole, and what is wrong with the rest: "" when nothing is."""
        whole, damage = self._look()
        return [trajectory for _, trajectory in whole], _complaint(self.path, damage, len(whole))

    def require_ours(self) -> None:
        """Refuse a file that was never a trajectory file: mending would empty it."""
        try:
            with open(self.path, "rb") as file:
                head = file.read(len(MAGIC))
        except OSError:
            return  # missing, or said by whoever reads it
        # One damaged byte leaves three that match.
        if head and sum(map(int.__eq__, head, MAGIC)) < min(2, len(head)):
            raise UserError(f"{self.path} is no trajectory file: move it away, or give another name")

    def mend(self, tell: Callable[[str], None]) -> list[Trajectory]:
        """For those who go on with the file: as `read`, but damaged bytes are named, and kept in a file beside it."""
        whole, damage = self._look()
        if damage:
            with writing(self.path):
                aside = keep_copy(self.path)
                partial = self.path.with_name(f"{self.path.name}.partial")
                with open(self.path, "rb") as old, open(partial, "wb") as new:
                    for piece, _ in whole:
                        old.seek(piece.offset)
                        new.write(old.read(piece.size))
                    new.flush()
                    os.fsync(new.fileno())
                partial.replace(self.path)
            tell(f"{_complaint(self.path, damage, len(whole))}; the damaged file is kept as {aside.name}")
        self._whole = sum(piece.size for piece, _ in whole)
        return [trajectory for _, trajectory in whole]

    def _look(self) -> tuple[list[tuple[Piece, Trajectory]], list[Piece]]:
        """The whole frames, and the damage between and after them."""
        whole: list[tuple[Piece, Trajectory]] = []
        damage: list[Piece] = []
        try:
            with open(self.path, "rb") as file:
                for piece in joined(split_frames(file)):
                    if piece.content is None:
                        damage.append(piece)
                        continue
                    try:
                        trajectory = self._decode(len(whole) + len(damage), piece.content, piece.checked)
                    except _Damaged as error:
                        damage.append(Piece(piece.offset, piece.size, None, fault=str(error)))
                    else:
                        whole.append((piece, trajectory))
        except FileNotFoundError:
            return [], []
        except OSError as error:
            raise UserError(f"cannot read {self.path}: {error.strerror}") from error
        if damage and damage[-1].torn and (not whole or damage[-1].offset >= whole[-1][0].end):
            del damage[-1]  # by a kill
        return whole, damage

    def _decode(self, index: int, frame: bytes, checked: bool) -> Trajectory:
        """What a checksum vouches for and is yet no trajectory was never one: the file is somebody else's."""
        try:
            record = json.loads(frame)
            if not isinstance(record, dict) or record.get("format") not in READABLE:
                raise _Foreign("not a trajectory of this version of clickgrad")
            return from_plain(Trajectory, upgraded(record.get("trajectory")))
        except (ValueError, RecursionError) as error:
            if not checked and not isinstance(error, _Foreign):
                raise _Damaged(str(error)) from error
            raise UserError(f"{self.path}: record {index} is malformed ({error}): move the file away") from error

    def _frame(self, trajectory: Trajectory) -> bytes:
        text = json.dumps({"format": FORMAT, "trajectory": to_plain(trajectory)}, ensure_ascii=False)
        record = _LONE_SURROGATE.sub("\ufffd", text).encode() + b"\n"  # half a character has no UTF-8
        if len(record) > MOST_BYTES:
            raise InfraError(f"{trajectory.episode} takes {len(record)} bytes, and {MOST_BYTES} is the most")
        return zstandard.ZstdCompressor(level=6, write_checksum=True).compress(record)


class _Damaged(Exception):
    """A frame whose content is not what was written."""


class _Foreign(CodecError):
    """A record of another version, or no record at all."""


def _complaint(path: Path, damage: Sequence[Piece], whole: int) -> str:
    if not damage:
        return ""
    first = damage[0]
    more = f" and {len(damage) - 1} more places" if len(damage) > 1 else ""
    return (
        f"{path} is damaged: bytes {first.offset} to {first.end} are no trajectory ({first.fault}){more}; "
        f"{whole} trajectories are whole"
    )


def upgraded(plain: Any) -> Any:
    """A stored trajectory of any readable format, in the shape and meaning of this one.

    Format 2 had a second list of logprobs with every completion, which nobody read. It judged episodes that ran out of
    wall time: how fast our machine was says nothing about the agent, so they are read as what they would be today.
    """
    if not isinstance(plain, dict):
        return plain
    for turn in plain.get("turns") or ():
        match turn:
            case {"completion": {"drawn_logprobs": _} as completion}:
                del completion["drawn_logprobs"]
    if plain.get("end") != "time_limit":
        return plain
    return plain | {
        "end": End.CRASHED.value,
        "evidence": None,
        "verdict": to_plain(Verdict(Outcome.UNJUDGED)),
        "reward": None,
        "error": "InfraError: the episode took longer than rollout.episode_s",
    }


# --- frames ---------------------------------------------------------------------------------------------------------


def split_frames(file: BinaryIO) -> Iterator[Piece]:
    """Every whole frame from where the file stands, and the bytes between them that are none.

    A damaged frame ends where the next four bytes lie that could begin another.
    """
    at = file.tell()
    while file.seek(at) == at and file.read(1):
        try:
            piece = _whole_frame(file, at)
        except _Torn:
            piece = Piece(at, _next_frame(file, at + 1) - at, None, fault="the file ends within it", torn=True)
        except zstandard.ZstdError as error:
            piece = Piece(at, _next_frame(file, at + 1) - at, None, fault=str(error))
        yield piece
        at = piece.end


def joined(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Neighbouring damage as one piece. It counts as torn only if it begins so and nothing whole comes after it."""
    open_damage: Piece | None = None
    for piece in pieces:
        if piece.content is None:
            open_damage = (open_damage or piece).through(piece)
            continue
        if open_damage:
            yield replace(open_damage, torn=False)
            open_damage = None
        yield piece
    if open_damage:
        yield open_damage


class _Torn(Exception):
    """The file ends before the frame does."""


def _whole_frame(file: BinaryIO, at: int) -> Piece:
    """The frame that begins at `at`. Raises _Torn, or ZstdError for what is no frame of ours."""
    size, checked = _measure(file, at)
    file.seek(at)
    frame = file.read(size)
    if len(frame) < size:
        raise _Torn
    content = unpack(frame)
    return Piece(at, size, content, checked)


def unpack(frame: bytes) -> bytes:
    """Of one frame, checked by its checksum if it has one. Raises ZstdError, also for more than a trajectory holds."""
    if zstandard.get_frame_parameters(frame).content_size == zstandard.CONTENTSIZE_UNKNOWN:
        return zstandard.ZstdDecompressor().decompress(frame, max_output_size=MOST_BYTES)
    return zstandard.ZstdDecompressor().decompress(frame)


def _measure(file: BinaryIO, at: int) -> tuple[int, bool]:
    """(bytes of the frame, whether it has a checksum), by the headers of its blocks: nothing is decompressed.

    Each block begins with three bytes, lowest first: 1 bit "the last", 2 bits kind, 21 bits size. Of a run (RLE) the
    size is that of what it becomes, and the block holds one byte.
    """
    file.seek(at)
    head = file.read(HEADER_BYTES)
    if not head.startswith(MAGIC):
        if MAGIC.startswith(head):
            raise _Torn
        raise zstandard.ZstdError("no zstd frame begins there")
    try:
        header = zstandard.get_frame_parameters(head)
        end = at + zstandard.frame_header_size(head)
    except zstandard.ZstdError:
        if len(head) < HEADER_BYTES:
            raise _Torn from None
        raise
    if header.content_size != zstandard.CONTENTSIZE_UNKNOWN and header.content_size > MOST_BYTES:
        raise zstandard.ZstdError(f"a frame of {header.content_size} bytes, where {MOST_BYTES} is the most")
    for _ in range(MOST_BYTES // BLOCK_BYTES + 1):
        file.seek(end)
        three = file.read(3)
        if len(three) < 3:
            raise _Torn
        word = int.from_bytes(three, "little")
        is_last, kind, size = word & 1, word >> 1 & 3, word >> 3
        if kind == RESERVED:
            break
        end += 3 + (1 if kind == RLE else size)
        if is_last:
            return end + 4 * header.has_checksum - at, header.has_checksum
    raise zstandard.ZstdError("its blocks are none, or too many")


def _next_frame(file: BinaryIO, start: int) -> int:
    """Where the next frame may begin, or the file's end."""
    file.seek(start)
    kept = b""
    while chunk := file.read(CHUNK):
        found = (kept + chunk).find(MAGIC)
        if found >= 0:
            return start - len(kept) + found
        start += len(chunk)
        kept = (kept + chunk)[-3:]
    return start

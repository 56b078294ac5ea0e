"""A run's files as an auditor sees them, and how they are damaged. Reads trajectories by itself: the package's own
reader is among what is tested, and the run may be another version's."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"
TRAJECTORIES = ".jsonl.zst"
DEMOS = "demos.jsonl.zst"


@dataclass(frozen=True, slots=True)
class Stored:
    """A frame of a trajectory file."""

    start: int
    end: int
    frame: bytes
    record: dict[str, Any]

    @property
    def episode(self) -> str:
        return str(self.record["episode"])

    @property
    def slot(self) -> str:
        return self.episode.rpartition("/try-")[0]

    @property
    def reward(self) -> float | None:
        return self.record["reward"]  # type: ignore[no-any-return]

    @property
    def identity(self) -> tuple[str, float]:
        """An episode that was played again took other seconds."""
        return self.episode, float(self.record["seconds"])


def files_in(run: Path, ending: str = "") -> list[Path]:
    """In order. Unlike rglob it bears with folders that vanish meanwhile: the run is at work there."""
    found = [Path(folder, name) for folder, _, names in os.walk(run) for name in names if name.endswith(ending)]
    return sorted(found)


def read_bytes(path: Path) -> bytes:
    """Nothing, if it has just been replaced or removed."""
    with suppress(OSError):
        return path.read_bytes()
    return b""


def read_stored(path: Path) -> list[Stored]:
    """Every whole frame; what cannot be read is passed over."""
    try:
        state = path.stat()
    except OSError:
        return []
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(256)
def _read(path: Path, changed_ns: int, size: int) -> list[Stored]:
    """Read again only when it has changed: a run is looked at many times a second."""
    return list(_frames(read_bytes(path)))


def _frames(data: bytes) -> Iterator[Stored]:
    at = 0 if data.startswith(MAGIC) else data.find(MAGIC)
    while at >= 0:
        reader = zstandard.ZstdDecompressor().decompressobj()
        try:
            content = reader.decompress(data[at:])
            record = json.loads(content)["trajectory"] if reader.eof else None
        except (zstandard.ZstdError, ValueError, LookupError, TypeError):
            record = None
        if isinstance(record, dict) and {"episode", "seconds", "reward"} <= record.keys():
            end = len(data) - len(reader.unused_data)
            yield Stored(at, end, data[at:end], record)
            at = data.find(MAGIC, end)
        else:
            at = data.find(MAGIC, at + 1)


def final_tries(stored: list[Stored]) -> list[Stored]:
    """One a slot: the first try with a reward, or the last one."""
    chosen: dict[str, Stored] = {}
    for one in sorted(
        {one.episode: one for one in stored}.values(), key=lambda one: int(one.episode.rpartition("/try-")[2])
    ):
        if one.slot not in chosen or chosen[one.slot].reward is None:
            chosen[one.slot] = one
    return list(chosen.values())


# --- damage ---------------------------------------------------------------------------------------------------------

HOW = ("truncate", "empty", "flip")


def damage(path: Path, how: str, rng: random.Random) -> tuple[int, int]:
    """Returns which bytes are lost, from and to."""
    data = path.read_bytes()
    match how:
        case "truncate":
            at = rng.randrange(len(data))
            path.write_bytes(data[:at])
            return at, len(data)
        case "empty":
            path.write_bytes(b"")
            return 0, len(data)
        case _:
            at = rng.randrange(len(data))
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
            return at, at + 1


def find_target(run: Path, what: str) -> Path | None:
    """The file of this kind that the next sitting has to read; None when there is none now."""
    found = [path for path in files_in(run) if _is_kind(run, path, what)]
    sized = [(path.stat().st_mtime_ns, path) for path in found if path.exists() and path.stat().st_size]
    return max(sized, default=(0, None))[1]


def _is_kind(run: Path, path: Path, what: str) -> bool:
    stage = path.parents[2] if path.parent.name.startswith("step-") else path.parent
    finished = (stage / "model").exists()
    match what:
        case "trajectories":
            return path.name.endswith(TRAJECTORIES) and path.name != DEMOS
        case "demos":
            return path.name.startswith(DEMOS) and not (run / "clone" / "model").exists()
        case "weights" | "optimizer":
            return path.name == f"{what}.safetensors" and not finished
        case "progress":
            return path.name == "progress.json" and not finished
        case "model":
            begun = (run / "reinforce").exists() and not (run / "reinforce" / "model").exists()
            return path == run / "clone" / "model" / "model.safetensors" and begun
        case "metrics":
            return path.name == "metrics.jsonl" and not finished
        case "index":
            return path.name.endswith(".index.json")
        case _:
            return path.name == "config.toml"


FILES = ("trajectories", "demos", "weights", "optimizer", "progress", "model", "metrics", "index", "config")

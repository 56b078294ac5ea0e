"""Whether a stored file is still what was written: digests, flushing, and setting aside what is damaged."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from clickgrad.errors import UserError

DIGESTS = "digests.json"
SIGNATURE = "# sha256 of the lines below: "


def digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Of every file in the folder by its name."""
    return {path.name: digest(path) for path in sorted(folder.iterdir()) if path.is_file() and path.name != DIGESTS}


def changed_file(folder: Path, written: Mapping[str, str]) -> str:
    """What is wrong with the first file that is not as it was written; "" when all are."""
    for name, expected in written.items():
        try:
            if digest(folder / name) != expected:
                return f"{name} is not what was written"
        except OSError as error:
            return f"{name}: {error.strerror}"
    return ""


def seal(folder: Path) -> None:
    """Write down the digests of a folder that is finished, and have all of it on the disk."""
    (folder / DIGESTS).write_text(json.dumps(digests(folder), indent=1) + "\n")
    for path in folder.iterdir():
        flush(path)


def broken_seal(folder: Path) -> str:
    """What is wrong with a sealed folder; "" when nothing is, and for a folder that nobody sealed."""
    try:
        written = json.loads((folder / DIGESTS).read_text("utf-8"))
        return changed_file(folder, {str(name): str(value) for name, value in written.items()})
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        return f"{DIGESTS} cannot be read ({type(error).__name__})"


def signed(text: str) -> str:
    """TOML under a comment that vouches for it."""
    return f"{SIGNATURE}{hashlib.sha256(text.encode()).hexdigest()}\n{text}"


def broken_signature(path: Path) -> str:
    """What is wrong with a TOML file of ours; "" when nothing is. Older files have no signature to tell by."""
    try:
        text = path.read_text("utf-8")
        tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        return (str(error).splitlines() or [type(error).__name__])[0]
    line, _, rest = text.partition("\n")
    if not text.strip():
        return "it is empty"
    return "it is not what was written" if line.startswith(SIGNATURE) and signed(rest) != text else ""


def set_aside(path: Path) -> Path:
    """Rename a damaged file or folder to a name that nobody reads."""
    aside = free_name(path)
    path.rename(aside)
    return aside


def keep_copy(path: Path) -> Path:
    """The damaged file once more, under a name that nobody reads, for one that is about to be rewritten."""
    aside = free_name(path)
    shutil.copyfile(path, aside)
    return aside


def free_name(path: Path) -> Path:
    """`t.zst.damaged`, or `t.zst.damaged-2` where that is taken, and so on."""
    names = (path.with_name(f"{path.name}.damaged" + (f"-{number}" if number > 1 else "")) for number in count(1))
    return next(name for name in names if not os.path.lexists(name))


def flush(path: Path) -> None:
    """To the disk, so that what is renamed afterwards is whole after a power failure too."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, text: str) -> None:
    """All of it or nothing: a kill, a power failure or a full disk leaves the file as it was."""
    partial = path.with_name(f"{path.name}.partial")
    with writing(path):
        partial.write_text(text, "utf-8", errors="replace")
        flush(partial)
        partial.replace(path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """A disk that is full or refuses to be written is the user's to mend: one line."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write {path} ({error.strerror or error}): make room or permit writing, then run the same command "
            "again; what was finished is kept"
        ) from error

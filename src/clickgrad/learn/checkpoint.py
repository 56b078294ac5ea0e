"""Checkpoints: all that a run needs to go on, written so that a half-written one is never mistaken for a whole."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from clickgrad.errors import UserError
from clickgrad.integrity import changed_file, digests, flush, set_aside, writing
from clickgrad.learn.progress import Progress

FORMAT = 3  # whole tensors, of one process
SHARDED = 4  # a file of every rank (`learn.sharded`)
UNSIGNED = 2  # the format before there were digests
STATE = "progress.json"
WEIGHTS, MOMENTS = "weights.safetensors", "optimizer.safetensors"
VALUES = "values.safetensors"
NAME = re.compile(r"step-[0-9]+")
Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class State:
    """All that a checkpoint holds."""

    progress: Progress
    weights: Tensors  # the trained parameters: whole, or the parts of one rank
    moments: Tensors  # of the optimizer
    score: float | None = None
    values: Tensors = field(default_factory=dict)  # the value head, where there is one


def step_folder(root: Path, step: int) -> Path:
    return root / f"step-{step:04d}"


def step_of(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))


def latest(root: Path) -> Path | None:
    """The newest finished checkpoint: only such a one has its final name."""
    return max(_all(root), key=step_of, default=None)


def _all(root: Path) -> list[Path]:
    return [folder for folder in root.glob("step-*") if NAME.fullmatch(folder.name)]


def set_aside_damaged(root: Path, tell: Callable[[str], None], need_all: bool = False) -> None:
    """Name every damaged checkpoint that a run would go on from, and rename it: the newest left is whole.

    `need_all`: older ones are needed too. What came after a damaged one then goes, since its steps are taken again.
    """
    for folder in sorted(_all(root), key=step_of, reverse=True):
        fault = find_fault(folder)
        if fault:
            aside = set_aside(folder)
            if need_all:
                for later in _all(root):
                    if step_of(later) > step_of(folder):
                        shutil.rmtree(later)
            before = max((step_of(left) for left in _all(root) if step_of(left) < step_of(folder)), default=None)
            then = "the start" if before is None else f"step {before}"
            tell(
                f"checkpoint {folder} is damaged ({fault}): kept as {aside.name}; what came after {then} is done again"
            )
        elif not need_all:
            return


def find_fault(folder: Path) -> str:
    """What is wrong with the files of a checkpoint; "" when they are what was written, or of another version."""
    try:
        state = _read_state(folder)
        return changed_file(folder, state.get("files", {}))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        return f"{STATE}: {_first_line(error)}"


def save(root: Path, state: State, keep: int) -> None:
    """The last `keep` stay, and the one with the best score so far."""
    final = step_folder(root, state.progress.step)
    with publishing(root, final, keep) as partial:
        safetensors.torch.save_file(state.weights, partial / WEIGHTS)
        safetensors.torch.save_file(state.moments, partial / MOMENTS)
        if state.values:
            safetensors.torch.save_file(state.values, partial / VALUES)
        write_progress(partial, FORMAT, state.progress, state.score, digests(partial))


@contextmanager
def publishing(root: Path, final: Path, keep: int, begun: Path | None = None) -> Iterator[Path]:
    """A folder to write a checkpoint into, empty or `begun`; when the block ends it gets its name, and old ones go."""
    partial = begun or empty_partial(final)
    try:
        with saving(final):
            yield partial
            for file in partial.iterdir():
                flush(file)
            shutil.rmtree(final, ignore_errors=True)
            partial.rename(final)
            flush(root)
    except UserError:
        shutil.rmtree(partial, ignore_errors=True)  # a full disk is not to be kept full
        raise
    for old in sorted(_all(root), key=step_of)[:-keep]:
        if old != best(root):
            shutil.rmtree(old)


def partial_folder(final: Path) -> Path:
    return final.with_name(f".partial-{final.name}")


def empty_partial(final: Path) -> Path:
    partial = partial_folder(final)
    shutil.rmtree(partial, ignore_errors=True)
    with saving(final):
        partial.mkdir(parents=True)
    return partial


def write_progress(
    folder: Path, layout: int, progress: Progress, score: float | None, files: Mapping[str, str]
) -> None:
    stored: dict[str, Any] = {"format": layout, "score": score, "files": dict(files)} | {
        name: getattr(progress, name) for name in Progress.__dataclass_fields__
    }
    (folder / STATE).write_text(json.dumps(stored | {"digest": _digest(stored)}))


@contextmanager
def saving(path: Path) -> Iterator[None]:
    """As `writing`: safetensors has an error of its own for a disk that is full."""
    with writing(path):
        try:
            yield
        except safetensors.SafetensorError as error:
            raise OSError(_first_line(error)) from error


def best(root: Path) -> Path | None:
    """The checkpoint with the highest score, the later one of two; None when no checkpoint has a score."""
    known = [(score, step_of(folder), folder) for folder in _all(root) if (score := _score(folder)) is not None]
    return max(known)[2] if known else None


def _score(folder: Path) -> float | None:
    """None also when it is damaged: nobody would go on from it."""
    with suppress(OSError, ValueError, LookupError, AttributeError, RecursionError):
        score = _read_state(folder)["score"]
        return score if score is None else float(score)
    return None


def read_progress(folder: Path) -> Progress:
    """Raises UserError when it cannot be read."""
    try:
        state = _read_state(folder)
        state["records"] = {task: tuple(record) for task, record in state["records"].items()}
        state["beliefs"] = {name: tuple(seen) for name, seen in state.get("beliefs", {}).items()}
        state |= {name: tuple(state.get(name, ())) for name in ("held_out", "kept")}
        for name, unsaid in {"starts": {}, "spent_s": 0.0, "ended": ""}.items():
            state.setdefault(name, unsaid)
        return Progress(**{name: state[name] for name in Progress.__dataclass_fields__})
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _unreadable(folder, error) from error


def load(folder: Path) -> State:
    """One that a single process wrote."""
    progress = read_progress(folder)
    refuse_damaged(folder)
    load_file = safetensors.torch.load_file
    return State(progress, load_file(folder / WEIGHTS), load_file(folder / MOMENTS), values=load_values(folder))


def load_values(folder: Path) -> Tensors:
    return safetensors.torch.load_file(folder / VALUES) if (folder / VALUES).exists() else {}


def refuse_damaged(folder: Path) -> None:
    if fault := find_fault(folder):
        raise _unreadable(folder, OSError(fault))


def is_sharded(folder: Path) -> bool:
    return bool(_read_state(folder)["format"] == SHARDED)


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """A checkpoint that cannot be read, or does not fit the model, is told in one line."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, RuntimeError, safetensors.SafetensorError) as error:
        raise _unreadable(folder, error) from error


def _unreadable(folder: Path, error: Exception) -> UserError:
    return UserError(
        f"checkpoint {folder} cannot be read ({_first_line(error)}): delete it to go on from the one before"
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _read_state(folder: Path) -> dict[str, Any]:
    """Raises ValueError when it is not what was written. Older ones (format 2) have no digests to tell by."""
    state: dict[str, Any] = json.loads((folder / STATE).read_text())
    signature = state.pop("digest", None)
    if signature not in (None, _digest(state)) or (signature is None and state["format"] in (FORMAT, SHARDED)):
        raise ValueError("it is not what was written")
    if state["format"] not in (SHARDED, FORMAT, UNSIGNED):
        raise UserError(f"checkpoint {folder} is of another version of clickgrad; start the run in a new folder")
    return state


def _digest(state: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def moments(optimizer: torch.optim.Optimizer) -> Tensors:
    """`3.exp_avg` is a moment of the fourth parameter. Learning rates are not state: every step sets its own."""
    state = optimizer.state_dict()["state"]
    return {f"{index}.{name}": value for index, kept in state.items() for name, value in kept.items()}


def load_moments(optimizer: torch.optim.Optimizer, tensors: Tensors) -> None:
    """As this process holds them: whole, or its shards."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in tensors.items():
        index, name = key.split(".")
        state.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})

"""A run's folder: its resolved configuration, and the promise that one process at a time writes to it."""

from __future__ import annotations

import fcntl
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tomli_w

from clickgrad.config import READ_BY, REPLACED, ClusterSection, Config
from clickgrad.errors import UserError, warn
from clickgrad.integrity import broken_signature, set_aside, signed, write_whole
from clickgrad.run_layout import (
    CHECKPOINTS,
    COMPUTE,
    CONFIG,
    LOCK,
    METRICS,
    MODEL,
    REPORT_JSON,
    SCREENSHOTS,
    TIMES,
    TRAJECTORIES,
)

RESULTS = (f"{TRAJECTORIES}/*", METRICS, f"{CHECKPOINTS}/*", MODEL, REPORT_JSON)
FREE = {  # what may change between two sittings of the same run: how it is run and how long, not what it learns
    "reinforce.steps",
    "reinforce.minutes",
    "clone.minutes",
    "reinforce.save_every",
    "clone.save_every",
    "rollout.concurrency",
    "rollout.retries",
    "rollout.episode_s",
    "rollout.reply_s",
    "chat.concurrency",
    "chat.requests_per_minute",
    "chat.timeout_s",
    "chat.tries",
    "chat.input_price",
    "chat.output_price",
    "log.tensorboard",
    "log.wandb",
    "rollout.site_sessions",
    "rollout.screenshots",
    "evaluate.pictures",
    "evaluate.pictures_mb",
    "clone.micro_tokens",  # a run that ran out of memory goes on in smaller pieces
    "reinforce.micro_tokens",
    "learner.recompute",
    "learner.save_async",
    "reinforce.transfer",
    *(f"cluster.{name}" for name in ClusterSection.model_fields),
}


@contextmanager
def open_run(folder: Path, config: Config, command: str, model: str = "") -> Iterator[Path]:
    """Make or reopen the folder. A run goes on only with the options it was started with.

    A folder in which nothing came about is left as it was: a mistake in the options does not tie it to them.
    """
    first, done = not (folder / CONFIG).exists(), False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / LOCK, "w")  # noqa: SIM115 - held until the run ends
    except OSError as error:
        raise UserError(
            f"cannot write to the run folder {folder} ({error.strerror}); choose another with --run"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(f"the run folder {folder} is in use by another process; wait, or choose another") from None
        options = {name: value for name, value in config.model_dump().items() if name in READ_BY[command]}
        options |= {"command": command} | ({"start": model} if model else {})
        _settle_options(folder / CONFIG, options)
        try:
            yield folder
            done = True
        finally:
            if first and not done and not any(found for result in RESULTS for found in folder.rglob(result)):
                _leave(folder)


def _leave(folder: Path) -> None:
    for name in (CONFIG, COMPUTE, TIMES, LOCK):
        (folder / name).unlink(missing_ok=True)
    for place in (*(folder / name for name in (TRAJECTORIES, CHECKPOINTS, SCREENSHOTS)), folder):
        if place.is_dir() and not any(place.iterdir()):  # a log of what went wrong stays
            place.rmdir()


def _settle_options(path: Path, options: dict[str, object]) -> None:
    if path.exists() and (fault := broken_signature(path)):
        aside = set_aside(path)
        warn(f"{path} is damaged ({fault}): kept as {aside.name}; the run goes on with the options given now")
    if path.exists():
        defaults = dict(_flat(Config().model_dump()))  # of options that there were none of when the run began
        before = defaults | dict(_flat(tomllib.loads(path.read_text())))
        for name in REPLACED:
            if not before.get(name):
                before.pop(name, None)
        now = defaults | dict(_flat(options))
        for name in sorted(before.keys() | now.keys()):
            if name not in FREE and before.get(name) != now.get(name):
                raise UserError(
                    f"{path.parent} was started with {name} = {before.get(name)!r}, not {now.get(name)!r}; "
                    "use the same options, or a new folder with --run"
                )
    write_whole(path, signed(tomli_w.dumps(options)))


def _flat(options: dict[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value

"""A small training run under a seeded storm of faults, and the audit of what is left of it.

The run is a process of its own, so that it can be killed and resumed like anybody's. Every fault is real and comes from
outside: signals to its processes, damaged files, a full disk, hostile pages. What is counted afterwards must be zero.
"""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from clickgrad.bench.chaos.faults import DISK, KINDS, NO_PROCESS, Disk, draw_faults, scene_of
from clickgrad.bench.chaos.figures import ChaosFigures
from clickgrad.bench.chaos.life import Nursery
from clickgrad.bench.chaos.scenes import make_scenes
from clickgrad.bench.chaos.storm import Ground, Storm
from clickgrad.errors import UserError

FAULTS_PER_EPISODE = 0.33
DISK_MB = 64


@dataclass(frozen=True, slots=True)
class ChaosOptions:
    episodes: int = 200
    seed: int = 0
    kinds: tuple[str, ...] = ()  # only these; empty means all that this machine can have
    source: Path | None = None  # of the run, where it is another version's
    keep: Path | None = None  # a folder to leave everything in
    patience_s: float = 90.0  # without a sign of life before it counts as a hang


def bench_chaos(options: ChaosOptions, quiet: bool) -> ChaosFigures:
    figures, started = ChaosFigures(), time.monotonic()
    kinds = _wanted(options, figures)
    rng = random.Random(options.seed)
    count = round(options.episodes * FAULTS_PER_EPISODE)
    faults = draw_faults(kinds, max(count, len(options.kinds)), rng)
    scenes = [name for name in ("arena", "site", "cluster") if any(scene_of(kind) == name for kind in faults)]
    source = (options.source or Path(__file__).parents[3]).resolve()
    with (
        _place(options.keep) as place,
        _small_disk(place / "disk") as mounted,
        closing(Nursery(place, source)) as nursery,
    ):
        ground = Ground(place, nursery, Disk(place / "disk", mounted), options.patience_s, quiet)
        _make_model(place / "model")
        for scene in make_scenes(place, place / "model", options.episodes, scenes):
            mine = [kind for kind in faults if scene_of(kind) == scene.name]
            storm = Storm(scene, mine, ground, random.Random(f"{options.seed}/{scene.name}"), figures)
            if storm.weather():
                storm.audit()
    if DISK in figures.kinds and not mounted:
        figures.findings.append("disk-full: no file system could be mounted, so a limit on the size of files stood in")
    figures.seconds = time.monotonic() - started
    return figures


def _wanted(options: ChaosOptions, figures: ChaosFigures) -> list[str]:
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown:
        raise UserError(f"--kinds: there is no {unknown[0]!r}; there are {', '.join(KINDS)}")
    kinds = list(options.kinds or KINDS)
    if not options.kinds:
        figures.skipped |= NO_PROCESS
    if "worker-kill" in kinds and importlib.util.find_spec("ray") is None:
        kinds.remove("worker-kill")
        figures.skipped["worker-kill"] = "Ray is not installed"
    return kinds


@contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    """Short, because Ray puts sockets below it, whose names may not be long."""
    if keep is not None:
        if keep.exists() and any(keep.iterdir()):
            raise UserError(f"--keep {keep}: the folder is not empty; give another")
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    place = Path(mkdtemp(prefix="chaos-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _small_disk(folder: Path) -> Iterator[bool]:
    """Whether the folder is a file system of its own, which can be filled without harm to others."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "clickgrad-chaos", str(folder)]
    mounted = shutil.which("mount") is not None and subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], capture_output=True)


def _make_model(folder: Path) -> None:
    """In a process of its own: this one stays light, and torch's threads stay away from it."""
    words = "import sys; from pathlib import Path; from clickgrad.bench.chaos.model import save_coin_model"
    code = f"{words}; save_coin_model(Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"the model for the run could not be made: {(done.stderr.strip().splitlines() or ['?'])[-1]}")

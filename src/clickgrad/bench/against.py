"""One step of reinforcement and a greedy evaluation by two versions of the code, turn about on the same machine.

The other version is a worktree of a git revision, run by the same interpreter. Both start from the same model on the
same tasks; options that the other version does not know yet are left out for it, by name.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import tomli_w

from clickgrad.bench.figures import process_tree_mb
from clickgrad.config import Config
from clickgrad.display import progress_bar
from clickgrad.errors import UserError
from clickgrad.run_layout import METRICS, TRAJECTORIES

HERE = Path(__file__).parents[2]
LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Against:
    revision: str
    left_out: tuple[str, ...]  # options that it does not know
    rounds: int
    rollout_s: tuple[float, float]  # median over the rounds: of the other version, and of this one; so in all below
    update_s: tuple[float, float]
    evaluation_s: tuple[float, float]
    turns: tuple[float, float]
    peak_mb: tuple[float, float]  # of all processes of a step; pages that they share are counted once
    rollout_ratio: float
    rollout_ratio_by_turn: float  # the versions draw different replies, and so come to different numbers of turns
    update_ratio: float
    step_ratio: float
    evaluation_ratio: float


@dataclass(frozen=True, slots=True)
class Round:
    rollout_s: float
    update_s: float
    evaluation_s: float
    turns: float
    peak_mb: float


@dataclass(slots=True)
class Version:
    source: Path  # that stands first in PYTHONPATH
    config: Path
    left_out: list[str] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    def median(self, name: str) -> float:
        return float(median(getattr(one, name) for one in self.rounds))

    def clickgrad(self, *words: str) -> tuple[float, float]:
        """Seconds that the command took, and the most memory it used."""
        started, peak = time.perf_counter(), 0.0
        with subprocess.Popen(
            [sys.executable, "-m", "clickgrad", *words],
            env=os.environ | {"PYTHONPATH": str(self.source)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            while process.poll() is None:
                peak = max(peak, process_tree_mb(process.pid))
                time.sleep(LOOK_S)
            assert process.stderr
            if process.returncode:
                raise UserError(f"clickgrad {words[0]} of {self.source} failed: {process.stderr.read()[-500:].strip()}")
        return time.perf_counter() - started, peak

    def drop_unknown(self) -> None:
        """Leave out what this version has no option for."""
        options = tomllib.loads(self.config.read_text())
        while unknown := self._unknown():
            section, _, name = unknown.partition(".")
            del (options[section] if name else options)[name or section]
            self.left_out.append(unknown)
            self.config.write_text(tomli_w.dumps(options))

    def _unknown(self) -> str | None:
        tried = subprocess.run(
            [sys.executable, "-m", "clickgrad", "train", "--config", str(self.config), "--dry-run"],
            env=os.environ | {"PYTHONPATH": str(self.source)},
            capture_output=True,
            text=True,
            check=False,
        )
        found = re.search(r"unknown option ([\w.]+)", tried.stderr)
        return found.group(1) if found else None


def bench_against(config: Config, start: str, revision: str, rounds: int, quiet: bool) -> Against:
    # As a run's own file says it: every command reads its part of it.
    options = {"command": "train"} | config.model_dump(exclude_defaults=True)
    options.setdefault("reinforce", {})["steps"] = 1
    with TemporaryDirectory(prefix="clickgrad-against-") as place, _worktree(revision, Path(place)) as other:
        versions = [
            Version(source, Path(place) / f"{name}.toml") for name, source in (("other", other), ("this", HERE))
        ]
        for version in versions:
            version.config.write_text(tomli_w.dumps(options))
            version.drop_unknown()
        with progress_bar("bench step", 2 * rounds, quiet=quiet) as ticker:
            for number in range(rounds):
                # Turn about, so that neither always comes first.
                for version in versions if number % 2 == 0 else reversed(versions):
                    version.rounds.append(_round(version, start, Path(place) / f"{version.config.stem}-{number}"))
                    ticker.advance(f"{version.config.stem}: {version.rounds[-1]}")
    return _compared(revision, versions, rounds)


def _round(version: Version, start: str, place: Path) -> Round:
    config = ("--config", str(version.config))
    run, evaluation = place / "step", place / "evaluation"
    _, peak = version.clickgrad("reinforce", *config, "--start", start, "--run", str(run))
    [row] = map(json.loads, (run / METRICS).read_text().splitlines())
    seconds, _ = version.clickgrad("evaluate", "--policy", start, *config, "--run", str(evaluation))
    update = row.get("update_s", row.get("training_s"))
    turns = row["mean_turns"] * (row["episodes"] - row["crashed"])
    assert any((run / TRAJECTORIES).iterdir())
    return Round(row["rollout_s"], update, seconds, turns, peak)


def _compared(revision: str, versions: Sequence[Version], rounds: int) -> Against:
    other, this = versions

    def both(name: str) -> tuple[float, float]:
        return other.median(name), this.median(name)

    def ratio(*names: str) -> float:
        return sum(map(other.median, names)) / sum(map(this.median, names))

    return Against(
        revision=revision,
        left_out=tuple(other.left_out),
        rounds=rounds,
        rollout_s=both("rollout_s"),
        update_s=both("update_s"),
        evaluation_s=both("evaluation_s"),
        turns=both("turns"),
        peak_mb=both("peak_mb"),
        rollout_ratio=ratio("rollout_s"),
        rollout_ratio_by_turn=ratio("rollout_s") / ratio("turns"),
        update_ratio=ratio("update_s"),
        step_ratio=ratio("rollout_s", "update_s"),
        evaluation_ratio=ratio("evaluation_s"),
    )


@contextmanager
def _worktree(revision: str, place: Path) -> Iterator[Path]:
    root, folder = HERE.parent, place / "worktree"
    git = ("git", "-C", str(root))
    made = subprocess.run(
        [*git, "worktree", "add", "--detach", str(folder), revision], capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise UserError(f"--against {revision}: {made.stderr.strip().splitlines()[-1]}")
    try:
        yield folder / "src"
    finally:
        subprocess.run([*git, "worktree", "remove", "--force", str(folder)], capture_output=True, check=False)

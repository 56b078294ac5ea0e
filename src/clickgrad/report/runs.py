"""What lies in a folder of runs: which folders are runs, and what each holds. Reads nothing outside of the root."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clickgrad.integrity import broken_signature
from clickgrad.report.index import SUFFIX
from clickgrad.report.metrics import leads_out
from clickgrad.run_layout import CHECKPOINTS, CONFIG, LIVE, METRICS, MODEL, SCREENSHOTS, SKIPPED, TRAJECTORIES

DEPTH = 4
PASSED_OVER = {MODEL, CHECKPOINTS, SCREENSHOTS, LIVE, TRAJECTORIES, SKIPPED, "node_modules", "__pycache__"}


@dataclass(frozen=True, slots=True)
class RunFolder:
    path: Path
    name: str  # relative to the root, "." for the root itself

    @property
    def metrics(self) -> Path:
        return self.path / METRICS

    @property
    def trajectory_files(self) -> list[Path]:
        """Those of the run, links that lead out of its folder left out."""
        found = [*self.path.glob(f"*{SUFFIX}"), *(self.path / TRAJECTORIES).glob(f"*{SUFFIX}")]
        return sorted(path for path in found if is_inside(path, self.path))

    def options(self) -> tuple[dict[str, Any], str]:
        """The resolved options, and what is wrong with the file: "" when nothing is."""
        path = self.path / CONFIG
        if not os.path.lexists(path):
            return {}, ""
        if leads_out(path):
            return {}, f"{CONFIG} is no file of the run"
        if fault := broken_signature(path):
            return {}, f"{CONFIG} cannot be read ({fault})"
        return tomllib.loads(path.read_text("utf-8")), ""


def find_runs(root: Path) -> list[RunFolder]:
    """The root and the folders below it that hold options, metrics or trajectories; links are not followed."""
    runs = []
    for place, folders, files in os.walk(root):
        path = Path(place)
        depth = len(path.relative_to(root).parts)
        marks = {CONFIG, METRICS} & set(files) or TRAJECTORIES in folders or any(f.endswith(SUFFIX) for f in files)
        if marks:
            runs.append(RunFolder(path, path.relative_to(root).as_posix()))
        wanted = (name for name in folders if name not in PASSED_OVER and not name.startswith("."))
        folders[:] = sorted(wanted) if depth < DEPTH else []
    return runs


def is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links in a circle
        return False


def links_out(run: Path) -> list[str]:
    """Links below a run that lead out of it, where a report would follow them."""
    found = []
    for place, folders, files in os.walk(run):
        paths = [Path(place) / name for name in (*folders, *files)]
        found += [path.name for path in paths if path.is_symlink() and not is_inside(path, run)]
        if len(Path(place).relative_to(run).parts) >= DEPTH:
            folders.clear()
        folders[:] = [name for name in folders if name == TRAJECTORIES or name not in PASSED_OVER]
    return found

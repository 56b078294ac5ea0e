"""Compare: what two evaluations made of the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clickgrad.errors import UserError
from clickgrad.report.compare import Comparison, Pooled, compare
from clickgrad.report.episodes import Episode
from clickgrad.report.index import TrajectoryIndex
from clickgrad.run_layout import EVALUATION, TRAJECTORIES


def compare_pairs(runs: Sequence[Path]) -> Comparison | Pooled:
    """A B, or A B A B …: each A against the B after it, then all of them as one."""
    if len(runs) % 2:
        raise UserError(f"evaluations are compared in pairs, A B A B …; {len(runs)} were given")
    found = tuple(compare_runs(a, b) for a, b in zip(runs[::2], runs[1::2], strict=True))
    return found[0] if len(found) == 1 else Pooled(found)


def compare_runs(a: Path, b: Path) -> Comparison:
    comparison = compare(_episodes(a), _episodes(b))
    if not comparison.pairs.n:
        why = comparison.unpaired[0][1] if comparison.unpaired else "no episodes"
        raise UserError(f"{a} and {b} have no judged episode of the same task and attempt in common ({why})")
    return comparison


def _episodes(run: Path) -> list[Episode]:
    path = run / TRAJECTORIES / EVALUATION
    if not path.is_file():
        stages = sorted(folder.name for folder in run.glob("evaluate-*"))
        hint = f"give one of its stages: {', '.join(stages)}" if stages else "`clickgrad evaluate --run` makes one"
        raise UserError(f"{run} is no evaluation: {hint}")
    index = TrajectoryIndex(path)
    index.refresh()
    if index.skipped:
        raise UserError(f"{path}: {index.skipped[0]}; a comparison needs all of it")
    return [entry.episode for entry in index.entries]

"""A workload read off a run: its episodes by turns and tokens, and how long they really took, to compare with.

Only the shape goes into a prediction. Seconds of the run are read for the comparison alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clickgrad.advantages import group_advantages
from clickgrad.errors import UserError
from clickgrad.planning.figures import MEASURED
from clickgrad.planning.options import Options
from clickgrad.planning.workload import Workload, comb_tokens, loads
from clickgrad.report.episodes import Episode
from clickgrad.report.metrics import read_rows, read_steps
from clickgrad.report.rows import ReinforceRow, read_time
from clickgrad.report.runs import RunFolder
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import TIMES
from clickgrad.types import Trajectory

DEMO_SESSIONS = 4  # at most, as `recipes/demos.py` opens them
STEP_FILE = re.compile(r"step-(\d+)\.")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run really took."""

    episodes: int
    rollout_s: float  # outside of training with the starting of model, sites and browser
    update_s: float  # 0: nobody learned
    policy_s: float  # a turn
    browser_s: float


def read_likeness(options: Options, run: Path) -> tuple[Options, Workload, Seen | None]:
    """Of a run of `reinforce`, of `evaluate`, of `clone` its demonstrations; of a run of `train` its reinforcement.

    The options with what the run says in place of what is open; nothing seen where it would not be comparable.
    """
    folder = RunFolder(run / "reinforce" if (run / "reinforce").is_dir() else run, ".")
    files = {path: TrajectoryFile(path).read() for path in folder.trajectory_files}
    files = {path: episodes for path, episodes in files.items() if any(episode.turns for episode in episodes)}
    if not files:
        raise UserError(f"--like {run}: no trajectories there; give the run folder of a reinforce, train or evaluate")
    stored, fault = folder.options()
    if fault or not stored:
        raise UserError(f"--like {run}: {fault or 'no config.toml there'}")
    learning, browsers = stored.get("reinforce", {}), int(stored.get("rollout", {}).get("concurrency", 1))
    if stored.get("command") == "clone":
        browsers = min(browsers, DEMO_SESSIONS)
    like = replace(
        options,
        model=options.model or str(stored.get("model", {}).get("path", "smollm2")),
        browsers=options.browsers or browsers,
        lora_rank=int(stored.get("lora", {}).get("rank", 0)),
        micro_tokens=int(learning.get("micro_tokens", 0)),
        recompute=bool(stored.get("learner", {}).get("recompute")),
        reference=bool(learning.get("kl_beta")),
        ahead=bool(learning.get("max_staleness")),
    )
    workload = Workload(
        steps=tuple(loads(in_rounds(episodes, learning)) for episodes in files.values()),
        trained_tokens=sum(_trained_tokens(episodes, learning) for episodes in files.values()) if learning else 0,
        scripted=all(one.policy.startswith("scripted:") for episodes in files.values() for one in episodes),
    )
    same = like.browsers == browsers and options.device == MEASURED and not options.model and not options.cores
    # Ahead of updates the run had only a part of the cores.
    return like, workload, _seen(folder, files) if same and not like.ahead else None


def _trained_tokens(trajectories: Sequence[Trajectory], learning: dict[str, Any]) -> int:
    kept = [member for group in _by_group(trajectories) if _has_contrast(group) for member in group if member.usable]
    samples = {turn.prompt_ids + turn.completion.ids for member in kept for turn in member.turns}
    rows = learning.get("layout") == "rows"  # the little padding between turns of like length is left out
    tokens = sum(map(len, samples)) if rows else comb_tokens(samples, int(learning.get("micro_tokens", 0)))
    return tokens * int(learning.get("updates", 1))


def _by_group(trajectories: Sequence[Trajectory]) -> list[list[Trajectory]]:
    """By what `Episode.group` says; outside of training all are one group. In the order of tasks and members."""
    groups: dict[str | None, list[Trajectory]] = {}
    for trajectory in sorted(trajectories, key=lambda one: one.episode):
        groups.setdefault(Episode.of(trajectory).group, []).append(trajectory)
    return list(groups.values())


def _has_contrast(group: Sequence[Trajectory]) -> bool:
    return any(group_advantages([member.reward for member in group]))


def in_rounds(trajectories: Sequence[Trajectory], learning: dict[str, Any]) -> list[list[Trajectory]]:
    """As `recipes/gathering.py` samples them: the groups of a step, then as many as lacked contrast, within a cap.

    Without groups there is one round, in the order in which episodes ended, which is nearly that in which they began.
    """
    wanted, refills = int(learning.get("groups", 0)), int(learning.get("max_refills", 0))
    if not wanted:
        return [list(trajectories)]
    groups, rounds, kept, taken = _by_group(trajectories), list[list[Trajectory]](), 0, 0
    while chosen := groups[taken : min(taken + wanted - kept, wanted + refills)]:
        rounds.append([member for group in chosen for member in group])
        kept += sum(map(_has_contrast, chosen))
        taken += len(chosen)
    return rounds


def _seen(folder: RunFolder, files: dict[Path, list[Trajectory]]) -> Seen | None:
    """None where the run is not finished or lacks its times."""
    steps = {int(match[1]) for path in files if (match := STEP_FILE.match(path.name))}
    found = read_steps(folder.metrics)[0]
    rows = {row.step: row for row in found if isinstance(row, ReinforceRow) and row.step in steps}.values()
    parts = read_rows(folder.path / TIMES, read_time)[0] if not steps else []
    rollout_s = sum(row.rollout_s or 0.0 for row in rows) + sum(part.seconds for part in parts)
    if not rollout_s or len(rows) < len(steps):
        return None
    episodes = [episode for file in files.values() for episode in file]
    turns = [turn for episode in episodes for turn in episode.turns]
    return Seen(
        episodes=len(episodes),
        rollout_s=rollout_s,
        update_s=sum(row.update_s or 0.0 for row in rows),
        policy_s=sum(turn.policy_s for turn in turns) / len(turns),
        browser_s=sum(turn.browser_s for turn in turns) / len(turns),
    )

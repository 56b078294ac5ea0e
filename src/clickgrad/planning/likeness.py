"""A workload read off a run: its episodes by turns and tokens, and how long they really took, to compare with.

Only the shape goes into a prediction. Seconds of the run are read for the comparison alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clickgrad.errors import UserError
from clickgrad.learn.advantages import group_advantages
from clickgrad.planning.simulation import EpisodeLoad, TurnLoad
from clickgrad.planning.workload import Ids, Workload, comb_tokens, unseen_tokens, with_fresh
from clickgrad.report.episodes import Episode
from clickgrad.report.metrics import TIMES, read_rows
from clickgrad.report.runs import RunFolder
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Exit, Trajectory, Unparsable

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


@dataclass(frozen=True, slots=True)
class Likeness:
    model: str
    workloads: tuple[Workload, ...]  # one a step; one alone for an evaluation
    browsers: int
    scripted: bool  # no engine
    rank: int
    micro_tokens: int
    recompute: bool
    reference: bool
    ahead: bool
    seen: Seen | None  # None where the run is not finished or lacks its times

    @property
    def learns(self) -> bool:
        return any(workload.trained_tokens for workload in self.workloads)


def read_likeness(run: Path) -> Likeness:
    """Of a run of `reinforce`, of `evaluate`, of `clone` its demonstrations; of a run of `train` its reinforcement."""
    inner = run / "reinforce"
    folder = RunFolder(inner if inner.is_dir() else run, ".")
    by_file = [(path, TrajectoryFile(path).read()) for path in folder.trajectory_files]
    by_file = [(path, trajectories) for path, trajectories in by_file if any(one.turns for one in trajectories)]
    if not by_file:
        raise UserError(f"--like {run}: no trajectories there; give the run folder of a reinforce, train or evaluate")
    options, fault = folder.options()
    if fault or not options:
        raise UserError(f"--like {run}: {fault or 'no config.toml there'}")
    learning, concurrency = options.get("reinforce", {}), int(options.get("rollout", {}).get("concurrency", 1))
    workloads = [_workload(trajectories, learning) for _, trajectories in by_file]
    return Likeness(
        model=str(options.get("model", {}).get("path", "smollm2")),
        workloads=tuple(workloads),
        browsers=min(concurrency, DEMO_SESSIONS) if options.get("command") == "clone" else concurrency,
        scripted=all(one.policy.startswith("scripted:") for _, trajectories in by_file for one in trajectories),
        rank=int(options.get("lora", {}).get("rank", 0)),
        micro_tokens=int(learning.get("micro_tokens", 0)),
        recompute=bool(options.get("learner", {}).get("recompute")),
        reference=bool(learning.get("kl_beta")),
        ahead=bool(learning.get("max_staleness")),
        seen=_seen(folder, by_file),
    )


def _workload(trajectories: Sequence[Trajectory], learning: dict[str, Any]) -> Workload:
    rounds = in_rounds(trajectories, int(learning.get("groups", 0)), int(learning.get("max_refills", 0)))
    kept = [member for group in by_group(trajectories).values() if has_contrast(group) for member in group]
    samples = [turn.prompt_ids + turn.completion.ids for member in kept if member.usable for turn in member.turns]
    return Workload(_loads(rounds), _trained(samples, learning) if learning else 0)


def _trained(samples: Sequence[Ids], learning: dict[str, Any]) -> int:
    rows = learning.get("layout") == "rows"  # the little padding between turns of like length is left out
    tokens = sum(map(len, set(samples))) if rows else comb_tokens(samples, int(learning.get("micro_tokens", 0)))
    return tokens * int(learning.get("updates", 1))


def by_group(trajectories: Sequence[Trajectory]) -> dict[str, list[Trajectory]]:
    """By what `Episode.group` says; outside of training all are one group. In the order of tasks and members."""
    groups: dict[str, list[Trajectory]] = {}
    for trajectory in sorted(trajectories, key=lambda one: one.episode):
        groups.setdefault(Episode.of(trajectory).group or "", []).append(trajectory)
    return groups


def has_contrast(group: Sequence[Trajectory]) -> bool:
    return any(advantage is not None for advantage in group_advantages([member.reward for member in group]))


def in_rounds(trajectories: Sequence[Trajectory], wanted: int, max_refills: int) -> list[list[Trajectory]]:
    """As `recipes/gathering.py` samples them: `wanted` groups, then as many as lacked contrast, within a cap.

    Without groups there is one round, in the order in which episodes ended, which is nearly that in which they began.
    """
    if not wanted:
        return [list(trajectories)]
    groups = list(by_group(trajectories).values())
    rounds, taken, kept = [], 0, 0
    while taken < len(groups) and kept < wanted:
        count = min(wanted - kept, wanted + max_refills - taken)
        chosen = groups[taken : taken + count]
        if not chosen:
            break
        rounds.append([member for group in chosen for member in group])
        kept += sum(map(has_contrast, chosen))
        taken += count
    return rounds


def _loads(rounds: Sequence[Sequence[Trajectory]]) -> tuple[tuple[EpisodeLoad, ...], ...]:
    """Engines keep what they read for the whole step: what is unseen is counted in the order of rounds and turns."""
    places = sorted(
        (at, index, number)
        for at, episodes in enumerate(rounds)
        for number, episode in enumerate(episodes)
        for index in range(len(episode.turns))
    )
    unseen = unseen_tokens(rounds[at][number].turns[index].prompt_ids for at, index, number in places)
    fresh = dict(zip(places, unseen, strict=True))
    return tuple(
        tuple(
            EpisodeLoad(
                episode.episode,
                with_fresh(_turns(episode), [fresh[at, index, number] for index in range(len(episode.turns))]),
            )
            for number, episode in enumerate(episodes)
        )
        for at, episodes in enumerate(rounds)
    )


def _turns(trajectory: Trajectory) -> list[TurnLoad]:
    return [
        TurnLoad(
            fresh=0,
            context=len(turn.prompt_ids),
            reply=len(turn.completion.ids),
            acts=not (turn.paged or isinstance(turn.action, Exit | Unparsable)),
        )
        for turn in trajectory.turns
    ]


def _seen(folder: RunFolder, by_file: Sequence[tuple[Path, Sequence[Trajectory]]]) -> Seen | None:
    episodes = [trajectory for _, trajectories in by_file for trajectory in trajectories]
    turns = [turn for trajectory in episodes for turn in trajectory.turns]
    steps = {int(match[1]) for path, _ in by_file if (match := STEP_FILE.match(path.name))}
    rows = {row["step"]: row for row in read_rows(folder.metrics)[0]}
    if steps:
        if not steps <= rows.keys():
            return None  # a step is under way
        rollout_s, update_s = (sum(rows[step].get(name) or 0.0 for step in steps) for name in ("rollout_s", "update_s"))
    else:
        rollout_s, update_s = sum(row.get("seconds") or 0.0 for row in read_rows(folder.path / TIMES, "part")[0]), 0.0
    if not rollout_s:
        return None
    return Seen(
        episodes=len(episodes),
        rollout_s=rollout_s,
        update_s=update_s,
        policy_s=sum(turn.policy_s for turn in turns) / len(turns),
        browser_s=sum(turn.browser_s for turn in turns) / len(turns),
    )

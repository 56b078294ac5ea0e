"""The probe: the same tasks every few steps, greedily. Success of sampled episodes is mostly which tasks were drawn.

The tasks are taken out of the training split, so nothing is learned from them, and no test is looked at.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clickgrad.errors import UserError, warn
from clickgrad.report.stats import Pairs
from clickgrad.rollout.scheduler import Bounds, Play, Scheduler, Slot
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import probe_trajectories
from clickgrad.types import Opening, Task, Trajectory

WORSE_P = 0.05  # McNemar's, of a run that is worse than its start


def set_aside(tasks: Sequence[Task], count: int, seed: int) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """(tasks to train on, tasks to probe): of every template about as many, which ones is chance."""
    if count >= len(tasks):
        raise UserError(f"reinforce.probe_tasks={count}: there are only {len(tasks)} training tasks; take fewer")
    by_template = defaultdict[str, list[Task]](list)
    for task in tasks:
        by_template[task.template].append(task)
    for name, some in by_template.items():
        random.Random(f"{seed}/probe/{name}").shuffle(some)
    chosen: dict[str, Task] = {}
    while len(chosen) < count:
        for name in sorted(by_template):
            if by_template[name] and len(chosen) < count:
                task = by_template[name].pop()
                chosen[task.id] = task
    return tuple(task for task in tasks if task.id not in chosen), tuple(chosen.values())


@dataclass(frozen=True, slots=True)
class Probe:
    run: Path
    tasks: Sequence[Task]
    every: int
    bounds: Bounds
    seed: int

    def is_due(self, step: int) -> bool:
        return step % self.every == 0

    async def look(self, step: int, play: Play) -> list[Trajectory]:
        """Resumable: what its file holds is not played again."""
        file = TrajectoryFile(probe_trajectories(self.run, step))
        stored = {trajectory.episode: trajectory for trajectory in file.mend(warn)}
        slots = [Slot(f"probe-{step:04d}/{task.id}", task, self.seed, Opening(greedy=True)) for task in self.tasks]
        return await Scheduler(play, self.bounds, stored, file.append).fill(slots)

    def first(self) -> list[Trajectory]:
        """What the policy was like at the start: of every task its last try."""
        stored = TrajectoryFile(probe_trajectories(self.run, 0)).mend(warn)
        return list({trajectory.task.id: trajectory for trajectory in stored}.values())


def gain(before: Sequence[Trajectory], after: Sequence[Trajectory]) -> Pairs:
    """Of the tasks that were judged both times."""
    was = {one.task.id: one.reward == 1.0 for one in before if one.usable}
    both = [(was[one.task.id], one.reward == 1.0) for one in after if one.usable and one.task.id in was]
    return Pairs(*(both.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))))


def is_worse(pairs: Pairs) -> bool:
    """Six lost and none gained: p = 2 / 2^6 = 0.031. Five lost: 0.0625, which may be chance."""
    return pairs.only_a > pairs.only_b and pairs.p < WORSE_P

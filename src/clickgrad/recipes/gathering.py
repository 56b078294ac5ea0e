"""The episodes of a step: which tasks, in what order, refilled until enough groups have contrast.

All of it follows from the seed, the counters and the stored trajectories, so a resumed step is the same step.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice

from clickgrad.config import Config
from clickgrad.errors import warn
from clickgrad.learn.advantages import group_advantages
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.samples import refuse_foreign
from clickgrad.recipes.display import Ticker, say
from clickgrad.report.summary import success_rate
from clickgrad.rollout.scheduler import Play, Slot, fill_slots
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import End, Task, Trajectory

Group = list[Trajectory]
LEAST_CHANCE = 0.25  # of a task whose template always or never succeeds, when there is a curriculum


@dataclass(frozen=True, slots=True)
class Gathered:
    groups: tuple[Group, ...]
    kept: tuple[Group, ...]  # those with contrast
    tasks_taken: int
    episodes: tuple[Trajectory, ...]  # every try, crashed ones included
    fresh: tuple[Trajectory, ...]  # those sampled just now, not found in the folder
    seconds: float

    @property
    def sampled_tokens(self) -> int:
        return sum(len(turn.completion.ids) for episode in self.fresh for turn in episode.turns)

    def after(self, before: Progress) -> Progress:
        records = dict(before.records)
        for group in self.groups:
            template, rate = group[0].task.template, success_rate(group)
            passed, tried = records.get(template, (0, 0))
            records[template] = (passed + rate.passed, tried + rate.n)
        return replace(
            before,
            step=before.step + 1,
            tasks_taken=self.tasks_taken,
            episodes=before.episodes + len(self.episodes),
            crashed=before.crashed + sum(not episode.usable for episode in self.episodes),
            skipped_groups=before.skipped_groups + len(self.groups) - len(self.kept),
            records=records,
        )


async def gather(
    config: Config,
    tasks: Sequence[Task],
    play: Play,
    prompt_format: str,
    progress: Progress,
    file: TrajectoryFile,
    ticker: Ticker,
) -> Gathered:
    """The groups of the step after `progress`."""
    options, step, started = config.reinforce, progress.step + 1, time.monotonic()
    episodes = {trajectory.episode: trajectory for trajectory in file.mend(warn)}
    refuse_foreign(list(episodes.values()), prompt_format)
    fresh: list[Trajectory] = []
    groups: list[Group] = []
    kept: list[Group] = []
    taken, most = progress.tasks_taken, options.groups + options.max_refills

    def on_end(trajectory: Trajectory) -> None:
        file.append(trajectory)
        episodes[trajectory.episode] = trajectory
        fresh.append(trajectory)
        ticker.show(f"{len(episodes)} episodes, success {success_rate(episodes.values()).share}")

    while len(kept) < options.groups and len(groups) < most:
        wanted = min(options.groups - len(kept), most - len(groups))
        chosen = list(islice(_coming(config, tasks, taken, progress.records), wanted))
        slots = [
            Slot(f"step-{step:04d}/task-{index:05d}/member-{member}", task, config.seed)
            for index, task in chosen
            for member in range(options.group_size)
        ]
        filled = await fill_slots(
            slots,
            play,
            concurrency=config.rollout.concurrency,
            site_sessions=config.rollout.site_sessions,
            retries=config.rollout.retries,
            stored=dict(episodes),
            on_end=on_end,
        )
        taken = chosen[-1][0] + 1
        new = [filled[at : at + options.group_size] for at in range(0, len(filled), options.group_size)]
        groups += new
        kept += [group for group in new if has_contrast(group)]
    if len(kept) < options.groups:
        say(f"step {step}: only {len(kept)} of {options.groups} groups have both successes and failures")
    if unjudged := [episode for episode in episodes.values() if not episode.usable and episode.end is not End.CRASHED]:
        say(f"step {step}: {len(unjudged)} of {len(episodes)} episodes could not be judged: {unjudged[0].error}")
    seconds = time.monotonic() - started
    return Gathered(tuple(groups), tuple(kept), taken, tuple(episodes.values()), tuple(fresh), seconds)


def has_contrast(group: Group) -> bool:
    return any(advantage is not None for advantage in group_advantages([member.reward for member in group]))


def age(trajectory: Trajectory, version: int) -> int:
    """How many versions the policy is past the oldest of the episode's tokens; one without replies has none."""
    return max((version - turn.completion.policy_version for turn in trajectory.turns), default=0)


# --- the order of tasks ---------------------------------------------------------------------------------------------


def task_at(tasks: Sequence[Task], index: int, seed: int) -> Task:
    """The endless sequence of training tasks: epoch after epoch, each in an order of its own, none repeated within."""
    epoch, place = divmod(index, len(tasks))
    order = list(tasks)
    random.Random(f"{seed}/{epoch}").shuffle(order)
    return order[place]


def _coming(
    config: Config, tasks: Sequence[Task], taken: int, records: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[int, Task]]:
    """(place in the sequence, task) from `taken` on; a curriculum passes over some."""
    for index in count(taken):
        task = task_at(tasks, index, config.seed)
        if not config.reinforce.curriculum or _is_due(task, index, config.seed, records):
            yield index, task


def _is_due(task: Task, index: int, seed: int, records: Mapping[str, tuple[int, int]]) -> bool:
    """Tasks solved about half of the time teach most: the chance is 4 p (1 - p), and never below LEAST_CHANCE.

    p is of all tasks of the template so far: the same task hardly comes twice in a run.
    """
    passed, tried = records.get(task.template, (0, 0))
    if not tried:
        return True
    share = passed / tried
    draw = int.from_bytes(hashlib.sha256(f"{seed}/{index}/{task.id}".encode()).digest()[:4]) / 2**32
    return draw < max(LEAST_CHANCE, 4 * share * (1 - share))

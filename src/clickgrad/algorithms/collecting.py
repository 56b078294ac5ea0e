"""The episodes of a step: what an algorithm wants, played and stored. A resumed step is the same step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from clickgrad.algorithms.protocol import Algorithm, Group, GroupPlan
from clickgrad.errors import warn
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.samples import refuse_foreign
from clickgrad.report.summary import success_rate
from clickgrad.rollout.scheduler import Bounds, Play, Scheduler
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import End, Trajectory

OnShow = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Collected:
    groups: tuple[Group, ...]
    mixed: tuple[Group, ...]  # those with contrast
    episodes: tuple[Trajectory, ...]  # every try, crashed ones included
    fresh: tuple[Trajectory, ...]  # those sampled just now, not found in the folder
    seconds: float

    @property
    def sampled_tokens(self) -> int:
        return sum(len(turn.completion.ids) for episode in self.fresh for turn in episode.turns)

    def after(self, before: Progress) -> Progress:
        records = dict(before.records)
        for group in self.groups:
            passed, tried = records.get(group.plan.task.template, (0, 0))
            records[group.plan.task.template] = (passed + group.success.passed, tried + group.success.n)
        return replace(
            before,
            step=before.step + 1,
            tasks_taken=max(group.plan.index for group in self.groups) + 1,
            episodes=before.episodes + len(self.episodes),
            crashed=before.crashed + sum(not episode.usable for episode in self.episodes),
            skipped_groups=before.skipped_groups + len(self.groups) - len(self.mixed),
            records=records,
        )


@dataclass(frozen=True, slots=True)
class Collector:
    """Plays the steps of a run."""

    algorithm: Algorithm
    play: Play
    bounds: Bounds
    seed: int
    prompt_format: str
    show: OnShow  # what is going on

    async def collect(self, progress: Progress, file: TrajectoryFile) -> Collected:
        """The groups of the step after `progress`. Episodes that `file` holds already are not played again."""
        started = time.monotonic()
        episodes = {trajectory.episode: trajectory for trajectory in file.mend(warn)}
        refuse_foreign(list(episodes.values()), self.prompt_format)
        fresh: list[Trajectory] = []

        def on_end(trajectory: Trajectory) -> None:
            file.append(trajectory)
            episodes[trajectory.episode] = trajectory
            fresh.append(trajectory)
            self.show(f"{len(episodes)} episodes, success {success_rate(episodes.values()).share}")

        scheduler = Scheduler(self.play, self.bounds, dict(episodes), on_end)
        groups = await self._play_groups(progress, scheduler)
        mixed = tuple(group for group in groups if self.algorithm.has_contrast(group))
        self._say_unjudged(progress.step + 1, tuple(episodes.values()))
        return Collected(groups, mixed, tuple(episodes.values()), tuple(fresh), time.monotonic() - started)

    async def _play_groups(self, progress: Progress, scheduler: Scheduler) -> tuple[Group, ...]:
        """A group that the algorithm wants because of another begins as soon as that one has ended."""
        ended: dict[int, Group] = {}
        running: dict[asyncio.Task[list[Trajectory]], GroupPlan] = {}
        started: set[int] = set()
        try:
            while True:
                for plan in self.algorithm.plan(progress, [ended[index] for index in sorted(ended)]):
                    if plan.index not in started:
                        started.add(plan.index)
                        slots = plan.slots(progress.step + 1, self.seed)
                        running[asyncio.create_task(scheduler.fill(slots))] = plan
                if not running:
                    return tuple(ended[index] for index in sorted(ended))
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    plan = running.pop(task)
                    ended[plan.index] = Group(plan, tuple(task.result()))
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _say_unjudged(self, step: int, episodes: Sequence[Trajectory]) -> None:
        unjudged = [episode for episode in episodes if not episode.usable and episode.end is not End.CRASHED]
        if unjudged:
            warn(f"step {step}: {len(unjudged)} of {len(episodes)} episodes could not be judged: {unjudged[0].error}")

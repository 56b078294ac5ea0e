"""The episodes of a step: what an algorithm wants, played and stored. A resumed step is the same step."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from clickgrad.algorithms.beliefs import updated
from clickgrad.algorithms.protocol import Algorithm, Group, GroupPlan
from clickgrad.algorithms.starts import UNPLAYABLE, moved
from clickgrad.errors import warn
from clickgrad.learn.progress import Progress
from clickgrad.learn.samples import refuse_foreign
from clickgrad.report.summary import success_rate
from clickgrad.rollout.again import NOT_AGAIN
from clickgrad.rollout.scheduler import Bounds, Play, Scheduler, Slot
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import End, Trajectory

OnShow = Callable[[str], None]
KEPT = 2  # successes of a template, of those in one step
MOST_KEPT = 256


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
        seen = self._seen()
        records = dict(before.records)
        for template, (passed, failed) in seen.items():
            known, tried = records.get(template, (0, 0))
            records[template] = (known + passed, tried + passed + failed)
        return replace(
            before,
            step=before.step + 1,
            tasks_taken=max(group.plan.index for group in self.groups) + 1,
            episodes=before.episodes + len(self.episodes),
            crashed=before.crashed + sum(not episode.usable for episode in self.episodes),
            skipped_groups=before.skipped_groups + len(self.groups) - len(self.mixed),
            records=records,
            beliefs=updated(before.beliefs, seen),
            starts=self._starts(before.starts),
            kept=self._kept(before.kept),
        )

    def _seen(self) -> dict[str, tuple[int, int]]:
        """Of each template: tries from the task's own start that passed, and that failed."""
        seen: dict[str, tuple[int, int]] = {}
        for group in self.groups:
            rate = success_rate(group.from_the_start)
            if group.from_the_start:
                passed, failed = seen.get(group.plan.task.template, (0, 0))
                seen[group.plan.task.template] = passed + rate.passed, failed + rate.n - rate.passed
        return seen

    def _starts(self, before: Mapping[str, int]) -> dict[str, int]:
        levels = dict(before)
        for group in self.groups:
            if not group.plan.left:
                continue
            template, rate = group.plan.task.template, success_rate(group.trunks)
            level = levels.get(template, group.plan.left)
            if rate.n:
                levels[template] = moved(level, group.plan.left, rate.value)
            elif all(NOT_AGAIN in (member.error or "") for member in group.trunks):
                levels[template] = UNPLAYABLE
                warn(f"starts of {template} are at the beginning from here on: {group.trunks[0].error}")
        return levels

    def _kept(self, before: Sequence[str]) -> tuple[str, ...]:
        """The newest successes of each task, by name: their trajectories are in the files."""
        passed = [one for group in self.groups for one in group.from_the_start if one.reward == 1.0]
        room = Counter({one.task.template: KEPT for one in passed})
        new = []
        for one in reversed(passed):
            if room[one.task.template]:
                room[one.task.template] -= 1
                new.append(one.episode)
        return (*before, *reversed(new))[-MOST_KEPT:]


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
        """A group that the algorithm wants because of another begins as soon as that one has ended.

        One that it wants larger, because of how its first members ended, goes on with those that are missing.
        """
        ended: dict[int, Group] = {}
        running: dict[asyncio.Task[list[Trajectory]], GroupPlan] = {}
        begun: dict[int, int] = {}  # members of each group
        try:
            while True:
                for plan in self.algorithm.plan(progress, [ended[index] for index in sorted(ended)]):
                    slots = slots_of(plan, progress.step + 1, self.seed)[begun.get(plan.index, 0) :]
                    if slots:
                        begun[plan.index] = begun.get(plan.index, 0) + len(slots)
                        running[asyncio.create_task(scheduler.fill(slots))] = plan
                if not running:
                    return tuple(ended[index] for index in sorted(ended))
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    plan = running.pop(task)
                    before = ended[plan.index].members if plan.index in ended else ()
                    ended[plan.index] = Group(plan, (*before, *task.result()))
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _say_unjudged(self, step: int, episodes: Sequence[Trajectory]) -> None:
        unjudged = [episode for episode in episodes if not episode.usable and episode.end is not End.CRASHED]
        if unjudged:
            warn(f"step {step}: {len(unjudged)} of {len(episodes)} episodes could not be judged: {unjudged[0].error}")


def slots_of(plan: GroupPlan, step: int, seed: int) -> list[Slot]:
    """A place for each member: first those from the plan's opening, then its branches."""
    name = f"step-{step:04d}/task-{plan.index:05d}"
    openings = [plan.opening] * plan.size + list(plan.branches)
    return [Slot(f"{name}/member-{member}", plan.task, seed, opening) for member, opening in enumerate(openings)]

"""Rejudge: the stored ends of episodes before the checks as they are today. The trajectories stay as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clickgrad.backends.tasks import chosen_tasks
from clickgrad.codec import from_plain, to_plain
from clickgrad.config import Config, TasksSection
from clickgrad.errors import UserError
from clickgrad.integrity import write_whole
from clickgrad.report.index import SUFFIX, TrajectoryIndex
from clickgrad.report.runs import RunFolder, find_runs
from clickgrad.report.stats import Rate
from clickgrad.report.summary import success_rate
from clickgrad.tasks.checks import judge
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import Task, Trajectory, Verdict


@dataclass(frozen=True, slots=True)
class Second:
    """A second verdict on a stored episode."""

    trajectory: Trajectory
    verdict: Verdict
    checks: str  # present: the suite's of today; stored: the trajectory's own

    @property
    def changed(self) -> bool:
        return self.verdict.outcome is not self.trajectory.verdict.outcome

    def plain(self) -> dict[str, Any]:
        return {
            "before": self.trajectory.verdict.outcome.value,
            "after": self.verdict.outcome.value,
            "checks": self.checks,
            "results": [to_plain(result) for result in self.verdict.results],
        }


@dataclass(frozen=True, slots=True)
class Rejudgement:
    before: Rate
    after: Rate
    changed: tuple[tuple[str, str, str, str], ...]  # file, episode, before, after
    by_stored_checks: int
    without_evidence: int
    unreadable: tuple[str, ...]
    written: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        names = ("file", "episode", "before", "after")
        return {
            "judged": self.after.n + self.after.unjudged,
            "passed_before": self.before.passed,
            "passed_after": self.after.passed,
            "changed": [dict(zip(names, change, strict=True)) for change in self.changed],
            "by_stored_checks": self.by_stored_checks,
            "without_evidence": self.without_evidence,
            "unreadable": list(self.unreadable),
            "written": list(self.written),
        }

    def text(self) -> str:
        lines = [f"  {file}: {episode}: {before} -> {after}" for file, episode, before, after in self.changed]
        lines += [f"  skipped: {what}" for what in self.unreadable]
        return "\n".join(
            [
                f"before: {self.before}",
                f"after:  {self.after}",
                f"{len(self.changed)} verdicts changed; {self.by_stored_checks} judged by the checks stored with them, "
                f"{self.without_evidence} without evidence left as they were",
                *lines,
                *(f"written: {name}" for name in self.written),
            ]
        )


def rejudge(run: Path) -> Rejudgement:
    """Of a run and the stages below it."""
    if not run.is_dir():
        raise UserError(f"there is no run folder {run}")
    files = [(folder, path) for folder in find_runs(run) for path in folder.trajectory_files]
    if not files:
        raise UserError(f"{run} holds no trajectories: `clickgrad evaluate --run {run}` would put some there")
    seconds: list[tuple[str, Second]] = []
    unreadable: list[str] = []
    written: list[str] = []
    without = 0
    for folder, path in files:
        name = path.relative_to(run).as_posix()
        trajectories = list(_readable(path, name, unreadable))
        suites = _Suites(_tasks_of(folder))
        judged = [second for trajectory in trajectories if (second := suites.judge_again(trajectory))]
        without += len(trajectories) - len(judged)
        seconds += [(name, second) for second in judged]
        written += [str(file) for file in _write(path, judged)]
    return Rejudgement(
        before=success_rate(second.trajectory for _, second in seconds),
        after=success_rate(replace(second.trajectory, reward=second.verdict.reward) for _, second in seconds),
        changed=tuple(
            (name, second.trajectory.episode, second.trajectory.verdict.outcome.value, second.verdict.outcome.value)
            for name, second in seconds
            if second.changed
        ),
        by_stored_checks=sum(second.checks == "stored" for _, second in seconds),
        without_evidence=without,
        unreadable=tuple(unreadable),
        written=tuple(written),
    )


class _Suites:
    """The tasks of the bundled suites as they are today: those of the run as it drew them, in its universe."""

    def __init__(self, run: TasksSection) -> None:
        self._run = run
        self._known: dict[str, Mapping[str, Task]] = {}

    def judge_again(self, trajectory: Trajectory) -> Second | None:
        if trajectory.evidence is None:
            return None
        task = trajectory.task
        now = self._tasks(task.suite).get(task.id)
        # A task that asks for something else today, or at other addresses, says nothing about what was asked then.
        present = now is not None and (now.intent, now.start_url) == (task.intent, task.start_url)
        verdict = judge(now if now and present else task, trajectory.evidence)
        return Second(trajectory, verdict, "present" if present else "stored")

    def _tasks(self, suite: str) -> Mapping[str, Task]:
        if suite not in self._known:
            try:
                # A stored path is no leave to read, let alone to import, what lies there now.
                tasks = () if Path(suite).exists() else self._drawn(suite)
            except UserError:
                tasks = ()  # not bundled
            self._known[suite] = {task.id: task for task in tasks}
        return self._known[suite]

    def _drawn(self, suite: str) -> tuple[Task, ...]:
        if suite == self._run.suite:
            return chosen_tasks(Config(tasks=self._run), "all")
        return load_tasks(suite, "all", self._run.seed)


def _tasks_of(folder: RunFolder) -> TasksSection:
    """Which tasks the run had; of a run whose options cannot be read, those of the defaults."""
    try:
        return TasksSection.model_validate(folder.options()[0].get("tasks", {}))
    except ValueError:
        return TasksSection()


def _readable(path: Path, name: str, unreadable: list[str]) -> Iterator[Trajectory]:
    index = TrajectoryIndex(path)
    index.refresh()
    unreadable += [f"{name}: {what}" for what in index.skipped]
    for number, entry in enumerate(index.entries):
        try:
            yield from_plain(Trajectory, index.record(number))
        except (ValueError, OSError) as error:  # of the zstd frame, of JSON, of the shape of a trajectory
            unreadable.append(f"{name}: {entry.episode.name}: {error}")


def _write(path: Path, seconds: list[Second]) -> list[Path]:
    """`evaluate.rejudged-1.json` beside `evaluate.jsonl.zst`, then -2 and so on; nothing when nothing is new."""
    if not seconds:
        return []
    text = json.dumps({second.trajectory.episode: second.plain() for second in seconds}, indent=1) + "\n"
    stem, number = path.name.removesuffix(SUFFIX), 1
    while (file := path.with_name(f"{stem}.rejudged-{number}.json")).exists():
        number += 1
    last = path.with_name(f"{stem}.rejudged-{number - 1}.json")
    if last.exists() and last.read_text() == text:
        return []
    write_whole(file, text)
    return [file]

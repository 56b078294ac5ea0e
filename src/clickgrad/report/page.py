"""report.html and report.json of a run: made from what lies in its folder, self-contained, no script, no network.

A run that is under way, or partly unreadable, has a report too: of what can be read, with the rest named.
"""

from __future__ import annotations

import json
import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from clickgrad.integrity import write_whole
from clickgrad.report.chart import interval_chart, line_chart, share_chart
from clickgrad.report.compare import compare
from clickgrad.report.episodes import Episode, final_tries
from clickgrad.report.index import TrajectoryIndex, format_note
from clickgrad.report.metrics import read_rows, read_steps
from clickgrad.report.phases import NAMES, find_phases
from clickgrad.report.rows import (
    LEFT,
    CloneRow,
    LossRow,
    ReinforceRow,
    StepRow,
    metrics_of,
    read_loss,
    read_time,
)
from clickgrad.report.runs import RunFolder
from clickgrad.report.stats import Pairs
from clickgrad.report.strips import Strip, read_strips
from clickgrad.report.summary import EvalReport, summarize_episodes
from clickgrad.run_layout import (
    CLONE,
    EVALUATION,
    LOSSES,
    METRICS,
    REINFORCE,
    REPORT_JSON,
    REPORT_PAGE,
    TIMES,
    TRAJECTORIES,
)
from clickgrad.version import __version__

SHARES = (
    ("all failed", "all-0", "groups_all_0"),
    ("mixed", "mixed", "groups_mixed"),
    ("all passed", "all-1", "groups_all_1"),
)
TITLES = {
    "evaluate-start": "before cloning",
    "evaluate-clone": "after cloning",
    "evaluate-reinforce": "after reinforcement",
}
PACKAGES = ("torch", "transformers", "peft", "playwright", "zstandard")


@dataclass(frozen=True, slots=True)
class Part:
    """What one part of a run has cost, all sittings together."""

    name: str
    seconds: float
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    evaluations: tuple[tuple[str, EvalReport], ...]
    clone_metrics: tuple[CloneRow, ...]
    reinforce_metrics: tuple[ReinforceRow, ...]
    options: Mapping[str, Any]
    parts: tuple[Part, ...] = ()
    skipped: tuple[str, ...] = ()
    losses: tuple[LossRow, ...] = ()  # what a cluster lost, and what was done about it
    strips: tuple[Strip, ...] = ()  # a few episodes in pictures
    gain: Pairs | None = None  # of the last evaluation over the one before it

    def save(self, run: Path) -> None:
        write_whole(run / REPORT_JSON, json.dumps(self.plain(), indent=2, default=str) + "\n")
        self.save_page(run)

    def save_page(self, run: Path) -> None:
        write_whole(run / REPORT_PAGE, self.html(run.name))

    def plain(self) -> dict[str, Any]:
        return {
            "evaluations": {name: report.plain() for name, report in self.evaluations},
            "seconds": round(sum(part.seconds for part in self.parts), 1),
            "parts": {part.name: {"seconds": round(part.seconds, 1), "tokens": part.tokens} for part in self.parts},
            "phases": self.phases,
            "versions": versions(),
            "options": self.options,
            "skipped": list(self.skipped),
            "losses": [asdict(loss) for loss in self.losses],
        }

    def table(self) -> str:
        """For the terminal."""
        width = max(len(name) for name, _ in self.evaluations)
        return "\n".join(f"{name:<{width}}  {report.success}" for name, report in self.evaluations)

    @property
    def phases(self) -> tuple[float, float] | None:
        known = [(row.step, row.success) for row in self.reinforce_metrics]
        return find_phases([(step, success) for step, success in known if success is not None])

    def html(self, title: str) -> str:
        reports = [report for _, report in self.evaluations]
        return (
            environment()
            .get_template("report.html")
            .render(
                title=title,
                evaluations=self.evaluations,
                gain=self.gain,
                strips=self.strips,
                headline=interval_chart("Success with 95 % intervals", [(n, r.success) for n, r in self.evaluations]),
                sites=sorted({name for report in reports for name, _ in report.by_site}),
                templates=sorted({name for report in reports for name, _ in report.by_template}),
                ends=sorted({name for report in reports for name, _ in report.by_end}),
                causes=list(dict.fromkeys(cause for report in reversed(reports) for cause, _ in report.failures)),
                clone_charts=_charts(self.clone_metrics),
                charts=_charts(self.reinforce_metrics, self.phases),
                shares=_shares(self.reinforce_metrics),
                phases=_phase_names(self.phases, self.reinforce_metrics),
                starts=start_levels(self.reinforce_metrics),
                steps=self.reinforce_metrics,
                parts=self.parts,
                versions=versions(),
                options=json.dumps(self.options, indent=2, default=str),  # TOML has dates
                skipped=self.skipped,
                losses=self.losses,
            )
        )


def read_report(run: Path) -> RunReport:
    """Of the run and the stages below it."""
    folder = RunFolder(run, ".")
    options, complaint = folder.options()
    skipped = [complaint] if complaint else []
    evaluations = []
    played: list[list[Episode]] = []
    stages: list[Path] = []
    for stage in [run, *sorted(run.glob("evaluate-*"), key=_stage_order)]:
        if episodes := read_evaluation(stage, skipped):
            name = TITLES.get(stage.name, stage.name.removeprefix("evaluate-"))
            evaluations.append((name, summarize_episodes(episodes)))
            played.append(episodes)
            stages.append(stage)
    losses: list[LossRow] = []
    for stage in [run, *sorted(path for path in run.iterdir() if path.is_dir())]:
        rows, complaints = read_rows(stage / LOSSES, read_loss)
        losses += rows
        skipped += complaints
    steps: list[StepRow] = []
    for stage in (run, run / CLONE, run / REINFORCE):
        found, complaints = read_steps(stage / METRICS)
        steps += found
        skipped += complaints
    cloning = tuple(row for row in steps if isinstance(row, CloneRow))
    reinforcing = tuple(row for row in steps if isinstance(row, ReinforceRow))
    return RunReport(
        evaluations=tuple(evaluations),
        clone_metrics=cloning,
        reinforce_metrics=reinforcing,
        options=options,
        parts=_parts(run, cloning, reinforcing),
        skipped=tuple(skipped),
        losses=tuple(losses),
        strips=tuple(read_strips(stages, played)),
        gain=compare(*played[-2:]).pairs if len(played) > 1 else None,
    )


@cache
def environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("clickgrad.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def versions() -> dict[str, str]:
    found = {"clickgrad": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _stage_order(path: Path) -> tuple[int, str]:
    known = list(TITLES)
    return known.index(path.name) if path.name in known else len(known), path.name


def read_evaluation(stage: Path, skipped: list[str]) -> list[Episode]:
    """Empty where none lies; what cannot be read is added to `skipped`."""
    path = stage / TRAJECTORIES / EVALUATION
    if not path.is_file():
        return []
    index = TrajectoryIndex(path)
    index.refresh()
    skipped += [f"{stage.name}/{path.name}: {what}" for what in index.skipped]
    skipped += sorted(
        {f"{stage.name}/{path.name}: {note}" for entry in index.entries if (note := format_note(entry.format))}
    )
    return final_tries(entry.episode for entry in index.entries)


def _parts(run: Path, cloning: Sequence[CloneRow], reinforcing: Sequence[ReinforceRow]) -> tuple[Part, ...]:
    """Rollout and update are written down step by step, the rest by `times.jsonl` of each stage."""
    seconds: dict[str, float] = defaultdict(float)
    for stage in [run, *sorted(path for path in run.iterdir() if path.is_dir())]:
        for row in read_rows(stage / TIMES, read_time)[0]:
            seconds[row.part if stage == run else TITLES.get(stage.name, row.part)] += row.seconds
    parts = [Part(f"evaluation {name}" if name in TITLES.values() else name, spent) for name, spent in seconds.items()]
    if cloning:
        tokens = sum((step.seconds or 0.0) * (step.tokens_per_s or 0.0) for step in cloning)
        parts.append(Part("cloning", sum(step.seconds or 0.0 for step in cloning), round(tokens)))
    if reinforcing:
        sampled = sum((step.rollout_s or 0.0) * (step.sampled_tokens_per_s or 0.0) for step in reinforcing)
        trained = sum(step.trained_tokens or 0 for step in reinforcing)
        # Episodes that are sampled during an update cost no time of their own: only the waiting for them does.
        waited = sum((step.rollout_s if step.waited_s is None else step.waited_s) or 0.0 for step in reinforcing)
        parts.append(Part("rollout", waited, round(sampled)))
        parts.append(Part("update", sum(step.update_s or 0.0 for step in reinforcing), round(trained)))
    return tuple(parts)


def _charts(rows: Sequence[StepRow], borders: tuple[float, float] | None = None) -> list[Markup]:
    metrics = [metric for metric in metrics_of(rows) if metric.in_report]
    charts = [line_chart(metric.title, metric.points(rows), metric.top, borders) for metric in metrics]
    return [chart for chart in charts if chart]


def start_levels(rows: Sequence[ReinforceRow]) -> list[tuple[str, str]]:
    """Of each template whose episodes begin later: the turns left to do there, and from which step on.

    2 in step 3 and 4, then 3: "2 from step 3, 3 from step 5".
    """
    levels: dict[str, list[str]] = {}
    last: dict[str, float | None] = {}
    for row in rows:
        for name, left in row.more.items():
            if name.startswith(LEFT) and left is not None and last.get(name) != left:
                last[name] = left
                levels.setdefault(name.removeprefix(LEFT), []).append(f"{left:g} from step {row.step}")
    return [(template, ", ".join(changes)) for template, changes in sorted(levels.items())]


def _shares(rows: Sequence[ReinforceRow]) -> Markup:
    known = [row for row in rows if row.groups_mixed is not None]
    parts = [(name, kind, [getattr(row, metric) or 0 for row in known]) for name, kind, metric in SHARES]
    return share_chart("Groups by outcome", [row.step for row in known], parts)


def _phase_names(borders: tuple[float, float] | None, rows: Sequence[ReinforceRow]) -> list[tuple[str, str]]:
    """(name, steps) of each phase; empty when none were found."""
    if borders is None:
        return []
    second, third = borders
    ranges = (
        f"{rows[0].step:g} – {second - 1:g}",
        f"{second:g} – {third - 1:g}",
        f"{third:g} – {rows[-1].step:g}",
    )
    return list(zip(NAMES, ranges, strict=True))

"""report.html and report.json of a run: made from what lies in its folder, self-contained, no script, no network.

A run that is under way, or partly unreadable, has a report too: of what can be read, with the rest named.
"""

from __future__ import annotations

import json
import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from clickgrad.report.chart import interval_chart, line_chart, share_chart
from clickgrad.report.compare import compare
from clickgrad.report.episodes import Episode, final_tries
from clickgrad.report.index import TrajectoryIndex, format_note
from clickgrad.report.metrics import read_rows
from clickgrad.report.phases import NAMES, find_phases
from clickgrad.report.runs import RunFolder
from clickgrad.report.stats import Pairs
from clickgrad.report.strips import Strip, read_strips
from clickgrad.report.summary import EvalReport, summarize_episodes
from clickgrad.run_layout import EVALUATION, LOSSES, METRICS, REPORT_JSON, REPORT_PAGE, TIMES, TRAJECTORIES
from clickgrad.version import __version__

Rows = tuple[Mapping[str, Any], ...]

CURVES: tuple[tuple[str, str, float | None], ...] = (  # metric, title, ceiling of the axis if it has one
    ("success", "Success of sampled episodes", 1.0),
    ("mean_turns", "Turns per episode", None),
    ("mean_reply_tokens", "Tokens per reply", None),
    ("entropy", "Entropy per token", None),
    ("kl", "KL to the start", None),
    ("grad_norm", "Gradient norm", None),
)
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
    clone_metrics: Rows
    reinforce_metrics: Rows
    options: Mapping[str, Any]
    parts: tuple[Part, ...] = ()
    skipped: tuple[str, ...] = ()
    losses: Rows = ()  # what a cluster lost, and what was done about it
    strips: tuple[Strip, ...] = ()  # a few episodes in pictures
    gain: Pairs | None = None  # of the last evaluation over the one before it

    def save(self, run: Path) -> None:
        (run / REPORT_JSON).write_text(json.dumps(self.plain(), indent=2, default=str) + "\n")
        self.save_page(run)

    def save_page(self, run: Path) -> None:
        (run / REPORT_PAGE).write_text(self.html(run.name), "utf-8", errors="replace")

    def plain(self) -> dict[str, Any]:
        return {
            "evaluations": {name: report.plain() for name, report in self.evaluations},
            "seconds": round(sum(part.seconds for part in self.parts), 1),
            "parts": {part.name: {"seconds": round(part.seconds, 1), "tokens": part.tokens} for part in self.parts},
            "phases": self.phases,
            "versions": versions(),
            "options": self.options,
            "skipped": list(self.skipped),
            "losses": list(self.losses),
        }

    def table(self) -> str:
        """For the terminal."""
        width = max(len(name) for name, _ in self.evaluations)
        return "\n".join(f"{name:<{width}}  {report.success}" for name, report in self.evaluations)

    @property
    def phases(self) -> tuple[float, float] | None:
        return find_phases(_points(self.reinforce_metrics, "success"))

    def _charts(self) -> list[Markup]:
        phases = self.phases
        charts = (_chart(self.reinforce_metrics, metric, title, top, phases) for metric, title, top in CURVES)
        return [chart for chart in charts if chart]

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
                clone_chart=_chart(self.clone_metrics, "loss", "Loss of cloning", None),
                charts=self._charts(),
                shares=_shares(self.reinforce_metrics),
                phases=_phase_names(self.phases, self.reinforce_metrics),
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
    losses: list[Mapping[str, Any]] = []
    for stage in [run, *sorted(path for path in run.iterdir() if path.is_dir())]:
        rows, complaints = read_rows(stage / LOSSES, "kind")
        losses += rows
        skipped += complaints
    metrics: dict[str, Rows] = {"clone": (), "reinforce": ()}
    for stage in (run, run / "clone", run / "reinforce"):
        rows, complaints = read_rows(stage / METRICS)
        skipped += complaints
        if rows:
            metrics["reinforce" if "success" in rows[-1] else "clone"] = tuple(rows)
    return RunReport(
        evaluations=tuple(evaluations),
        clone_metrics=metrics["clone"],
        reinforce_metrics=metrics["reinforce"],
        options=options,
        parts=_parts(run, metrics),
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


def _parts(run: Path, metrics: Mapping[str, Rows]) -> tuple[Part, ...]:
    """Rollout and update are written down step by step, the rest by `times.jsonl` of each stage."""
    seconds: dict[str, float] = defaultdict(float)
    for stage in [run, *sorted(path for path in run.iterdir() if path.is_dir())]:
        for row in read_rows(stage / TIMES, "part")[0]:
            name = str(row["part"])
            seconds[name if stage == run else TITLES.get(stage.name, name)] += _number(row, "seconds")
    parts = [Part(f"evaluation {name}" if name in TITLES.values() else name, spent) for name, spent in seconds.items()]
    if rows := metrics["clone"]:
        tokens = sum(_number(row, "seconds") * _number(row, "tokens_per_s") for row in rows)
        parts.append(Part("cloning", sum(_number(row, "seconds") for row in rows), round(tokens)))
    if rows := metrics["reinforce"]:
        sampled = sum(_number(row, "rollout_s") * _number(row, "sampled_tokens_per_s") for row in rows)
        trained = sum(_number(row, "trained_tokens") for row in rows)
        # Episodes that are sampled during an update cost no time of their own: only the waiting for them does.
        waited = sum(_number(row, "waited_s" if "waited_s" in row else "rollout_s") for row in rows)
        parts.append(Part("rollout", waited, round(sampled)))
        parts.append(Part("update", sum(_number(row, "update_s") for row in rows), round(trained)))
    return tuple(parts)


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _points(rows: Sequence[Mapping[str, Any]], metric: str) -> list[tuple[float, float]]:
    return [(row["step"], row[metric]) for row in rows if isinstance(row.get(metric), int | float)]


def _chart(
    rows: Sequence[Mapping[str, Any]],
    metric: str,
    title: str,
    ceiling: float | None,
    borders: tuple[float, float] | None = None,
) -> Markup:
    return line_chart(title, _points(rows, metric), ceiling, borders)


def _shares(rows: Sequence[Mapping[str, Any]]) -> Markup:
    known = [row for row in rows if "groups_mixed" in row]
    parts = [(name, kind, [_number(row, metric) for row in known]) for name, kind, metric in SHARES]
    return share_chart("Groups by outcome", [row["step"] for row in known], parts)


def _phase_names(borders: tuple[float, float] | None, rows: Rows) -> list[tuple[str, str]]:
    """(name, steps) of each phase; empty when none were found."""
    if borders is None:
        return []
    second, third = borders
    ranges = (
        f"{rows[0]['step']:g} – {second - 1:g}",
        f"{second:g} – {third - 1:g}",
        f"{third:g} – {rows[-1]['step']:g}",
    )
    return list(zip(NAMES, ranges, strict=True))

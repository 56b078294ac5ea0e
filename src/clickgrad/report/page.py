"""report.html and report.json of a training run: self-contained, no script, no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from clickgrad.report.chart import line_chart
from clickgrad.report.summary import EvalReport

CURVES = (  # metric, title, ceiling of the axis if it has one
    ("success", "Success of sampled episodes", 1.0),
    ("mean_turns", "Turns per episode", None),
    ("mean_reply_tokens", "Tokens per reply", None),
    ("entropy", "Entropy per token", None),
    ("kl", "KL to the start", None),
    ("grad_norm", "Gradient norm", None),
)


@dataclass(frozen=True, slots=True)
class TrainReport:
    evaluations: tuple[tuple[str, EvalReport], ...]
    clone_metrics: tuple[Mapping[str, Any], ...]
    reinforce_metrics: tuple[Mapping[str, Any], ...]
    options: Mapping[str, Any]
    seconds: float

    def save(self, run: Path) -> None:
        evaluations = {name: report.plain() for name, report in self.evaluations}
        plain = {"evaluations": evaluations, "seconds": round(self.seconds, 1), "options": self.options}
        (run / "report.json").write_text(json.dumps(plain, indent=2) + "\n")
        (run / "report.html").write_text(self.html(run.name))

    def table(self) -> str:
        """For the terminal."""
        width = max(len(name) for name, _ in self.evaluations)
        return "\n".join(f"{name:<{width}}  {report.success}" for name, report in self.evaluations)

    def html(self, title: str) -> str:
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("clickgrad.report"), autoescape=True, undefined=jinja2.StrictUndefined
        )
        charts = [_chart(self.reinforce_metrics, *curve) for curve in CURVES]
        return environment.get_template("report.html").render(
            title=title,
            evaluations=self.evaluations,
            templates=[name for name, _ in self.evaluations[-1][1].by_template],
            clone_chart=_chart(self.clone_metrics, "loss", "Loss of cloning", None),
            charts=charts,
            steps=self.reinforce_metrics,
            options=json.dumps(self.options, indent=2),
            seconds=self.seconds,
        )


def _chart(rows: Sequence[Mapping[str, Any]], metric: str, title: str, ceiling: float | None) -> Markup:
    points = [(row["step"], row[metric]) for row in rows if row.get(metric) is not None]
    return line_chart(title, points, ceiling)

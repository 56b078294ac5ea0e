"""What a study says, in every form it is read in: report.json, Markdown, the terminal, a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from clickgrad.integrity import write_whole
from clickgrad.report.page import environment, versions
from clickgrad.report.tables import Table
from clickgrad.run_layout import REPORT_JSON, REPORT_PAGE

Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StudyReport:
    study: str
    title: str
    tables: tuple[tuple[str, Table], ...]
    figures: Plain
    notes: tuple[str, ...]
    options: Mapping[str, Any]
    charts: tuple[tuple[Markup, tuple[str, ...]], ...] = ()  # each with the names of its curves
    skipped: tuple[str, ...] = ()

    @property
    def unmeasured(self) -> int:
        """Evaluations of which no episode could be judged."""
        return _unmeasured(self.figures)

    def save(self, run: Path) -> None:
        """report.json, report.md and report.html."""
        write_whole(run / REPORT_JSON, json.dumps(self.plain(), indent=2, default=str) + "\n")
        write_whole(run / "report.md", self.markdown())
        write_whole(run / REPORT_PAGE, self.html(run.name))

    def plain(self) -> Plain:
        return {
            "study": self.study,
            **self.figures,
            "notes": list(self.notes),
            "options": self.options,
            "versions": versions(),
            "skipped": list(self.skipped),
        }

    def markdown(self) -> str:
        parts = [f"# {self.title}", *(f"## {name}\n\n{table.markdown()}" for name, table in self.tables), *self._said()]
        return "\n\n".join(parts) + "\n"

    def text(self) -> str:
        """For the terminal."""
        parts = [self.title, *(f"{name}\n{table.text()}" for name, table in self.tables), *self._said()]
        return "\n\n".join(parts)

    def html(self, name: str) -> str:
        return (
            environment()
            .get_template("study.html")
            .render(study=self, name=name, options=json.dumps(self.options, indent=2, default=str))
        )

    def _said(self) -> list[str]:
        return [*self.notes, *(f"not read: {what}" for what in self.skipped)]


def _unmeasured(figures: Any) -> int:
    if isinstance(figures, list):
        return sum(map(_unmeasured, figures))
    if not isinstance(figures, dict):
        return 0
    success = figures.get("success")
    own = isinstance(success, dict) and success.get("n") == 0
    return own + sum(map(_unmeasured, figures.values()))

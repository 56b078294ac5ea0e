"""The study of the baselines as tables: ours after the same minutes and after the same episodes, beside the papers'."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clickgrad.report import paper
from clickgrad.report.forks import CLONING, Arm, forks_table, read_arms
from clickgrad.report.summary import plain_rate, success_rate
from clickgrad.report.tables import Table

Plain = dict[str, Any]
OFFLINE = ("filtered-bc-offline", "awr-offline")
BUDGETS = {
    "minutes": "Success after the same minutes",
    "episodes": "Success after the same episodes",
}


def baseline_tables(
    run: Path, options: Mapping[str, Any], skipped: list[str]
) -> tuple[tuple[tuple[str, Table], ...], Plain]:
    told = options.get("baselines", {})
    tables, figures = list[tuple[str, Table]](), Plain()
    for budget, title in BUDGETS.items():
        if not told.get(budget):
            continue
        left_out = OFFLINE if budget == "minutes" else (CLONING,)
        keys = [key for key in told.get("arms", ()) if key not in left_out]
        clones, arms = read_arms(run, told.get("seeds", ()), keys, skipped, below=budget)
        cloning = next((arm for arm in arms if arm.key == CLONING and arm.after), None)
        tables.append((title, forks_table(clones, arms)))
        figures["clone"] = [plain_rate(success_rate(episodes)) for episodes in clones]
        figures[budget] = {arm.key: arm.plain(cloning) | _values(arm) for arm in arms if arm.after}
    tables.append(("What the papers report", _papers_table()))
    figures["paper"] = [{"name": name, "success": success, "how": how} for name, success, how in paper.BASELINES]
    return tuple(tables), figures


def _values(arm: Arm) -> Plain:
    """How well new episodes were foreseen, in the last phase that says."""
    found: Plain = {}
    for name in ("value_brier", "value_auc"):
        known = [value for row in arm.rows if (value := getattr(row, name, None)) is not None]
        found[name] = known[-1] if known else None
    return found


def _papers_table() -> Table:
    rows = tuple((name, f"{success:.1f}", how) for name, success, how in paper.BASELINES)
    return Table(("Llama3.1-8B on WebArena-Lite", "success", "how it came about"), rows)

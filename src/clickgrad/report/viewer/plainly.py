"""Verdicts in words, for the page. The first one about a universe takes a moment: it has to be built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clickgrad.codec import CodecError, from_plain
from clickgrad.tasks.telling import names_of, tell
from clickgrad.types import Evidence, Task

NAMED = "pocket"  # suites whose rows have names


def tell_plainly(task: Any, evidence: Any, universe: int | None) -> str:
    """Of stored values. "" for those of another version, or when nothing has to be said."""
    try:
        judged, found = from_plain(Task, task), from_plain(Evidence, evidence)
    except CodecError:
        return ""
    return tell(judged, found, None if universe is None else names_of(universe))


def universe_of(options: Mapping[str, Any], task: Any) -> int | None:
    """By the options of a run: None where the sites are not the bundled ones, or nobody says which universe it was."""
    tasks = options.get("tasks")
    suite = str(task.get("suite", "")) if isinstance(task, dict) else ""
    if not suite.startswith(NAMED) or not isinstance(tasks, dict):
        return None
    seed = tasks.get("seed", 0)
    return seed if isinstance(seed, int) else None

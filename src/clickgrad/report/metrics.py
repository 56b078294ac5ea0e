"""metrics.jsonl: one JSON object a step, appended as steps end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Metrics:
    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[dict[str, Any]]:
        """Whole lines only: a kill can tear the last one."""
        if not self._path.exists():
            return []
        lines = self._path.read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def append(self, figures: Mapping[str, Any]) -> None:
        with open(self._path, "a") as file:
            file.write(json.dumps({name: _short(value) for name, value in figures.items()}) + "\n")

    def rewind(self, step: int) -> None:
        """Forget what was written after `step`: those steps are about to be taken again."""
        kept = [line for line in self.read() if line["step"] <= step]
        partial = self._path.with_suffix(".partial")
        partial.write_text("".join(json.dumps(line) + "\n" for line in kept))
        partial.replace(self._path)


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value

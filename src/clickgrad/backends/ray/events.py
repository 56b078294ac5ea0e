"""What was lost and what was done about it, told to the user and kept in the run's folder."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from clickgrad.run_layout import LOSSES


class Events:
    def __init__(self, run: Path, tell: Callable[[str], None]) -> None:
        self.run = run
        self._path = run / LOSSES
        self._tell = tell
        self.counts: Counter[str] = Counter()

    def note(self, kind: str, what: str, then: str) -> None:
        self.counts[kind] += 1
        row = {"time": time.time(), "kind": kind, "what": what, "then": then}
        with self._path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self._tell(f"{kind}: {what}; {then}")

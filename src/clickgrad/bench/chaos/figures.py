"""What a storm has shown: faults by kind, and the totals that must be zero."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

TOTALS = ("hangs", "orphans", "false_rewards", "lost_episodes", "wrong_denominators", "differs_after_resume")


@dataclass(slots=True)
class ChaosFigures:
    injected: int = 0
    kinds: dict[str, dict[str, int]] = field(default_factory=dict)
    hangs: int = 0
    orphans: int = 0
    false_rewards: int = 0
    lost_episodes: int = 0
    wrong_denominators: int = 0
    differs_after_resume: int = 0
    episodes: int = 0  # stored, every try counted
    sittings: int = 0
    seconds: float = 0.0
    skipped: dict[str, str] = field(default_factory=dict)  # kinds that cannot be had here, and why
    findings: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not any(getattr(self, name) for name in TOTALS)

    def count(self, kind: str, what: str) -> None:
        self.kinds.setdefault(kind, {"injected": 0, "survived": 0})[what] += 1
        self.injected += what == "injected"

    def find(self, total: str, lines: Sequence[str]) -> None:
        setattr(self, total, getattr(self, total) + len(lines))
        self.findings += lines

    def text(self) -> str:
        width = max(map(len, (*self.kinds, *TOTALS)), default=0)
        rows = [
            f"{kind:<{width}}  {c['injected']:>3} injected  {c['survived']:>3} survived"
            for kind, c in self.kinds.items()
        ]
        rows += [f"{kind:<{width}}  skipped: {why}" for kind, why in self.skipped.items()]
        totals = [f"{name:<{width}}  {getattr(self, name)}" for name in TOTALS]
        said = (
            f"{self.injected} faults of {len(self.kinds)} kinds, {self.episodes} episodes, {self.sittings} sittings, "
        )
        return "\n".join([*rows, "", *totals, "", *self.findings, f"{said}{self.seconds:.0f} s"])


def as_json(figures: ChaosFigures) -> str:
    return json.dumps({name: getattr(figures, name) for name in ChaosFigures.__dataclass_fields__})

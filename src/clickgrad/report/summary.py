"""Trajectories of an evaluation to its figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clickgrad.report.stats import Rate
from clickgrad.types import Trajectory


@dataclass(frozen=True, slots=True)
class EvalReport:
    policy: str
    success: Rate
    by_template: tuple[tuple[str, Rate], ...]
    by_site: tuple[tuple[str, Rate], ...]
    ends: tuple[tuple[str, int], ...]
    mean_turns: float
    mean_reply_tokens: float
    mean_seconds: float

    def plain(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "success": _plain_rate(self.success),
            "by_template": {name: _plain_rate(rate) for name, rate in self.by_template},
            "by_site": {name: _plain_rate(rate) for name, rate in self.by_site},
            "ends": dict(self.ends),
            "mean_turns": round(self.mean_turns, 3),
            "mean_reply_tokens": round(self.mean_reply_tokens, 3),
            "mean_seconds": round(self.mean_seconds, 3),
        }

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self.plain(), indent=2) + "\n")


def summarize(trajectories: Sequence[Trajectory]) -> EvalReport:
    turns = [turn for trajectory in trajectories for turn in trajectory.turns]
    return EvalReport(
        policy=trajectories[0].policy if trajectories else "",
        success=success_rate(trajectories),
        by_template=_by(trajectories, lambda trajectory: trajectory.task.template),
        by_site=_by(trajectories, lambda trajectory: "+".join(trajectory.task.sites)),
        ends=tuple(sorted(Counter(trajectory.end.value for trajectory in trajectories).items())),
        mean_turns=len(turns) / max(1, len(trajectories)),
        mean_reply_tokens=sum(len(turn.completion.ids) for turn in turns) / max(1, len(turns)),
        mean_seconds=sum(trajectory.seconds for trajectory in trajectories) / max(1, len(trajectories)),
    )


def success_rate(trajectories: Iterable[Trajectory]) -> Rate:
    rewards = [trajectory.reward for trajectory in trajectories]
    judged = [reward for reward in rewards if reward is not None]
    return Rate(sum(reward == 1.0 for reward in judged), len(judged), len(rewards) - len(judged))


def _by(trajectories: Sequence[Trajectory], key: Callable[[Trajectory], str]) -> tuple[tuple[str, Rate], ...]:
    names = sorted({key(trajectory) for trajectory in trajectories})
    return tuple((name, success_rate(t for t in trajectories if key(t) == name)) for name in names)


def _plain_rate(rate: Rate) -> dict[str, Any]:
    low, high = rate.interval
    return {
        "rate": round(rate.value, 4),
        "passed": rate.passed,
        "n": rate.n,
        "low": round(low, 4),
        "high": round(high, 4),
        "infra_failed": rate.infra_failed,
    }

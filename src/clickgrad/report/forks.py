"""The arms of a study as tables: what each came to after the same clone and budget, pooled over the seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clickgrad.report.compare import Pooled, compare
from clickgrad.report.episodes import Episode
from clickgrad.report.metrics import read_steps
from clickgrad.report.page import read_evaluation
from clickgrad.report.rows import StepRow, plain
from clickgrad.report.stats import Pairs, Rate
from clickgrad.report.summary import plain_rate, success_rate
from clickgrad.report.tables import Table
from clickgrad.run_layout import METRICS

Plain = dict[str, Any]
CLONING = "cloning"  # the arm that only goes on cloning
NAMES = {
    CLONING: "cloning continued",
    "paper": "M-GRPO as in the paper",
    "evidence": "steps by evidence, tasks worth sampling",
    "starts": "… and starts along demonstrations",
    "branches": "… and branches",
    "replay": "… and successes kept",
    "all": "… and all three",
    "filtered-bc-offline": "Filtered BC, offline",
    "awr-offline": "AWR, offline",
    "filtered-bc": "Filtered BC",
    "awr": "AWR",
    "digirl": "DigiRL",
    "webrl-paper": "WebRL, its paper's loss",
    "webrl-code": "WebRL, its code's loss",
    "m-grpo": "M-GRPO",
}
ENDS = "evaluate-after"


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm over all seeds that have come so far."""

    key: str
    before: tuple[Sequence[Episode], ...]  # the clone's, seed by seed
    after: tuple[Sequence[Episode], ...]
    rows: tuple[StepRow, ...]  # of all seeds, step by step

    @property
    def success(self) -> Rate:
        return success_rate(episode for episodes in self.after for episode in episodes)

    @property
    def gain(self) -> Pairs:
        return Pooled(tuple(compare(a, b) for a, b in zip(self.before, self.after, strict=True))).pairs

    def total(self, name: str) -> float:
        return sum(value for row in self.rows if isinstance(value := plain(row).get(name), int | float))

    @property
    def mixed_share(self) -> float | None:
        groups = self.total("groups_all_0") + self.total("groups_mixed") + self.total("groups_all_1")
        return self.total("groups_mixed") / groups if groups else None

    def plain(self, against: Arm | None) -> Plain:
        return {
            "name": NAMES[self.key],
            "seeds": len(self.after),
            "success": plain_rate(self.success),
            "by_seed": [plain_rate(success_rate(episodes)) for episodes in self.after],
            "over_clone": _plain_pairs(self.gain),
            "over_cloning": _plain_pairs(beyond(against, self)) if against and against.key != self.key else None,
            "steps": len(self.rows),
            "groups_mixed": self.total("groups_mixed"),
            "mixed_share": self.mixed_share,
            "sampled_tokens": self.total("sampled_tokens"),
            "trained_tokens": self.total("trained_tokens"),
            "minutes": round(_minutes(self.rows), 2),
        }


def beyond(one: Arm, other: Arm) -> Pairs:
    """Of another arm over this one, on the seeds that both have."""
    return Pooled(tuple(compare(a, b) for a, b in zip(one.after, other.after, strict=False))).pairs


def read_arms(
    run: Path, numbers: Iterable[int], keys: Iterable[str], skipped: list[str], below: str = "."
) -> tuple[list[Sequence[Episode]], list[Arm]]:
    """The clones' evaluations, seed by seed, and the arms, whose folders are `below` a seed's."""
    seeds = [run / f"seed-{seed}" for seed in numbers]
    clones = {seed: read_evaluation(seed / "evaluate-clone", skipped) for seed in seeds}
    arms = []
    for key in keys:
        ended = {seed: read_evaluation(seed / below / key / ENDS, skipped) for seed in seeds}
        done = [seed for seed in seeds if ended[seed]]
        rows: list[StepRow] = []
        for seed in done:
            found, complaints = read_steps(seed / below / key / ("clone" if key == CLONING else "reinforce") / METRICS)
            rows += found
            skipped += complaints
        before, after = (tuple(some[seed] for seed in done) for some in (clones, ended))
        arms.append(Arm(key, before, after, tuple(rows)))
    return [clones[seed] for seed in seeds if clones[seed]], arms


def forks_table(clones: Sequence[Sequence[Episode]], arms: Sequence[Arm]) -> Table:
    header = ("Arm", "n", "success", "over the clone", "p", "over cloning on", "p", "steps", "mixed groups", "tokens")
    start = success_rate(episode for episodes in clones for episode in episodes)
    cloning = next((arm for arm in arms if arm.key == CLONING and arm.after), None)
    rows = [("the clone", str(start.n), _rate(start), *["–"] * 7)]
    for arm in arms:
        other = beyond(cloning, arm) if cloning and arm is not cloning and arm.after else None
        mixed = "–" if arm.mixed_share is None else f"{arm.total('groups_mixed'):.0f} ({arm.mixed_share:.0%})"
        tokens = f"{arm.total('sampled_tokens') / 1000:.0f} k" if arm.total("sampled_tokens") else "–"
        rows.append(
            (
                NAMES[arm.key],
                str(arm.success.n),
                _rate(arm.success),
                *_gain(arm.gain),
                *_gain(other),
                str(len(arm.rows)) if arm.rows else "–",
                mixed,
                tokens,
            )
        )
    return Table(header, tuple(rows))


def _minutes(rows: Sequence[StepRow]) -> float:
    """By the run's clock, which counts on from step to step."""
    total = last = 0.0
    for row in rows:
        spent = plain(row).get("spent_s")
        if isinstance(spent, int | float):
            total += spent - last if spent >= last else spent  # the next seed begins anew
            last = spent
    return total / 60


def _rate(rate: Rate) -> str:
    if not rate.n:
        return "–"
    low, high = rate.interval
    return f"{100 * rate.value:.1f} ({100 * low:.1f} – {100 * high:.1f}{rate.lost and f', {rate.lost}'})"


def _gain(pairs: Pairs | None) -> tuple[str, str]:
    if pairs is None or not pairs.n:
        return "–", "–"
    low, high = pairs.interval
    return f"{100 * pairs.difference:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})", f"{pairs.p:.3g}"


def _plain_pairs(pairs: Pairs) -> Plain:
    low, high = pairs.interval
    return {
        "pairs": pairs.n,
        "difference": round(pairs.difference, 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "mcnemar_p": pairs.p,
        "gained": pairs.only_b,
        "lost": pairs.only_a,
    }

"""Two evaluations against each other, episode by episode: the same task and attempt make a pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clickgrad.report.episodes import Episode, final_tries
from clickgrad.report.stats import Pairs, Rate
from clickgrad.report.summary import success_rate
from clickgrad.report.tables import Table

SHOWN = 20  # names of a kind in the terminal; JSON has them all


@dataclass(frozen=True, slots=True)
class Comparison:
    """A is the one before, B the one after: a positive difference is a gain.

    Pairs count as independent. Several attempts at one task are not quite, so the interval is then somewhat narrow.
    """

    policies: tuple[str, str]
    rates: tuple[Rate, Rate]  # of the pairs, and of nothing else
    pairs: Pairs
    gained: tuple[str, ...]  # task/attempt that only B passes
    lost: tuple[str, ...]  # task/attempt that only A passes
    unpaired: tuple[tuple[str, str], ...]  # (task/attempt, why)

    def plain(self) -> dict[str, Any]:
        low, high = self.pairs.interval
        return {
            "a": {"policy": self.policies[0], "rate": round(self.rates[0].value, 4)},
            "b": {"policy": self.policies[1], "rate": round(self.rates[1].value, 4)},
            "pairs": self.pairs.n,
            "difference": round(self.pairs.difference, 4),
            "low": round(low, 4),
            "high": round(high, 4),
            "mcnemar_p": self.pairs.p,
            "both": self.pairs.both,
            "neither": self.pairs.neither,
            "gained": list(self.gained),
            "lost": list(self.lost),
            "unpaired": dict(self.unpaired),
        }

    def text(self) -> str:
        low, high = self.pairs.interval
        table = Table(
            ("", "policy", "success of the pairs"),
            tuple(
                (side, policy, str(rate)) for side, policy, rate in zip("AB", self.policies, self.rates, strict=True)
            ),
        )
        flips = (
            f"{len(self.gained)} gained, {len(self.lost)} lost, {self.pairs.both} pass and {self.pairs.neither} fail"
        )
        parts = [
            table.text(),
            f"B - A: {100 * self.pairs.difference:+.1f} points (95 % CI {100 * low:+.1f} to {100 * high:+.1f}), "
            f"McNemar p = {self.pairs.p:.3g}, {self.pairs.n} pairs: {flips} in both",
            *_listed("gained", self.gained),
            *_listed("lost", self.lost),
            *_listed("unpaired", [f"{name}: {why}" for name, why in self.unpaired]),
        ]
        return "\n\n".join(parts)


def compare(a: Sequence[Episode], b: Sequence[Episode]) -> Comparison:
    before, after = _by_attempt(a), _by_attempt(b)
    unpaired = [(name, "only in B") for name in after if name not in before]
    pairs: list[tuple[str, Episode, Episode]] = []
    for name, one in before.items():
        other = after.get(name)
        reason = _obstacle(one, other)
        if other is None or reason:
            unpaired.append((name, reason))
        else:
            pairs.append((name, one, other))
    gained = tuple(name for name, one, other in pairs if one.reward != 1.0 and other.reward == 1.0)
    lost = tuple(name for name, one, other in pairs if one.reward == 1.0 and other.reward != 1.0)
    both = sum(one.reward == other.reward == 1.0 for _, one, other in pairs)
    return Comparison(
        policies=(a[0].policy if a else "", b[0].policy if b else ""),
        rates=(success_rate(one for _, one, _ in pairs), success_rate(other for _, _, other in pairs)),
        pairs=Pairs(both, len(lost), len(gained), len(pairs) - both - len(lost) - len(gained)),
        gained=gained,
        lost=lost,
        unpaired=tuple(sorted(unpaired)),
    )


def _by_attempt(episodes: Iterable[Episode]) -> Mapping[str, Episode]:
    return {episode.slot: episode for episode in final_tries(episodes)}


def _obstacle(one: Episode, other: Episode | None) -> str:
    if other is None:
        return "only in A"
    if one.intent != other.intent:
        return "the task reads differently in the two runs"
    without = [side for side, episode in (("A", one), ("B", other)) if not episode.usable]
    return f"no verdict in {' and '.join(without)}" if without else ""


def _listed(title: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    more = [f"  … and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return ["\n".join([f"{title} ({len(names)}):", *(f"  {name}" for name in names[:SHOWN]), *more])]

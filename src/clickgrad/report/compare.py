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
        return {
            "a": {"policy": self.policies[0], "rate": round(self.rates[0].value, 4)},
            "b": {"policy": self.policies[1], "rate": round(self.rates[1].value, 4)},
            **_plain_difference(self.pairs),
            "gained": list(self.gained),
            "lost": list(self.lost),
            "unpaired": dict(self.unpaired),
        }

    def text(self) -> str:
        table = Table(
            ("", "policy", "success of the pairs"),
            tuple(
                (side, policy, str(rate)) for side, policy, rate in zip("AB", self.policies, self.rates, strict=True)
            ),
        )
        parts = [
            table.text(),
            _difference(self.pairs),
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


@dataclass(frozen=True, slots=True)
class Pooled:
    """Several comparisons, say of three seeds, as one. Pairs of the same task count as independent, too."""

    comparisons: tuple[Comparison, ...]

    @property
    def pairs(self) -> Pairs:
        tables = [one.pairs for one in self.comparisons]
        return Pairs(
            both=sum(table.both for table in tables),
            only_a=sum(table.only_a for table in tables),
            only_b=sum(table.only_b for table in tables),
            neither=sum(table.neither for table in tables),
        )

    def plain(self) -> dict[str, Any]:
        return {"pooled": _plain_difference(self.pairs), "comparisons": [one.plain() for one in self.comparisons]}

    def text(self) -> str:
        rows = [
            (
                str(number),
                str(one.rates[0]),
                str(one.rates[1]),
                f"{100 * one.pairs.difference:+.1f}",
                str(len(one.unpaired)),
            )
            for number, one in enumerate(self.comparisons, 1)
        ]
        table = Table(("comparison", "A", "B", "B - A, points", "unpaired"), tuple(rows))
        return f"{table.text()}\n\npooled, {_difference(self.pairs)}"


def _difference(pairs: Pairs) -> str:
    low, high = pairs.interval
    flips = f"{pairs.only_b} gained, {pairs.only_a} lost, {pairs.both} pass and {pairs.neither} fail"
    return (
        f"B - A: {100 * pairs.difference:+.1f} points (95 % CI {100 * low:+.1f} to {100 * high:+.1f}), "
        f"McNemar p = {pairs.p:.3g}, {pairs.n} pairs: {flips} in both"
    )


def _plain_difference(pairs: Pairs) -> dict[str, Any]:
    low, high = pairs.interval
    return {
        "pairs": pairs.n,
        "difference": round(pairs.difference, 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "mcnemar_p": pairs.p,
        "both": pairs.both,
        "neither": pairs.neither,
    }


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

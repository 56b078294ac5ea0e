"""Trajectories of an evaluation to its figures."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from clickgrad.integrity import write_whole
from clickgrad.report.episodes import Episode
from clickgrad.report.stats import Rate, macro_average, mean, pass_all, pass_at
from clickgrad.report.tables import Table
from clickgrad.types import End, Trajectory

Rates = tuple[tuple[str, Rate], ...]


class Judged(Protocol):
    """A trajectory or what an index kept of it."""

    @property
    def reward(self) -> float | None: ...

    @property
    def end(self) -> str: ...


@dataclass(frozen=True, slots=True)
class PassK:
    """pass@k and pass^k, averaged over the tasks that have at least k judged attempts."""

    k: int
    any: float
    all: float
    tasks: int
    left_out: int


@dataclass(frozen=True, slots=True)
class EvalReport:
    """Means are per episode, and an episode is one attempt at one task; only `mean_reply_tokens` is per reply."""

    policy: str
    success: Rate
    by_template: Rates
    by_site: Rates
    by_end: Rates
    ends: tuple[tuple[str, int], ...]
    failures: tuple[tuple[str, int], ...]  # most frequent first
    passes: tuple[PassK, ...]
    mean_turns: float
    mean_reply_tokens: float
    mean_seconds: float
    mean_sampled_tokens: float
    mean_prompt_tokens: float
    page_broken: int = 0  # of the failures in `success`: the agent made its page unusable, each time it was tried
    unusable_pages: int = 0  # of the infra-failed: the page was unusable before the agent did anything

    @property
    def macro(self) -> float | None:
        """Of the templates."""
        return macro_average([rate for _, rate in self.by_template])

    def plain(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "success": plain_rate(self.success),
            "macro_average": None if self.macro is None else round(self.macro, 4),
            "by_template": {name: plain_rate(rate) for name, rate in self.by_template},
            "by_site": {name: plain_rate(rate) for name, rate in self.by_site},
            "by_end": {name: plain_rate(rate) for name, rate in self.by_end},
            "ends": dict(self.ends),
            "failures": dict(self.failures),
            "page_broken": self.page_broken,
            "unusable_pages": self.unusable_pages,
            "pass_at_k": {str(one.k): round(one.any, 4) for one in self.passes},
            "pass_hat_k": {str(one.k): round(one.all, 4) for one in self.passes},
            "mean_turns": round(self.mean_turns, 3),
            "mean_reply_tokens": round(self.mean_reply_tokens, 3),
            "mean_seconds": round(self.mean_seconds, 3),
            "mean_sampled_tokens": round(self.mean_sampled_tokens, 3),
            "mean_prompt_tokens": round(self.mean_prompt_tokens, 3),
        }

    def save(self, path: Path) -> None:
        """As JSON at `path`, and as Markdown beside it."""
        write_whole(path, json.dumps(self.plain(), indent=2) + "\n")
        write_whole(path.with_suffix(".md"), self.markdown())

    def markdown(self) -> str:
        parts = [f"# {self.policy}", f"Success {self.success}. {self._each()}"]
        parts += [f"## {title}\n\n{table.markdown()}" for title, table in self.tables()]
        return "\n\n".join(parts) + "\n"

    def text(self) -> str:
        """For the terminal."""
        parts = [f"{self.policy}: {self.success}\n{self._each()}"]
        parts += [table.text() for _, table in self.tables()]
        return "\n\n".join(parts)

    def tables(self) -> list[tuple[str, Table]]:
        macro = [] if self.macro is None else [("macro average", f"{self.macro:.1%}", "", "", "", "")]
        tables = [
            ("By site", _rate_table("site", self.by_site, [_rate_row("all", self.success)])),
            ("By template", _rate_table("template", self.by_template, macro)),
            ("By end", _rate_table("end", self.by_end, [])),
        ]
        if self.passes and self.passes[-1].k > 1:
            rows = [(str(p.k), f"{p.any:.1%}", f"{p.all:.1%}", str(p.tasks), str(p.left_out)) for p in self.passes]
            tables.append(("Several attempts", Table(("k", "pass@k", "pass^k", "tasks", "left out"), tuple(rows))))
        if self.failures:
            rows_of_two = tuple((cause, str(count)) for cause, count in self.failures)
            tables.append(("Failures", Table(("cause", "episodes"), rows_of_two)))
        return tables

    def _each(self) -> str:
        each = (
            f"An episode took {self.mean_turns:.1f} turns, {self.mean_sampled_tokens:.0f} sampled and "
            f"{self.mean_prompt_tokens:.0f} prompt tokens, {self.mean_seconds:.1f} s."
        )
        if self.page_broken:
            each += f" {self.page_broken} of the failures broke their page."
        if self.unusable_pages:
            each += f" {self.unusable_pages} of the infra-failed met an unusable page."
        return each


def summarize(trajectories: Sequence[Trajectory]) -> EvalReport:
    return summarize_episodes([Episode.of(trajectory) for trajectory in trajectories])


def summarize_episodes(episodes: Sequence[Episode]) -> EvalReport:
    count, turns = max(1, len(episodes)), sum(episode.turns for episode in episodes)
    sampled = sum(episode.reply_tokens for episode in episodes)
    return EvalReport(
        policy=episodes[0].policy if episodes else "",
        success=success_rate(episodes),
        by_template=_by(episodes, lambda episode: episode.template),
        by_site=_by(episodes, lambda episode: episode.site),
        by_end=_by(episodes, lambda episode: episode.end),
        ends=tuple(sorted(Counter(episode.end for episode in episodes).items())),
        failures=tuple(Counter(episode.cause for episode in episodes if episode.cause).most_common()),
        passes=_passes(episodes),
        mean_turns=turns / count,
        mean_reply_tokens=sampled / max(1, turns),
        mean_seconds=sum(episode.seconds for episode in episodes) / count,
        mean_sampled_tokens=sampled / count,
        mean_prompt_tokens=sum(episode.prompt_tokens for episode in episodes) / count,
        page_broken=sum(episode.end == End.PAGE_BROKEN for episode in episodes),
        unusable_pages=sum(episode.met_unusable_page for episode in episodes),
    )


def success_rate(episodes: Iterable[Judged]) -> Rate:
    known = list(episodes)
    judged = [episode.reward for episode in known if episode.reward is not None]
    crashed = sum(episode.reward is None and episode.end == End.CRASHED for episode in known)
    return Rate(sum(reward == 1.0 for reward in judged), len(judged), crashed, len(known) - len(judged) - crashed)


def _by(episodes: Sequence[Episode], key: Callable[[Episode], str]) -> Rates:
    parts: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        parts[key(episode)].append(episode)
    return tuple((name, success_rate(parts[name])) for name in sorted(parts))


def _passes(episodes: Sequence[Episode]) -> tuple[PassK, ...]:
    tasks: dict[str, list[float]] = defaultdict(list)
    for episode in episodes:
        if episode.reward is not None:
            tasks[episode.task].append(episode.reward)
    counts = [(len(rewards), sum(reward == 1.0 for reward in rewards)) for rewards in tasks.values()]
    passes = []
    for k in range(1, max((n for n, _ in counts), default=0) + 1):
        enough = [(n, c) for n, c in counts if n >= k]
        some = mean([pass_at(k, n, c) for n, c in enough]) or 0.0
        every = mean([pass_all(k, n, c) for n, c in enough]) or 0.0
        passes.append(PassK(k, some, every, len(enough), len(counts) - len(enough)))
    return tuple(passes)


def _rate_table(what: str, rates: Rates, last: Sequence[tuple[str, ...]]) -> Table:
    header = (what, "success", "95 % CI", "passed / n", "infra-failed", "unjudged")
    return Table(header, (*(_rate_row(name, rate) for name, rate in rates), *last))


def _rate_row(name: str, rate: Rate) -> tuple[str, ...]:
    low, high = rate.interval
    lost = (str(rate.infra_failed), str(rate.unjudged))
    if not rate.n:
        return (name, "–", "–", "0 / 0", *lost)
    return (name, f"{rate.value:.1%}", f"{100 * low:.1f} – {100 * high:.1f}", f"{rate.passed} / {rate.n}", *lost)


def plain_rate(rate: Rate) -> dict[str, Any]:
    low, high = rate.interval
    return {
        "rate": round(rate.value, 4) if rate.n else None,
        "passed": rate.passed,
        "n": rate.n,
        "low": round(low, 4) if rate.n else None,
        "high": round(high, 4) if rate.n else None,
        "infra_failed": rate.infra_failed,
        "unjudged": rate.unjudged,
    }

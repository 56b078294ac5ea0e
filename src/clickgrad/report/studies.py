"""The paper's four studies as tables, made from what lies in a study's run folder: our rows above the paper's.

A study that is under way has a report too: what is not there yet is a dash.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path

from markupsafe import Markup

from clickgrad.report import paper
from clickgrad.report.baselines import baseline_tables
from clickgrad.report.chart import Curve, curves_chart
from clickgrad.report.compare import compare
from clickgrad.report.cuts import HOW, Cut, rate_at, read_cuts
from clickgrad.report.episodes import Episode
from clickgrad.report.forks import CLONING, forks_table, read_arms
from clickgrad.report.page import read_evaluation
from clickgrad.report.runs import RunFolder
from clickgrad.report.stats import Pairs, Rate
from clickgrad.report.study_report import Plain, StudyReport
from clickgrad.report.summary import EvalReport, plain_rate, success_rate, summarize_episodes
from clickgrad.report.tables import Table

INTERVALS = "Success in % with its 95 % interval (Wilson)."
POOLED = (
    "p is McNemar's, exact and two-sided, pooled over the seeds; pairs count as independent. Steps, mixed groups and "
    "sampled tokens are of all seeds together."
)
PAIRED = "Changes are in points, paired on the same tasks and seeds (Newcombe)."


def read_study(run: Path) -> StudyReport | None:
    """None when the folder is no study's."""
    options, complaint = RunFolder(run, ".").options()
    reader = _READERS.get(str(options.get("command", "")))
    return reader(run, options, [complaint] if complaint else []) if reader else None


# --- where RL starts from -------------------------------------------------------------------------------------------


def _read_start(run: Path, options: Plain, skipped: list[str]) -> StudyReport:
    rows, ours = [], {}
    for start in paper.STARTS:
        before = read_evaluation(
            run / start.key / ("evaluate-start" if start.key == "zero" else "evaluate-clone"), skipped
        )
        after = read_evaluation(run / start.key / "evaluate-reinforce", skipped)
        rows += [(f"{start.name}: ours", *_before_after(before, after)), (f"{start.name}: paper", *_paper_start(start))]
        ours[start.key] = {"before": _figures(before), "after": _figures(after), "change": _change(before, after)}
    header = ("RL starts from", "n", "before RL", "after RL", "change", "tokens a turn", "turns")
    theirs = {
        start.key: {"success": start.success, "tokens_per_turn": start.tokens, "turns": start.turns}
        for start in paper.STARTS
    }
    return StudyReport(
        study="start",
        title="What RL starts from",
        tables=(("Success before and after RL", Table(header, tuple(rows))),),
        figures={"ours": ours, "paper": theirs},
        notes=(f"{INTERVALS} {PAIRED}", paper.CAVEAT),
        options=options,
        skipped=tuple(skipped),
    )


def _before_after(before: Sequence[Episode], after: Sequence[Episode]) -> tuple[str, ...]:
    """n, the two rates, the change, tokens a turn and turns, each before and after."""
    one, other = _summary(before), _summary(after)
    judged = (report.success.n for report in (one, other) if report)
    # Experts and chats sample no tokens that we could count.
    tokens = [report.mean_reply_tokens or None if report else None for report in (one, other)]
    turns = [report.mean_turns if report else None for report in (one, other)]
    return (
        " / ".join(dict.fromkeys(map(str, judged))) or "–",
        _cell(one),
        _cell(other),
        _difference(_pairs(before, after)),
        _arrow(tokens, ".0f"),
        _arrow(turns, ".1f"),
    )


def _paper_start(start: paper.Start) -> tuple[str, ...]:
    before, after = start.success
    tokens, turns = (" → ".join(map(str, pair)) for pair in (start.tokens, start.turns))
    return ("165", f"{before:.1f}", f"{after:.1f}", f"{after - before:+.1f}", tokens, turns)


# --- thinking against non-thinking ----------------------------------------------------------------------------------


def _read_format(run: Path, options: Plain, skipped: list[str]) -> StudyReport:
    rows, ours = [], []
    for folder in _policy_folders(run):
        plain, thinking = (read_evaluation(folder / name, skipped) for name in ("plain", "thinking"))
        name = _policy_of(folder / "plain")
        rows.append((f"{name}: ours", *_before_after(plain, thinking)))
        ours.append(
            {
                "policy": name,
                "plain": _figures(plain),
                "thinking": _figures(thinking),
                "change": _change(plain, thinking),
            }
        )
    for name, without, with_it in paper.FORMATS:
        rows.append(
            (f"{name}: paper", "165", f"{without:.1f}", f"{with_it:.1f}", f"{with_it - without:+.1f}", "–", "–")
        )
    header = ("Policy", "n", "plain", "thinking", "change", "tokens a turn", "turns")
    return StudyReport(
        study="format",
        title="Thinking against non-thinking replies, prompting only",
        tables=(("Success by reply format", Table(header, tuple(rows))),),
        figures={"ours": ours, "paper": [{"policy": n, "plain": a, "thinking": b} for n, a, b in paper.FORMATS]},
        notes=(f"{INTERVALS} {PAIRED}", paper.CAVEAT),
        options=options,
        skipped=tuple(skipped),
    )


# --- test-time scaling over the turn limit --------------------------------------------------------------------------


def _read_turns(run: Path, options: Plain, skipped: list[str]) -> StudyReport:
    found = [(_policy_of(folder), read_cuts(folder, skipped)) for folder in _policy_folders(run)]
    ours = [(name, cuts) for name, cuts in found if cuts]
    limits = sorted({cut.limit for _, cuts in ours for cut in cuts})
    header = ("Turn limit", *(f"{name}: ours, n={rate_at(cuts, limits[-1]).n}" for name, cuts in ours))
    header += tuple(f"{name}: paper" for name, _ in paper.TURNS)
    rows = [(str(limit), *_scaling(ours, limit)) for limit in sorted({*limits, *paper.TURN_LIMITS})]
    decided = [(name, str(limit), *_decided(cuts, limit)) for name, cuts in ours for limit in limits]
    how = [f"{name.capitalize()}: {text}." for name, text in HOW.items()]
    return StudyReport(
        study="turns",
        title="Test-time scaling over the turn limit",
        tables=(
            ("Success by turn limit", Table(header, tuple(rows))),
            ("How each was decided", Table(("Policy", "limit", *HOW, "mean turns"), tuple(decided))),
        ),
        figures={
            "ours": [{"policy": name, "limits": [_plain_limit(c, limit) for limit in limits]} for name, c in ours],
            "paper": {"limits": list(paper.TURN_LIMITS), "success": dict(paper.TURNS)},
        },
        notes=(
            "One rollout at the largest limit, cut for the smaller ones: the prompt does not speak of the limit, so "
            "the turns up to it are the same. " + " ".join(how),
            INTERVALS,
            paper.CAVEAT,
        ),
        options=options,
        charts=_scaling_charts(ours, limits),
        skipped=tuple(skipped),
    )


def _scaling(ours: Sequence[tuple[str, Sequence[Cut]]], limit: int) -> list[str]:
    cells = [_rate_cell(rate_at(cuts, limit)) for _, cuts in ours]
    for _, values in paper.TURNS:
        known = dict(zip(paper.TURN_LIMITS, values, strict=True))
        cells.append(f"{known[limit]:.1f}" if limit in known else "–")
    return cells


def _decided(cuts: Sequence[Cut], limit: int) -> list[str]:
    here = [cut for cut in cuts if cut.limit == limit]
    turns = sum(cut.turns for cut in here) / max(1, len(here))
    return [*(str(sum(cut.how == how for cut in here)) for how in HOW), f"{turns:.1f}"]


def _plain_limit(cuts: Sequence[Cut], limit: int) -> Plain:
    here = [cut for cut in cuts if cut.limit == limit]
    return {
        "limit": limit,
        "success": plain_rate(rate_at(cuts, limit)),
        "decided": {how: sum(cut.how == how for cut in here) for how in HOW},
        "mean_turns": round(sum(cut.turns for cut in here) / max(1, len(here)), 3),
    }


def _scaling_charts(
    ours: Sequence[tuple[str, Sequence[Cut]]], limits: Sequence[int]
) -> tuple[tuple[Markup, tuple[str, ...]], ...]:
    """Ours and the paper's on the same vertical scale, in two pictures: the tasks are not the same."""
    measured = []
    for name, cuts in ours:
        rates = [rate_at(cuts, limit) for limit in limits]
        known = [(limit, rate) for limit, rate in zip(limits, rates, strict=True) if rate.n]
        points = tuple((limit, rate.value) for limit, rate in known)
        measured.append(Curve(name, points, tuple(rate.interval for _, rate in known)))
    reported = [
        Curve(name, tuple((limit, value / 100) for limit, value in zip(paper.TURN_LIMITS, values, strict=True)))
        for name, values in paper.TURNS
    ]
    tops = [high for curve in measured for _, high in curve.intervals]
    tops += [value for curve in reported for _, value in curve.points]
    ceiling = min(1.0, ceil(max(tops) * 10) / 10)
    pictures = (("Ours: success by turn limit", measured), ("Paper: success by turn limit", reported))
    return tuple(
        (curves_chart(title, curves, ceiling, "turns"), tuple(curve.name for curve in curves))
        for title, curves in pictures
        if curves
    )


# --- prompting baselines --------------------------------------------------------------------------------------------


def _read_prompting(run: Path, options: Plain, skipped: list[str]) -> StudyReport:
    rows, ours = [], []
    for folder in _policy_folders(run):
        episodes, name = read_evaluation(folder, skipped), _policy_of(folder)
        by_site = [[episode for episode in episodes if episode.sites == (site,)] for site in paper.SITES]
        several = [episode for episode in episodes if len(episode.sites) > 1]
        cells = [_share_cell(success_rate(part)) for part in (*by_site, several)]
        rows.append((f"{name}: ours", str(success_rate(episodes).n), *cells, _cell(_summary(episodes))))
        ours.append({"policy": name, **_figures(episodes)})
    for name, values, average in paper.PROMPTING:
        cells = ["–" if value is None else f"{value:.1f}" for value in values]
        rows.append((f"{name}: paper", "165", *cells, "–", f"{average:.1f}"))
    header = ("Policy", "n", *(f"{site} / {other}" for site, other in paper.SITES.items()), "several", "all")
    theirs = [
        {"policy": name, "by_site": dict(zip(paper.SITES.values(), values, strict=True)), "all": average}
        for name, values, average in paper.PROMPTING
    ]
    return StudyReport(
        study="prompting",
        title="Prompting baselines",
        tables=(("Success by site", Table(header, tuple(rows))),),
        figures={"ours": ours, "paper": theirs},
        notes=(
            "Success in %; by site as passed / n, over all with its 95 % interval (Wilson). The prompted models of the "
            "paper reply in the thinking format.",
            paper.CAVEAT,
        ),
        options=options,
        skipped=tuple(skipped),
    )


# --- what resettable worlds add -------------------------------------------------------------------------------------


def _read_forks(run: Path, options: Plain, skipped: list[str]) -> StudyReport:
    told = options.get("forks", {})
    clones, arms = read_arms(run, told.get("seeds", ()), told.get("arms", ()), skipped)
    cloning = next((arm for arm in arms if arm.key == CLONING and arm.after), None)
    return StudyReport(
        study="forks",
        title="What resettable worlds add to learning",
        tables=(("Success after the same minutes", forks_table(clones, arms)),),
        figures={
            "clone": [plain_rate(success_rate(episodes)) for episodes in clones],
            "arms": {arm.key: arm.plain(cloning) for arm in arms if arm.after},
        },
        notes=(f"{INTERVALS} {PAIRED} {POOLED}",),
        options=options,
        skipped=tuple(skipped),
    )


# --- the paper's baselines ------------------------------------------------------------------------------------------


def _read_baselines(run: Path, options: Plain, skipped: list[str]) -> StudyReport:
    tables, figures = baseline_tables(run, options, skipped)
    return StudyReport(
        study="baselines",
        title="The paper's table on one stack",
        tables=tables,
        figures=figures,
        notes=(
            f"{INTERVALS} {PAIRED} {POOLED} Mixed are groups that taught something.",
            paper.PROVENANCE,
            paper.CAVEAT,
        ),
        options=options,
        skipped=tuple(skipped),
    )


def _share_cell(rate: Rate) -> str:
    return f"{100 * rate.value:.1f} ({rate.passed}/{rate.n})" if rate.n else "–"


_READERS: dict[str, Callable[[Path, Plain, list[str]], StudyReport]] = {
    "study start": _read_start,
    "study forks": _read_forks,
    "study baselines": _read_baselines,
    "study format": _read_format,
    "study turns": _read_turns,
    "study prompting": _read_prompting,
}

# --- cells ----------------------------------------------------------------------------------------------------------


def _policy_folders(run: Path) -> list[Path]:
    """`01-torch-smollm2`, `02-…`: one for each policy, in the order they were given."""
    return sorted(path for path in run.glob("[0-9][0-9]-*") if path.is_dir())


def _policy_of(folder: Path) -> str:
    """As the user named it."""
    return str(RunFolder(folder, ".").options()[0].get("start", folder.name))


def _summary(episodes: Sequence[Episode]) -> EvalReport | None:
    return summarize_episodes(episodes) if episodes else None


def _figures(episodes: Sequence[Episode]) -> Plain:
    if not episodes:
        return {}
    plain = summarize_episodes(episodes).plain()
    return {
        name: plain[name] for name in ("success", "by_site", "ends", "mean_turns", "mean_reply_tokens", "mean_seconds")
    }


def _pairs(before: Sequence[Episode], after: Sequence[Episode]) -> Pairs | None:
    pairs = compare(before, after).pairs
    return pairs if pairs.n else None


def _change(before: Sequence[Episode], after: Sequence[Episode]) -> Plain:
    return compare(before, after).plain() if _pairs(before, after) else {}


def _difference(pairs: Pairs | None) -> str:
    if pairs is None:
        return "–"
    low, high = pairs.interval
    return f"{100 * pairs.difference:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def _cell(report: EvalReport | None) -> str:
    return _rate_cell(report.success) if report else "–"


def _rate_cell(rate: Rate) -> str:
    if not rate.n:
        return "–"
    low, high = rate.interval
    lost = f", {rate.lost}" if rate.lost else ""
    return f"{100 * rate.value:.1f} ({100 * low:.1f} – {100 * high:.1f}{lost})"


def _arrow(values: Sequence[float | None], form: str) -> str:
    return " → ".join("–" if value is None else format(value, form) for value in values)

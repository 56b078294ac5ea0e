"""The rows of a run's *.jsonl files: a frozen type for each kind, with the titles of its curves beside the figures.

A new metric is a field here and the line that computes it. `None` is a figure that was not measured or cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol, TypeVar

from clickgrad.agent.grammar import find_call
from clickgrad.report.stats import Rate, mean
from clickgrad.report.summary import success_rate
from clickgrad.types import Trajectory, Turn

LEFT = "left/"  # before a template's name: turns left to do where its episodes begin later


def curve(title: str, top: float | None = None, in_report: bool = False) -> Any:
    """A figure drawn over the steps: in the viewer, and in report.html if it says so. `top` is the end of its axis."""
    return field(default=None, metadata={"title": title, "top": top, "in_report": in_report})


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneRow:
    """A step of cloning."""

    kind: Literal["clone"] = field(default="clone", init=False)
    step: int
    loss: float | None = curve("Loss of cloning", in_report=True)
    held_out_loss: float | None = curve("Held-out loss")  # at the end of an epoch
    entropy: float | None = curve("Entropy per token")
    grad_norm: float | None = curve("Gradient norm")
    lr: float | None = curve("Learning rate")
    tokens_per_s: float | None = curve("Tokens per second")
    seconds: float | None = curve("Seconds")
    more: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinforceRow:
    """A step of reinforcement."""

    kind: Literal["reinforce"] = field(default="reinforce", init=False)
    step: int
    success: float | None = curve("Success of sampled episodes", top=1.0, in_report=True)  # from true starts
    success_gain: float | None = curve("Success over the same templates before", in_report=True)
    probe_success: float | None = curve("Success on the probe", top=1.0, in_report=True)  # the same tasks each time
    probe_gain: float | None = curve("Probe over the start")
    groups_all_0: int | None = None
    groups_mixed: int | None = None  # those that are trained on
    groups_all_1: int | None = None
    loss: float | None = curve("Loss")
    mean_turns: float | None = curve("Turns per episode", in_report=True)
    mean_reply_tokens: float | None = curve("Tokens per reply", in_report=True)
    entropy: float | None = curve("Entropy per token", in_report=True)
    kl: float | None = curve("KL to the start", in_report=True)
    grad_norm: float | None = curve("Gradient norm", in_report=True)
    effective_samples: float | None = curve("Effective number of trained turns", in_report=True)
    value_brier: float | None = curve("Values of new episodes, Brier score", in_report=True)
    value_auc: float | None = curve("Values of new episodes, AUC", top=1.0, in_report=True)
    pool_turns: int | None = curve("Turns of the pool that count")
    replayed_turns: int | None = curve("Turns replayed")
    true_starts: int | None = curve("Episodes from their task's own start")
    later_starts: int | None = curve("Episodes that begin later")
    mean_given: float | None = curve("Turns given to episodes that begin later", in_report=True)
    branches: int | None = curve("Episodes that leave another one")
    sampled_tokens: int | None = curve("Sampled tokens")
    spent_s: float | None = curve("Seconds by the run's clock")  # of all steps so far
    clip_share: float | None = curve("Clipped tokens, share")
    sampler_gap: float | None = curve("Sampler against trainer, largest gap")
    rollout_s: float | None = curve("Rollout, seconds")
    waited_s: float | None = curve("Waited for the rollout, seconds")
    update_s: float | None = curve("Update, seconds")
    policy_s: float | None = curve("Episodes waiting for the policy, seconds")
    browser_s: float | None = curve("Episodes waiting for the browser, seconds")
    sampled_tokens_per_s: float | None = curve("Sampled tokens per second")
    episodes: int | None = curve("Episodes")  # every try
    crashed: int | None = curve("Episodes without a reward")
    mean_trajectory_tokens: float | None = curve("Sampled tokens per episode")
    mean_thinking_characters: float | None = curve("Characters before the action")
    mean_staleness: float | None = curve("Staleness, mean")
    max_staleness: int | None = curve("Staleness, largest")
    trained_tokens: int | None = curve("Tokens of the trained turns")
    computed_tokens: int | None = curve("Tokens computed by the learner")
    engine_s: float | None = curve("Engine computing, seconds")
    cache_hit_share: float | None = curve("Cache hits, share")
    tokens_per_forward: float | None = curve("Tokens per forward pass of a reply")
    more: Mapping[str, float | None] = field(default_factory=dict)  # what engine and workers tell besides


StepRow = CloneRow | ReinforceRow
STEP_ROWS: dict[str, type[StepRow]] = {"clone": CloneRow, "reinforce": ReinforceRow}


@dataclass(frozen=True, slots=True)
class TimeRow:
    """Of times.jsonl: what a part of a run took."""

    part: str
    seconds: float


@dataclass(frozen=True, slots=True)
class LossRow:
    """Of cluster.jsonl: what was lost, and what was done about it."""

    kind: str
    what: str
    then: str


# --- made ------------------------------------------------------------------------------------------------------------


class Group(Protocol):
    def __iter__(self) -> Iterator[Trajectory]: ...

    @property
    def success(self) -> Rate: ...

    @property
    def from_the_start(self) -> Sequence[Trajectory]:
        """Those that say how often a task is solved: nothing was given to them."""


class Rollout(Protocol):
    """What was sampled for a step."""

    @property
    def groups(self) -> Sequence[Group]: ...

    @property
    def mixed(self) -> Sequence[Group]: ...

    @property
    def episodes(self) -> Sequence[Trajectory]: ...

    @property
    def seconds(self) -> float: ...

    @property
    def sampled_tokens(self) -> int: ...


def reinforce_row(
    step: int, rollout: Rollout, updates: Sequence[Any], waited_s: float, update_s: float, engine: Mapping[str, float]
) -> ReinforceRow:
    """`updates`: the figures of each optimizer step (`learn.step.StepFigures`). `engine`: of engine and workers."""
    finished = [one for group in rollout.groups for one in group if one.usable]
    turns = [turn for trajectory in finished for turn in trajectory.chosen]
    shares = [group.success for group in rollout.groups]
    ages = [trajectory.staleness(step - 1) for trajectory in finished if trajectory.turns]
    sampled = sum(len(turn.completion.ids) for turn in turns)
    means = ("loss", "grad_norm", "entropy", "kl", "clip_share")
    figures = {
        "success": success_rate(one for group in rollout.groups for one in group.from_the_start).measured,
        "groups_all_0": sum(share.passed == 0 < share.n for share in shares),
        "groups_mixed": len(rollout.mixed),
        "groups_all_1": sum(share.passed == share.n > 0 for share in shares),
        "mean_turns": len(turns) / max(1, len(finished)),
        "mean_reply_tokens": sampled / max(1, len(turns)),
        **{name: mean([float(getattr(update, name)) for update in updates]) for name in means},
        "sampler_gap": updates[0].sampler_gap if updates else None,
        "rollout_s": rollout.seconds,
        "waited_s": waited_s,
        "update_s": update_s,
        "policy_s": sum(turn.policy_s for turn in turns),
        "browser_s": sum(turn.browser_s for turn in turns),
        "sampled_tokens_per_s": rollout.sampled_tokens / max(rollout.seconds, 1e-9),
        "episodes": len(rollout.episodes),
        "crashed": sum(not episode.usable for episode in rollout.episodes),
        "mean_trajectory_tokens": sampled / max(1, len(finished)),
        "mean_thinking_characters": sum(map(_thinking, turns)) / max(1, len(turns)),
        "mean_staleness": sum(ages) / max(1, len(ages)),
        "max_staleness": max(ages, default=0),
        "trained_tokens": sum(update.tokens_seen for update in updates),
        "computed_tokens": sum(update.tokens_computed for update in updates),
    }
    return _make(ReinforceRow, step, figures | dict(engine))


def _thinking(turn: Turn) -> int:
    """Characters of a reply before its action; all of them when there is none."""
    text = turn.completion.text
    call = find_call(text)
    return len(text) if call is None else call


# --- written, read and drawn -----------------------------------------------------------------------------------------

T = TypeVar("T", bound=StepRow)


def plain(row: StepRow) -> dict[str, Any]:
    figures = {one.name: getattr(row, one.name) for one in fields(row) if one.name != "more"}
    return {**figures, **row.more}


def read_step(row: Mapping[str, Any]) -> StepRow | None:
    """None for what is no row of a step. A figure that is no number is None."""
    step, made = finite(row.get("step")), STEP_ROWS.get(str(row.get("kind") or _kind_before_kinds(row)))
    if step is None or made is None:
        return None
    figures = {name: finite(value) for name, value in row.items() if name not in ("step", "kind", "reward")}
    return _make(made, int(step), figures)


def _kind_before_kinds(row: Mapping[str, Any]) -> str:
    """Rows once had no kind, and repeated `success` as `reward`. May go when nobody has such runs."""
    return "reinforce" if "success" in row else "clone"


def read_time(row: Mapping[str, Any]) -> TimeRow | None:
    return TimeRow(str(row["part"]), finite(row.get("seconds")) or 0.0) if "part" in row else None


def read_loss(row: Mapping[str, Any]) -> LossRow | None:
    return LossRow(*(str(row.get(name, "")) for name in ("kind", "what", "then"))) if "kind" in row else None


def finite(value: Any) -> float | int | None:
    """The figure itself; None for what is none. A number too large for a float is none either."""
    return value if isinstance(value, int | float) and -1e300 < value < 1e300 else None


@dataclass(frozen=True, slots=True)
class Metric:
    """How a figure of the rows is drawn."""

    name: str
    title: str
    top: float | None = None
    in_report: bool = False

    def points(self, rows: Iterable[StepRow]) -> list[tuple[float, float]]:
        found = ((row.step, plain(row).get(self.name)) for row in rows)
        return [(step, value) for step, value in found if value is not None]


def metrics_of(rows: Sequence[StepRow]) -> list[Metric]:
    """Those of the rows' types in the order of the fields, then what else the rows hold."""
    kinds = dict.fromkeys(type(row) for row in rows)
    named = [Metric(one.name, **one.metadata) for kind in kinds for one in fields(kind) if one.metadata]
    more = dict.fromkeys(name for row in rows for name in row.more)
    return [*named, *(Metric(name, _title(name)) for name in more)]


def _title(name: str) -> str:
    if name.startswith(LEFT):
        return f"Turns left to do, {name.removeprefix(LEFT)}"
    return name.replace("_", " ").capitalize()


def _make(kind: type[T], step: int, figures: Mapping[str, float | None]) -> T:
    known = {one.name for one in fields(kind) if one.init} - {"step", "more"}
    named: dict[str, Any] = {name: value for name, value in figures.items() if name in known}
    return kind(step=step, more={name: value for name, value in figures.items() if name not in known}, **named)

"""Where a run stands, and what algorithm and learner ask of each other: plain values that know nothing of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clickgrad.learn.spec import FitOptions
from clickgrad.types import Sample

Prompt = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands after a step. Counters are totals since the run began."""

    step: int = 0
    tasks_taken: int = 0  # position in the endless shuffled sequence of tasks
    episodes: int = 0
    crashed: int = 0
    skipped_groups: int = 0
    records: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # task -> episodes passed, episodes tried
    held_out: tuple[float, ...] = ()  # loss on the demonstrations set aside, epoch by epoch, in cloning
    # Since the run that is under way may be older than these, whoever reads a checkpoint takes their default.
    beliefs: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # template -> passed, failed lately
    starts: Mapping[str, int] = field(default_factory=dict)  # template -> turns left to do, where starts are later
    kept: tuple[str, ...] = ()  # episodes that passed and may be followed or replayed, the newest last
    spent_s: float = 0.0  # by the run's clock
    ended: str = ""  # why no further step follows, before the last one


@dataclass(frozen=True, slots=True)
class Lot:
    """Turns of one step of the run. Their states are computed together, whatever else is asked: so they stay the same
    to the bit, whether they are known already or computed again after a restart."""

    step: int
    prompts: tuple[Prompt, ...]
    outcomes: tuple[float, ...]  # 0 or 1, of the episode that each turn is of


@dataclass(frozen=True, slots=True)
class Question:
    """What an algorithm asks the learner before it says what is to be learned."""

    lots: tuple[Lot, ...] = ()  # that the head is fitted to; the last one is new
    fit: FitOptions = field(default_factory=FitOptions)
    scored: tuple[Sample, ...] = ()  # whose logprobs under the policy of now are wanted
    temperature: float = 1.0
    micro_tokens: int = 2048


@dataclass(frozen=True, slots=True)
class Answers:
    foreseen: tuple[float, ...] = ()  # values of the last lot, before the head had seen it
    values: tuple[tuple[float, ...], ...] = ()  # of each lot, after fitting
    scored: tuple[Sample, ...] = ()  # with the logprobs of now in place of the sampler's


NO_ANSWERS = Answers()

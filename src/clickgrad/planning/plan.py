"""Plan: seconds of a step, rates, memory, bottleneck and the number of browsers, by simulating the rollout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any

from clickgrad.planning.likeness import Likeness, Seen, read_likeness
from clickgrad.planning.memory import Memory, reckon
from clickgrad.planning.options import WORKLOAD, Options
from clickgrad.planning.setup import Setup, set_up
from clickgrad.planning.simulation import Rollout, simulate
from clickgrad.planning.workload import Workload, made_up

FULL = 0.85  # of the time: what is busier than this holds up the rest
NEARLY = 0.95  # of the best rate
SIZES = 5  # of a crowd of browsers, that are tried


@dataclass(frozen=True, slots=True)
class Crowd:
    """What so many browsers come to."""

    browsers: int
    episodes_per_min: float
    engine_busy: float
    cores_busy: float

    @classmethod
    def of(cls, browsers: int, rollout: Rollout) -> Crowd:
        return cls(browsers, rollout.episodes_per_min, rollout.engine_busy, rollout.cores_busy)


@dataclass(frozen=True, slots=True)
class Plan:
    setup: Setup
    steps: int  # simulated; seconds are of one
    rollout: Rollout  # of all of them
    trained_tokens: int  # by all of them
    memory: Memory
    crowds: tuple[Crowd, ...]
    seen: Seen | None

    @property
    def rollout_s(self) -> float:
        return self.rollout.seconds / self.steps

    @property
    def update_s(self) -> float:
        learners = max(self.setup.learning.learners, 1)
        return self.trained_tokens * self.setup.learn.token_s / learners / self.steps

    @property
    def push_s(self) -> float:
        return self.setup.learn.push_s if self.setup.learning.learners else 0.0

    @property
    def step_s(self) -> float:
        # On a CPU sampling and learning at the same time share the cores: nothing is gained.
        if self.setup.learning.ahead and not self.setup.machine.engine.cores:
            return max(self.rollout_s, self.update_s) + self.push_s
        return self.rollout_s + self.update_s + self.push_s

    @property
    def episodes_per_min(self) -> float:
        """With updates."""
        return 60 * self.rollout.episodes / self.steps / self.step_s

    @property
    def enough_browsers(self) -> int:
        """The fewest that come near the best rate."""
        best = max(crowd.episodes_per_min for crowd in self.crowds)
        return next(crowd.browsers for crowd in self.crowds if crowd.episodes_per_min >= NEARLY * best)

    @property
    def bottleneck(self) -> str:
        rollout = self.rollout
        if self.update_s > self.rollout_s:
            return "the update"
        if rollout.engine_busy > FULL:
            return "the engines, " + ("reading prompts" if rollout.reading_s > rollout.drawing_s else "drawing replies")
        if rollout.cores_busy > FULL:
            return "the processor cores, under the browsers"
        if self.setup.browsers < rollout.episodes / self.steps:
            return "the number of browsers"
        return "the length of episodes: a turn waits for the one before, and nothing is full"

    def plain(self) -> dict[str, Any]:
        setup, rollout = self.setup, self.rollout
        return {
            "model": setup.model.name,
            "parameters": setup.model.parameters,
            "device": setup.device.name,
            "measured": setup.device.measured,
            "sources": setup.sources,
            "engines": setup.machine.engines,
            "learners": setup.learning.learners,
            "cores": setup.machine.cores,
            "browsers": setup.browsers,
            "episodes": rollout.episodes / self.steps,
            "rollout_s": self.rollout_s,
            "update_s": self.update_s,
            "push_s": self.push_s,
            "step_s": self.step_s,
            "rollout_episodes_per_min": rollout.episodes_per_min,
            "episodes_per_min": self.episodes_per_min,
            "sampled_tokens_per_s": rollout.reply_tokens / rollout.seconds,
            "read_tokens_per_s": rollout.read_tokens / rollout.seconds,
            "trained_tokens_per_s": self.trained_tokens / self.steps / self.update_s if self.update_s else None,
            "engine_busy": rollout.engine_busy,
            "cores_busy": rollout.cores_busy,
            "policy_s": rollout.policy_s / rollout.turns,
            "browser_s": rollout.browser_s / rollout.turns,
            "memory_gb": asdict(self.memory) | {"host": self.memory.host},
            "too_small": self.memory.too_small(),
            "bottleneck": self.bottleneck,
            "enough_browsers": self.enough_browsers,
            "crowds": [asdict(crowd) for crowd in self.crowds],
            "seen": asdict(self.seen) if self.seen else None,
        }


def make_plan(options: Options) -> Plan:
    likeness = read_likeness(options.like) if options.like else None
    workloads = likeness.workloads if likeness else (made_up(**{name: options.number(name) for name in WORKLOAD}),)
    most = max(workload.episodes for workload in workloads)
    setup = set_up(options, likeness, most)
    rollouts = {size: _simulate(workloads, setup, size) for size in _sizes(most) | {setup.browsers}}
    return Plan(
        setup=setup,
        steps=len(workloads),
        rollout=rollouts[setup.browsers],
        trained_tokens=sum(workload.trained_tokens for workload in workloads),
        memory=_memory(setup, min(setup.browsers, most), max(workload.longest for workload in workloads)),
        crowds=tuple(Crowd.of(size, rollouts[size]) for size in sorted(_sizes(most))),
        seen=likeness.seen if likeness and _is_as_it_was(options, likeness, setup) else None,
    )


def _is_as_it_was(options: Options, likeness: Likeness, setup: Setup) -> bool:
    """Whether the run is planned as it was run, so that the two can be compared."""
    same = options.browsers in (None, likeness.browsers) and options.model is None and options.cores is None
    return same and setup.device.measured and not likeness.ahead  # ahead of updates it had only a part of the cores


def _simulate(workloads: Sequence[Workload], setup: Setup, browsers: int) -> Rollout:
    """Step by step: nothing that one of them read serves the next, whose weights are new."""
    machine = setup.machine
    if machine.engine.cores:  # the torch engine has a row for every browser
        machine = replace(machine, engine=replace(machine.engine, max_rows=browsers))
    return Rollout.together([simulate(workload.rounds, machine, browsers) for workload in workloads])


def _sizes(most: int) -> set[int]:
    """Of crowds: one browser for every episode of a step, half as many, and so on.

    54 gives 54, 27, 14, 7 and 4.
    """
    return {ceil(most / 2**power) for power in range(SIZES)}


def _memory(setup: Setup, at_once: int, context: int) -> Memory:
    learning, engines = setup.learning, setup.machine.engines
    return reckon(
        setup.model,
        setup.device,
        rows=ceil(at_once / engines) if engines else 0,
        context=context,
        learners=learning.learners,
        rank=learning.rank,
        reference=learning.reference,
        micro_tokens=learning.micro_tokens,
        recompute=learning.recompute,
        browsers=at_once,
        session_mb=setup.host.session_mb,
    )

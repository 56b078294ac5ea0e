"""The algorithm that the options describe."""

from __future__ import annotations

from collections.abc import Sequence

from clickgrad.algorithms.branching import Branching
from clickgrad.algorithms.m_grpo import Additions, MGrpo
from clickgrad.algorithms.protocol import Algorithm
from clickgrad.algorithms.replay import Replay
from clickgrad.algorithms.sequence import TaskSequence
from clickgrad.algorithms.starts import Recall, Starts
from clickgrad.config import Config, ReinforceSection
from clickgrad.errors import UserError
from clickgrad.learn.advantages import Rewards
from clickgrad.learn.samples import Teaching
from clickgrad.types import Task, Trajectory


def make_algorithm(
    config: Config, tasks: Sequence[Task], followed: Sequence[Trajectory] = (), recall: Recall | None = None
) -> Algorithm:
    """`followed` are demonstrations that episodes may begin along; `recall` finds successes of this run by name."""
    options, most = config.reinforce, config.agent.max_turns
    own = options.starts == "own"
    return MGrpo(
        TaskSequence(tasks, config.seed, options.curriculum),
        options.groups,
        options.group_size,
        options.max_refills,
        options.max_staleness,
        Teaching(
            options.normalizer,
            most,
            options.divisor,
            options.groups if options.average_over == "asked" else 0,
            options.credit,
            Rewards(options.require_exit, options.turn_discount),
        ),
        options.shuffle_rewards,
        Additions(
            options.first_part,
            Starts(config.seed, most, options.starts == "experts", followed, recall if own else None)
            if options.starts != "none"
            else None,
            Branching(options.branches, options.forks) if options.branches else None,
            Replay(options.replay, options.replay_age, recall) if options.replay and recall else None,
        ),
    )


def refuse_silent(config: Config) -> None:
    """Options that do nothing without another."""
    options, usual = config.reinforce, ReinforceSection()
    needs = {
        "forks": ("branches", options.branches),
        "replay_age": ("replay", options.replay),
        "probe_tasks": ("probe_every", options.probe_every),
        "clock": ("minutes", options.minutes),
        "demos": ("starts='demos'", options.starts == "demos"),
    }
    for name, (other, is_set) in needs.items():
        if getattr(options, name) != getattr(usual, name) and not is_set:
            raise UserError(f"reinforce.{name} does nothing without reinforce.{other}")
    if options.first_part >= options.group_size:
        raise UserError(f"reinforce.first_part={options.first_part} is no part of a group of {options.group_size}")
    if options.clock == "cpu" and config.cluster.address:
        raise UserError("reinforce.clock='cpu' counts this machine alone: on a cluster use 'wall'")

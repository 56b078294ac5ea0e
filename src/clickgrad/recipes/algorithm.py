"""The algorithm that the options describe."""

from __future__ import annotations

from collections.abc import Sequence

from clickgrad.algorithms.branching import Branching
from clickgrad.algorithms.critic import Critic
from clickgrad.algorithms.m_grpo import Additions, MGrpo
from clickgrad.algorithms.phases import Phases, Setting
from clickgrad.algorithms.pool import Labels, Past, Pool
from clickgrad.algorithms.protocol import Algorithm
from clickgrad.algorithms.replay import Replay
from clickgrad.algorithms.sequence import TaskSequence
from clickgrad.algorithms.starts import Recall, Starts
from clickgrad.config import ALGORITHMS, Config, ReinforceSection
from clickgrad.errors import UserError
from clickgrad.learn.samples import Teaching
from clickgrad.learn.spec import OF_CLIP, FitOptions
from clickgrad.learn.turn_advantages import Rewards
from clickgrad.types import Task, Trajectory


def make_algorithm(
    config: Config,
    tasks: Sequence[Task],
    followed: Sequence[Trajectory] = (),
    recall: Recall | None = None,
    past: Past = lambda step: (),
) -> Algorithm:
    """`followed` are demonstrations that episodes may begin along, or that are replayed; `recall` finds successes of
    this run by name, `past` all episodes of one of its steps."""
    own = config.of_algorithm
    if own is None:
        return _m_grpo(config, tasks, followed, recall)
    return own.algorithm(Setting(_phases(config, tasks, past), config.agent.max_turns, followed))


def _phases(config: Config, tasks: Sequence[Task], past: Past) -> Phases:
    options, values = config.reinforce, config.values
    labels = Labels(Rewards(options.require_exit), config.seed, options.shuffle_rewards)
    continuations = values.continuations if values.kind == "exact" else 0
    return Phases(
        TaskSequence(tasks, config.seed, options.curriculum),
        options.groups,
        options.group_size,
        Pool(past, 1, labels),
        Critic(values.kind, FitOptions(values.lr, values.epochs), continuations, values.least_auc),
        options.normalizer == "token",
        options.temperature,
        options.micro_tokens,
    )


def _m_grpo(config: Config, tasks: Sequence[Task], followed: Sequence[Trajectory], recall: Recall | None) -> Algorithm:
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


# Of m-grpo alone; 0 is off for all that have it.
M_GRPO = (
    *OF_CLIP,
    *("divisor", "average_over", "turn_discount", "credit", "first_part", "starts"),
    *("branches", "forks", "replay", "replay_age", "max_refills"),
)


def refuse_silent(config: Config) -> None:
    """Options that do nothing without another, or with this algorithm."""
    options, usual = config.reinforce, ReinforceSection()
    if options.algorithm == "m-grpo":
        _refuse_for_m_grpo(config)
    else:
        _refuse_for_baselines(config)
    needs = {
        "forks": ("branches", options.branches),
        "replay_age": ("replay", options.replay),
        "probe_tasks": ("probe_every", options.probe_every),
        "clock": ("minutes", options.minutes),
        "demos": ("starts='demos'", options.starts == "demos" or options.algorithm == "webrl"),
    }
    for name, (other, is_set) in needs.items():
        if getattr(options, name) != getattr(usual, name) and not is_set:
            raise UserError(f"reinforce.{name} does nothing without reinforce.{other}")
    if options.first_part >= options.group_size:
        raise UserError(f"reinforce.first_part={options.first_part} is no part of a group of {options.group_size}")
    if options.clock == "cpu" and config.cluster.address:
        raise UserError("reinforce.clock='cpu' counts this machine alone: on a cluster use 'wall'")


def _refuse_for_m_grpo(config: Config) -> None:
    options = config.reinforce
    for name in ("rollouts", "batch"):
        if getattr(options, name):
            raise UserError(f"reinforce.{name} does nothing with reinforce.algorithm='m-grpo'")
    if options.group_size < 2:
        raise UserError("reinforce.group_size=1: m-grpo compares the episodes of a group, so it takes at least 2")
    _refuse_sections(config, ("values", *ALGORITHMS))


def _refuse_for_baselines(config: Config) -> None:
    options, usual, name = config.reinforce, ReinforceSection(), config.reinforce.algorithm
    for option in M_GRPO:
        if (value := getattr(options, option)) and value != getattr(usual, option):
            raise UserError(f"reinforce.{option} does nothing with reinforce.algorithm={name!r}")
    if options.normalizer == "constant":
        raise UserError(f"reinforce.normalizer='constant' does nothing with reinforce.algorithm={name!r}")
    others = set(ALGORITHMS) - {name.replace("-", "_")}
    _refuse_sections(config, (*sorted(others), *(("values",) if name == "filtered-bc" else ())))
    if options.shuffle_rewards and options.group_size < 2:
        raise UserError("reinforce.shuffle_rewards needs several episodes of a task: raise reinforce.group_size")
    if options.rollouts and (options.probe_every or config.values.kind == "exact"):
        raise UserError("reinforce.rollouts: nothing is played, so there is no probe and no values.kind='exact'")


def _refuse_sections(config: Config, sections: Sequence[str]) -> None:
    """Sections of other algorithms."""
    for name in sections:
        if getattr(config, name) != getattr(Config(), name):
            raise UserError(f"the section {name} does nothing with reinforce.algorithm={config.reinforce.algorithm!r}")

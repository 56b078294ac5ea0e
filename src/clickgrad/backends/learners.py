"""Learners by the options, in this process or in all that `torchrun` started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from clickgrad.backends.policies import model_spec, settled_compute
from clickgrad.config import Config
from clickgrad.learn.learner import LocalLearner, follow
from clickgrad.learn.ranks import Ranks, join_ranks
from clickgrad.learn.spec import Form, LearnerSpec, Lora, UpdateOptions
from clickgrad.policy.models import load

ROUNDED_CAP = 2.0  # of importance weights, when products round


def clone_spec(config: Config) -> LearnerSpec:
    return LearnerSpec(
        model_spec(config, config.model.path),
        Lora(**config.lora.model_dump()),
        config.seed,
        samples_here=False,
        recompute=config.learner.recompute,
    )


def reinforce_spec(config: Config, start: str) -> LearnerSpec:
    options = config.reinforce
    return LearnerSpec(
        model_spec(config, start),
        Lora(**config.lora.model_dump()),
        config.seed,
        # A value head stands on the states of the start policy.
        with_reference=options.kl_beta > 0 if options.algorithm == "m-grpo" else config.values.kind == "head",
        separate_sampler=options.max_staleness > 0,
        samples_here=options.engine == "torch",
        recompute=config.learner.recompute,
    )


def update_options(config: Config, step: int) -> UpdateOptions:
    section = config.reinforce
    own = {"form", "beta"}  # of the algorithm
    options = UpdateOptions(
        **{name: getattr(section, name) for name in UpdateOptions.__dataclass_fields__ if name not in own}
    )
    if section.algorithm == "webrl":
        form: Form = "square" if config.webrl.form == "paper" else "fade"
        options = replace(options, form=form, beta=config.webrl.beta)
    elif section.algorithm != "m-grpo":
        options = replace(options, form="likelihood")
    if step <= section.warmup:  # the first step after it has the whole rate
        options = replace(options, lr=section.lr * step / (section.warmup + 1))
    if settled_compute(config) == "float32" or section.importance_cap:
        return options
    # What is sampled in one batch and scored in another is rounded differently.
    return replace(options, importance_cap=ROUNDED_CAP)


def build_learner(spec: LearnerSpec, ranks: Ranks) -> LocalLearner:
    return LocalLearner(load(spec.model), spec, ranks)


@contextmanager
def open_learner(spec: LearnerSpec) -> Iterator[LocalLearner]:
    """Trained by all ranks that `torchrun` started; by this process without it."""
    ranks = join_ranks()
    ranks.broadcast(spec)
    yield build_learner(spec, ranks)
    ranks.broadcast(None)  # not after an error: the others may be inside a call, and end with this process


def follow_rank_0() -> None:
    """What all ranks but the first do, from start to end."""
    ranks = join_ranks()
    while (spec := ranks.receive()) is not None:
        follow(build_learner(spec, ranks))


def dismiss_ranks() -> None:
    """Rank 0: there is nothing more to be done."""
    join_ranks().broadcast(None)

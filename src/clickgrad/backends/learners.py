"""Learners by the options, in this process or in all that `torchrun` started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace

from clickgrad.backends.policies import model_spec, settled_compute
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.learn.learner import LocalLearner, follow
from clickgrad.learn.ranks import Ranks, join_ranks
from clickgrad.learn.spec import LearnerSpec, Lora, ReinforceOptions, UpdateOptions
from clickgrad.policy.device import choose_device, give_back_memory
from clickgrad.policy.models import load, load_skeleton

ROUNDED_CAP = 2.0  # of importance weights, when products round


def refuse_flex(config: Config, layout: str) -> None:
    """FlexAttention has no way back on a CPU."""
    if layout == "flex" and choose_device(config.model.device).type != "cuda":
        raise UserError("layout='flex' needs a GPU: set clone.layout and reinforce.layout to 'comb', which is the same")


def refuse_late_saving(config: Config) -> None:
    """A cluster's learner that is lost is started anew from its last checkpoint: that has to be there by then."""
    if config.learner.save_async and config.cluster.address:
        raise UserError("learner.save_async: a cluster's learner goes on from its last checkpoint; leave it out there")


def clone_spec(config: Config) -> LearnerSpec:
    refuse_flex(config, config.clone.layout)
    refuse_late_saving(config)
    return LearnerSpec(
        model_spec(config, config.model.path),
        Lora(**config.lora.model_dump()),
        config.seed,
        samples_here=False,
        recompute=config.learner.recompute,
        save_async=config.learner.save_async,
    )


def reinforce_spec(config: Config, start: str) -> LearnerSpec:
    options = config.reinforce
    refuse_flex(config, options.layout)
    refuse_late_saving(config)
    # A value head stands on the states of the start policy.
    needed = {"m-grpo": options.kl_beta > 0, "filtered-bc": False}
    return LearnerSpec(
        model_spec(config, start),
        Lora(**config.lora.model_dump()),
        config.seed,
        with_reference=needed.get(options.algorithm, config.values.kind == "head"),
        separate_sampler=options.max_staleness > 0,
        samples_here=options.engine == "torch",
        recompute=config.learner.recompute,
        save_async=config.learner.save_async,
    )


def update_options(config: Config, step: int) -> UpdateOptions:
    section, own = config.reinforce, config.of_algorithm
    options = UpdateOptions(**{field.name: getattr(section, field.name) for field in fields(ReinforceOptions)})
    if own:
        form, beta = own.loss
        options = replace(options, form=form, beta=beta)
    if step <= section.warmup:  # the first step after it has the whole rate
        options = replace(options, lr=section.lr * step / (section.warmup + 1))
    if settled_compute(config) == "float32" or section.importance_cap:
        return options
    # What is sampled in one batch and scored in another is rounded differently.
    return replace(options, importance_cap=ROUNDED_CAP)


def build_learner(spec: LearnerSpec, ranks: Ranks) -> LocalLearner:
    """Several ranks that train all weights, and sample elsewhere, read each its own part of them: none holds all."""
    in_parts = ranks.size > 1 and not spec.samples_here and not spec.lora.rank
    loaded = load_skeleton(spec.model) if in_parts else None
    return LocalLearner(loaded or load(spec.model), spec, ranks)


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
        give_back_memory()  # an evaluation may come next, with engines on all GPUs


def dismiss_ranks() -> None:
    """Rank 0: there is nothing more to be done."""
    join_ranks().broadcast(None)

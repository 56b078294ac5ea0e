"""What a learner is to be: enough to build the same one in any process. Knows nothing of torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from clickgrad.policy.spec import ModelSpec

Layout = Literal["rows", "comb", "packed"]  # packed is the comb without sharing, for comparison
# M-GRPO's clipped ratio, or likelihood with a weight for each turn: as given; fading while the turn becomes likelier
# than it was under the reference; the gradient of a squared error (`losses.weighted_loss`).
Form = Literal["clip", "likelihood", "fade", "square"]


@dataclass(frozen=True, slots=True)
class Lora:
    """Adapters of a low rank beside frozen weights; rank 0 trains all weights instead."""

    rank: int = 0
    alpha: int = 32
    layers: int = 0  # only the last so many have adapters, so gradients need not travel below them; 0 is all


@dataclass(frozen=True, slots=True)
class LearnerSpec:
    model: ModelSpec = field(default_factory=ModelSpec)  # that training starts from
    lora: Lora = field(default_factory=Lora)
    seed: int = 0
    with_reference: bool = False  # the start policy is kept, for a KL term
    separate_sampler: bool = False  # the sampler keeps its weights until it is refreshed, whatever happens to the rest
    samples_here: bool = True  # the sampler is sampled from in this process; else its copy is only written to files
    recompute: bool = False  # layers are computed again on the way back instead of kept


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    """Of one step of reinforcement; explained in the section `reinforce` of the configuration, by the same names."""

    lr: float
    clip: float = 0.2
    clip_high: float = 0.0
    kl_beta: float = 0.0
    temperature: float = 1.0
    micro_tokens: int = 2048
    layout: Layout = "comb"
    updates: int = 1
    importance_cap: float = 0.0
    ratio_bound: float = 0.0
    form: Form = "clip"
    beta: float = 1.0  # of the forms `fade` and `square`
    batch: int = 0  # turns of an optimizer step, in the order of the samples; 0 is all at once


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Of a value head, in one step of reinforcement."""

    lr: float = 1e-3
    epochs: int = 4

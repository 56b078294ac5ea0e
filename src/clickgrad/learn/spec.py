"""What a learner is to be: enough to build the same one in any process. Knows nothing of torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from clickgrad.policy.spec import ModelSpec

# flex is the comb by FlexAttention, for GPUs; packed is the comb without sharing, for comparison.
Layout = Literal["rows", "comb", "flex", "packed"]
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
    save_async: bool = False  # checkpoints are written while training goes on


Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


@dataclass(frozen=True)
class ReinforceOptions:
    """Of one step of reinforcement. The section `reinforce` of the configuration has them all, by the same names."""

    lr: Positive  # learning rate
    clip: Positive = 0.2  # how far a token's probability may move in an update
    clip_high: NotNegative = 0.0  # the clip's upper side, where it is another one; 0 is the same
    kl_beta: NotNegative = 0.0  # weight of the KL to the start policy; 0 leaves it out
    temperature: Positive = 1.0  # of sampling
    micro_tokens: Annotated[int, Field(ge=1)] = 2048  # of one pass of an update; less takes less memory
    layout: Layout = "comb"  # rows one by one, or combed: what they share is computed once
    updates: Annotated[int, Field(ge=1)] = 1  # over what a step teaches; from the second on m-grpo's clip may act
    # Corrects for a sampler unlike the trainer, truncated here; 0 is off, unless model.compute rounds: then it is 2.
    importance_cap: NotNegative = 0.0
    ratio_bound: NotNegative = 0.0  # turns whose mean ratio is outside [1/bound, bound] are left out; 0 is off
    batch: Annotated[int, Field(ge=0)] = 0  # turns of an optimizer step, not for m-grpo; 0 is all that a phase teaches


OF_CLIP = ("clip", "clip_high", "kl_beta", "importance_cap", "ratio_bound")  # they do nothing in the other forms


@dataclass(frozen=True)
class UpdateOptions(ReinforceOptions):
    """With what the algorithm says of the loss."""

    form: Form = "clip"
    beta: float = 1.0  # of the forms `fade` and `square`


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Of a value head, in one step of reinforcement."""

    lr: float = 1e-3
    epochs: int = 8

"""How much memory sampling and learning take on a device, by arithmetic: what has to be held, times its size. Pure.

`clickgrad plan`, `--dry-run`, the placement of a run and `doctor --gpu` all reckon with these lines. The counts were
held against the tensors that are really alive in an update (tests/unit/learn/test_memory.py); what a GPU's driver and
libraries take beside them is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

from clickgrad.policy.sizes import Model

GB = 1e9
FLOAT32, BFLOAT16 = 4, 2  # bytes
SPARE = 0.9  # the share of a GPU that can be used: context, NCCL, fragments take the rest
KEPT_MORE = 1.1  # times what a layer keeps by count: temporaries that live as long
BACK_MORE = 0.4  # of a layer's count, again, while gradients pass through it
LOGIT_COPIES = 4  # float32: logits, logprobs, and one of each on the way back
ENGINE_GB = 2.0  # of a vLLM server beside weights and cache: graphs, workspace. Assumed
ASLEEP_GB = 2.0  # of a vLLM server that sleeps. Assumed
ON_CPU_MORE = 1.5  # times the activations: the C library keeps what was freed (SmolLM2 took 1.3 to 1.9 times)


@dataclass(frozen=True, slots=True)
class Learning:
    """What is learned, and how."""

    lora_rank: int
    reference: bool  # the start policy is kept
    recompute: bool
    tokens: int  # of one pass: a micro-batch, or the longest turn
    logits: int  # positions of it that have any
    size: int = BFLOAT16  # bytes of a number in a product


@dataclass(frozen=True, slots=True)
class LearnerGb:
    """Of one learner, in GB."""

    state: float  # its shard of weights, gradients, Adam's moments and what is frozen
    gathered: float  # weights and gradients that are whole for a moment; 0 where nothing is sharded
    activations: float  # of one pass

    @property
    def total(self) -> float:
        return self.state + self.gathered + self.activations


@dataclass(frozen=True, slots=True)
class EngineGb:
    """Of one engine, in GB."""

    weights: float
    row: float  # of the cache for a prompt and reply of full length
    beside: float

    @property
    def least(self) -> float:
        return self.holding(1)

    def holding(self, rows: float) -> float:
        return self.weights + self.beside + rows * self.row

    def rows(self, room: float) -> int:
        """Replies of full length that have room at once."""
        return max(0, int((room - self.weights - self.beside) / self.row))


def learner_gb(model: Model, learning: Learning, learners: int) -> LearnerGb:
    """State is float32, in equal shards: four numbers a trained parameter (itself, its gradient, two of Adam's).

    The start policy is kept in the type of products where it is sharded, in float32 where it is not. While it computes,
    a learner holds whole what lies outside the layers, with its gradient, and two layers: one at work, one on its way.
    """
    rank = learning.lora_rank
    state = 4 * model.trained(rank) * FLOAT32
    if rank:
        state += model.parameters * FLOAT32  # the base, which is the start policy, too
    elif learning.reference:
        state += model.parameters * (learning.size if learners > 1 else FLOAT32)
    gathered = (model.outside + 2 * model.layer) * learning.size
    if not rank:
        gathered += (model.outside + model.layer) * (learning.size + FLOAT32)  # gradients, rounded and summed
    return LearnerGb(
        state=state / learners / GB,
        gathered=gathered / GB if learners > 1 else 0.0,
        activations=activations(model, learning) / GB,
    )


def activations(model: Model, learning: Learning) -> float:
    """Bytes of one pass at its fullest: on the way back through the logits, or through the last layer."""
    layer = learning.tokens * model.kept(learning.lora_rank) * learning.size
    inputs = learning.tokens * model.layers * model.layer_input * learning.size
    kept = inputs if learning.recompute else KEPT_MORE * model.layers * layer
    passing = (KEPT_MORE * learning.recompute + BACK_MORE) * layer
    return kept + max(passing, LOGIT_COPIES * learning.logits * model.vocabulary * FLOAT32)


def engine_gb(model: Model, context: int, beside: float = ENGINE_GB, size: int = BFLOAT16) -> EngineGb:
    return EngineGb(model.parameters * size / GB, context * model.cached * size / GB, beside)

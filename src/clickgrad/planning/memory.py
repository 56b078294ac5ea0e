"""How much memory a plan takes, by arithmetic: what has to be held, times its size. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from clickgrad.planning.constants import Device, Model

GB = 1e9
FLOAT32 = 4  # bytes
# Numbers held from the forward pass on for every token of a micro-batch, counted layer by layer, fall short of what an
# update was seen to take on SmolLM2, 1.3 to 1.9 times as much: temporaries and what the comb gathers come on top.
ABOVE_COUNT = 1.8
KEPT_PROMPT_TOKENS = 32_768  # by the torch engine
SPARE = 0.9  # the share of a GPU that can be used


@dataclass(frozen=True, slots=True)
class Memory:
    """In GB: of one engine, of the fullest learner, of all browsers. On a CPU all of it is the host's."""

    engine_weights: float
    engine_cache: float  # keys and values of all rows at their longest
    learner_state: float  # weights, gradients, optimizer, what is frozen
    learner_activations: float  # of one micro-batch
    browsers: float
    limit: float | None  # of a GPU; None on a CPU
    most_micro_tokens: int | None  # that would fit
    longest_turn: int  # tokens that a micro-batch has at least

    @property
    def engine(self) -> float:
        return self.engine_weights + self.engine_cache

    @property
    def learner(self) -> float:
        return self.learner_state + self.learner_activations

    @property
    def host(self) -> float:
        """What the machine of the browsers needs."""
        return self.browsers + (self.engine + self.learner if self.limit is None else 0.0)

    def too_small(self) -> list[str]:
        """What does not fit, with a way out."""
        if self.limit is None:
            return []
        usable = SPARE * self.limit
        faults = []
        if self.engine > usable:
            faults.append(f"an engine needs {self.engine:.0f} of {usable:.0f} GB: fewer browsers an engine")
        if self.learner > usable:
            faults.append(f"a learner needs {self.learner:.0f} of {usable:.0f} GB: {self._way_out}")
        return faults

    @property
    def _way_out(self) -> str:
        room = self.most_micro_tokens or 0
        if room >= self.longest_turn:
            return f"at most {room} micro-tokens"
        return f"room for {room} tokens, a turn has {self.longest_turn} (recompute, or LoRA)"


def reckon(
    model: Model,
    device: Device,
    *,
    rows: int,
    context: int,
    learners: int,
    rank: int,
    reference: bool,
    micro_tokens: int,
    recompute: bool,
    browsers: int,
    session_mb: float,
) -> Memory:
    """`rows` of an engine, each up to `context` tokens long; 0: there is none. `learners` 0: nobody learns.

    What learners hold is float32 everywhere; on a GPU they are taken to compute with learner.autocast, in two bytes.
    """
    on_gpu, size = device.memory_gb is not None, device.bytes
    engine_weights = model.parameters * size if rows else 0
    kept = 0
    if rows and not on_gpu:
        engine_weights += (model.body + model.head) * size  # linear layers once more, in the kernels' layout
        kept = KEPT_PROMPT_TOKENS
    state = learner_state(model, learners, rank, reference) if learners else 0
    token = activations(model, recompute) * size
    usable = SPARE * device.memory_gb * GB if device.memory_gb is not None else None
    return Memory(
        engine_weights=engine_weights / GB,
        engine_cache=(rows * context + kept) * model.cached * size / GB,
        learner_state=state / GB,
        learner_activations=(max(micro_tokens, context) * token if learners else 0) / GB,
        browsers=browsers * session_mb / 1e3,
        limit=device.memory_gb,
        most_micro_tokens=max(int((usable - state) / token), 0) if usable is not None else None,
        longest_turn=context,
    )


def learner_state(model: Model, learners: int, rank: int, reference: bool) -> float:
    """Bytes of a learner's shard: four numbers a trained parameter (itself, its gradient, two of Adam's)."""
    frozen = 1 if rank or reference else 0  # with LoRA the start policy is the base, with the adapter off
    trained = model.adapter(rank) if rank else model.parameters
    return (frozen * model.parameters + 4 * trained) * FLOAT32 / learners


def activations(model: Model, recompute: bool) -> float:
    """Numbers a token of a micro-batch. Recomputed, a layer keeps its input alone, and one at a time all of this.

    A layer keeps: of two norms input, scaled input and output (6 hidden), of attention queries and output (2 query),
    keys and values (2 key_value), of the feed-forward part gate, its activation, up and their product (4 feed_forward).
    """
    layer = 6 * model.hidden + 2 * model.query + 2 * model.key_value + 4 * model.feed_forward
    return ABOVE_COUNT * (model.layers * model.hidden + layer if recompute else model.layers * layer)

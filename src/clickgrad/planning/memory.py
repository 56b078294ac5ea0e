"""How much memory a plan takes, by arithmetic: what has to be held, times its size. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from clickgrad.planning.setup import Setup

GB, FLOAT32 = 1e9, 4  # bytes
# What a token keeps, counted layer by layer, falls short of what an update was seen to take on SmolLM2, 1.3 to 1.9
# times as much: temporaries and what the comb gathers come on top.
ABOVE_COUNT = 1.8
KEPT_PROMPT_TOKENS = 32_768  # by the torch engine
SPARE = 0.9  # the share of a GPU that can be used


@dataclass(frozen=True, slots=True)
class Memory:
    """In GB: of one engine, of the fullest learner, of all browsers."""

    engine_weights: float
    engine_cache: float  # keys and values of all rows at their longest
    learner_state: float  # weights, gradients, optimizer, what is frozen
    learner_activations: float  # of one micro-batch
    browsers: float
    limit: float | None  # of a GPU; None on a CPU
    most_micro_tokens: int | None  # that would fit
    longest_turn: int  # tokens that a micro-batch has at least
    host: float  # what the machine of the browsers needs: on a CPU all of it

    @property
    def engine(self) -> float:
        return self.engine_weights + self.engine_cache

    @property
    def learner(self) -> float:
        return self.learner_state + self.learner_activations

    def too_small(self) -> list[str]:
        """What does not fit, with a way out."""
        usable, room, turn = SPARE * (self.limit or 0.0), self.most_micro_tokens or 0, self.longest_turn
        faults = []
        if self.limit and self.engine > usable:
            faults.append(f"an engine needs {self.engine:.0f} of {usable:.0f} GB: fewer browsers an engine")
        if self.limit and self.learner > usable:
            less = f"at most {room} micro-tokens"
            way_out = less if room >= turn else f"room for {room} tokens, a turn has {turn} (recompute, or LoRA)"
            faults.append(f"a learner needs {self.learner:.0f} of {usable:.0f} GB: {way_out}")
        return faults


def reckon(setup: Setup, browsers: int, context: int) -> Memory:
    """For so many browsers at once, with prompts and replies of up to `context` tokens.

    What learners hold is float32 everywhere, four numbers a trained parameter (itself, its gradient, two of Adam's), in
    equal shards; on a GPU they are taken to compute in bfloat16, in two bytes.
    """
    options, model, engines, learners = setup.options, setup.model, setup.machine.engines, setup.learners
    size, limit = (2, setup.gpu["memory_gb"]) if setup.gpu else (FLOAT32, None)
    weights, cached = model.parameters, ceil(browsers / max(engines, 1)) * context
    if not setup.gpu:  # the torch engine has its linear layers once more, in the kernels' layout, and keeps prompts
        weights, cached = weights + model.body + model.head, cached + KEPT_PROMPT_TOKENS
    frozen = options.lora_rank or options.reference  # with LoRA the start policy is the base, the adapter off
    state = 4 * model.trained(options.lora_rank) + (model.parameters if frozen else 0)
    token = ABOVE_COUNT * (model.kept_recomputing if options.recompute else model.kept) * size
    shard = state * FLOAT32 / learners if learners else 0.0
    engine_weights, engine_cache = (weights * size / GB, cached * model.cached * size / GB) if engines else (0.0, 0.0)
    learner_activations = max(options.micro_tokens, context) * token / GB if learners else 0.0
    held = browsers * setup.session_mb / 1e3
    return Memory(
        engine_weights=engine_weights,
        engine_cache=engine_cache,
        learner_state=shard / GB,
        learner_activations=learner_activations,
        browsers=held,
        limit=limit,
        most_micro_tokens=max(int((SPARE * limit * GB - shard) / token), 0) if limit else None,
        longest_turn=context,
        host=held if limit else held + (engine_weights + engine_cache + (shard / GB + learner_activations)),
    )

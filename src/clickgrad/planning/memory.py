"""How much memory a plan takes, by the arithmetic of `backends.memory`: engines, learners and browsers. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from clickgrad.backends.memory import BFLOAT16, FLOAT32, GB, ON_CPU_MORE, SPARE, Learning, engine_gb, learner_gb
from clickgrad.planning.setup import Setup

KEPT_PROMPT_TOKENS = 32_768  # by the torch engine


@dataclass(frozen=True, slots=True)
class Memory:
    """In GB: of one engine, of the fullest learner, of all browsers."""

    engine_weights: float
    engine_cache: float  # keys and values of all rows at their longest
    learner_state: float  # weights, gradients, optimizer, what is frozen; what is gathered for a moment
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

    The arithmetic is `backends.memory`, as for the placement of a run. On a GPU products are taken to be in bfloat16.
    """
    options, model, engines, learners = setup.options, setup.model, setup.machine.engines, setup.learners
    size, limit = (BFLOAT16, setup.gpu["memory_gb"]) if setup.gpu else (FLOAT32, None)
    engine, rows = engine_gb(model, context, size=size), ceil(browsers / max(engines, 1))
    weights, cache = engine.weights, rows * engine.row
    if not setup.gpu:  # the torch engine has its linear layers once more, in the kernels' layout, and keeps prompts
        weights += (model.body + model.head) * size / GB
        cache += KEPT_PROMPT_TOKENS * model.cached * size / GB
    tokens = max(options.micro_tokens, context)
    replies = tokens * options.reply_tokens // (options.page_tokens + options.reply_tokens)
    learning = Learning(options.lora_rank, options.reference, options.recompute, tokens, replies, size)
    learner = learner_gb(model, learning, max(learners, 1))
    passing = learner.activations * (1.0 if setup.gpu else ON_CPU_MORE)
    state = learner.state + learner.gathered
    held = browsers * setup.session_mb / 1e3
    memory = Memory(
        engine_weights=weights if engines else 0.0,
        engine_cache=cache if engines else 0.0,
        learner_state=state if learners else 0.0,
        learner_activations=passing if learners else 0.0,
        browsers=held,
        limit=limit,
        most_micro_tokens=max(int((SPARE * limit - state) / passing * tokens), 0) if limit else None,
        longest_turn=context,
        host=held,
    )
    return memory if limit else replace(memory, host=held + memory.engine + memory.learner)

"""What breaks between episodes, in the learner: a named error of one line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import torch
from tiny import new_learner, tiny_model, tiny_tokenizer

from clickgrad.errors import InfraError, LearnError
from clickgrad.learn.spec import UpdateOptions
from clickgrad.recipes.progress import LearnerThread
from clickgrad.types import Sample

SAMPLES = [Sample((7, 8, 9, 10), 2, (0.0, 0.0), 1.0, 1.0)]


def out_of_memory(*_: Any) -> None:
    if not torch.is_grad_enabled():
        raise RuntimeError("out of memory\nand much more about it")


def test_a_model_that_raises_while_the_start_policy_is_asked_is_one_line() -> None:
    """As `bench chaos` lets it: in a pass without gradients, which in an update is that of the reference."""
    learner = new_learner(tiny_model(tiny_tokenizer(["some text"])), 4)
    learner.model.register_forward_pre_hook(out_of_memory)

    async def update() -> None:
        with LearnerThread(learner, lambda done, total: None) as thread:
            await thread.run(learner.update, SAMPLES, UpdateOptions(lr=1e-3, kl_beta=0.1))

    with pytest.raises(InfraError, match=r"^the learner's update: RuntimeError: out of memory$"):
        asyncio.run(update())


def test_an_error_of_ours_stays_what_it_is() -> None:
    learner = new_learner(tiny_model(tiny_tokenizer(["some text"])))

    def diverge() -> None:
        raise LearnError("not finite")

    async def run(work: Callable[[], None]) -> None:
        with LearnerThread(learner, lambda done, total: None) as thread:
            await thread.run(work)

    with pytest.raises(LearnError, match=r"^not finite$"):
        asyncio.run(run(diverge))

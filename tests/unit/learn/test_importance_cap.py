"""A sampler that is not quite the trainer: `importance_cap` through a whole optimizer step, by hand.

The first turn's tokens are 1.5 times as likely to the trainer as to the sampler, the second one's 5 times; the cap
is 2.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import pytest
import torch
from tiny import tiny_model, tiny_tokenizer

from clickgrad.learn.logprobs import collate, reply_logprobs
from clickgrad.learn.spec import UpdateOptions
from clickgrad.learn.step import StepFigures, grpo_step
from clickgrad.types import Sample

TURNS = [Sample((7, 8, 9, 10), 2, (), 1.0, 0.5), Sample((3, 4, 5), 1, (), -1.0, 0.5)]
FACTORS = (1.5, 5.0)
CAP, CLIP, LR = 2.0, 0.2, 0.1


def own_logprobs(model: torch.nn.Module) -> list[list[float]]:
    with torch.no_grad():
        rows = reply_logprobs(model, collate([replace(turn, logprobs=(0.0,) * turn.reply_len) for turn in TURNS]))[0]
    return [row[-turn.reply_len :].tolist() for row, turn in zip(rows, TURNS, strict=True)]


def sampled(factors: tuple[float, float]) -> list[Sample]:
    """The turns with the logprobs of a sampler to which they were so many times less likely."""
    own = own_logprobs(new_model())
    told = [tuple(value - log(factor) for value in row) for row, factor in zip(own, factors, strict=True)]
    return [replace(turn, logprobs=logprobs) for turn, logprobs in zip(TURNS, told, strict=True)]


def new_model() -> torch.nn.Module:
    return tiny_model(tiny_tokenizer(["some text"])).model  # type: ignore[no-any-return]


def steps(samples: list[Sample], cap: float, updates: int = 1) -> tuple[torch.nn.Module, tuple[StepFigures, ...]]:
    """Micro-batches of one turn, so that each must find its own logprobs again in the second update."""
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=LR)
    options = UpdateOptions(LR, CLIP, micro_tokens=1, updates=updates, importance_cap=cap)
    return model, grpo_step(model, optimizer, samples, options)


def test_each_token_is_weighed_by_how_much_likelier_it_is_to_the_trainer_up_to_the_cap() -> None:
    """Ratios are 1, so the gains are 1.5 * (+1) and min(5, 2) * (-1), each with weight 1/2."""
    _, (figures,) = steps(sampled(FACTORS), CAP)
    assert figures.loss == pytest.approx(-(0.5 * 1.5 - 0.5 * 2.0), abs=1e-5)
    assert figures.sampler_gap == pytest.approx(log(5), abs=1e-5)
    assert figures.clip_share == 0


def test_without_a_cap_the_clip_sees_the_samplers_logprobs() -> None:
    """The clip stops 1.5 at 1.2 and does not protect the growing mistake."""
    _, (figures,) = steps(sampled(FACTORS), 0.0)
    assert figures.loss == pytest.approx(-(0.5 * 1.2 - 0.5 * 5.0), abs=1e-5)
    assert figures.clip_share == pytest.approx(2 / 3)


def test_the_weights_move_as_if_the_turns_had_been_weighed_by_hand() -> None:
    corrected, _ = steps(sampled(FACTORS), CAP)
    by_hand = [replace(one, weight=0.5 * factor) for one, factor in zip(sampled((1.0, 1.0)), (1.5, 2.0), strict=True)]
    weighed, _ = steps(by_hand, 0.0)
    start = new_model().state_dict()
    assert any(not torch.equal(value, start[name]) for name, value in corrected.state_dict().items())
    for name, value in corrected.state_dict().items():
        torch.testing.assert_close(value, weighed.state_dict()[name], rtol=0, atol=1e-6)


def test_a_second_update_compares_with_the_trainer_as_it_was_before_the_first() -> None:
    before = own_logprobs(new_model())
    after = own_logprobs(steps(sampled(FACTORS), CAP)[0])
    _, (_, second) = steps(sampled(FACTORS), CAP, updates=2)
    gains = []
    for turn, factor, olds, news in zip(TURNS, (1.5, 2.0), before, after, strict=True):
        ratios = [exp(new - old) for old, new in zip(olds, news, strict=True)]
        kept = [min(r * turn.advantage, max(0.8, min(1.2, r)) * turn.advantage) for r in ratios]
        gains.append(factor * sum(kept) / len(kept))
    assert abs(after[0][0] - before[0][0]) > 0.01
    assert second.loss == pytest.approx(-0.5 * sum(gains), abs=1e-5)
    assert second.sampler_gap == pytest.approx(log(5), abs=1e-5)

"""Weighted likelihood against cloning, and the two forms of WebRL against numbers worked out by hand."""

from __future__ import annotations

from math import log

import pytest
import torch
from tiny import make_trajectory, make_turn, new_learner, tiny_model, tiny_tokenizer

from clickgrad.learn.logprobs import Batch, collate
from clickgrad.learn.losses import weighted_loss
from clickgrad.learn.samples import clone_samples
from clickgrad.learn.spec import Form, UpdateOptions
from clickgrad.types import Sample

OLD = -1.0  # a probability of 0.37: the reference is not sure


def one_turn(advantage: float = 1.0, weight: float = 1.0, old: float = OLD) -> Batch:
    """Two tokens, each with logprob `old` under the reference."""
    return collate([Sample((1, 2, 3), 2, (old, old), advantage, weight)])


def slope(batch: Batch, away: float, form: Form, beta: float) -> float:
    """Of the loss in the turn's mean logprob, when that is `away` nats above the reference's."""
    logprobs = (batch.old_logprobs_BK + away).requires_grad_()
    weighted_loss(logprobs, batch, UpdateOptions(0.0, form=form, beta=beta)).backward()  # type: ignore[no-untyped-call]
    assert logprobs.grad is not None
    return float(logprobs.grad.sum())


@pytest.mark.parametrize("form", ["likelihood", "fade"])
def test_at_the_reference_a_turn_is_cloned(form: Form) -> None:
    """-w d(mean logprob): weight 1 is cloning, weight 3 three times that."""
    assert slope(one_turn(), 0.0, form, 1.0) == pytest.approx(-1.0)
    assert slope(one_turn(weight=3.0), 0.0, form, 1.0) == pytest.approx(-3.0)


@pytest.mark.parametrize(
    ("away", "beta", "expected"),
    [(0.25, 1.0, -0.75), (0.25, 2.0, -0.5), (1.0, 1.0, 0.0), (0.5, 2.0, 0.0), (3.0, 1.0, 0.0), (-2.0, 1.0, -1.0)],
)
def test_the_codes_form_fades_to_nothing_at_one_over_beta(away: float, beta: float, expected: float) -> None:
    """-clip(1 - b x, 0, 1)."""
    assert slope(one_turn(), away, "fade", beta) == pytest.approx(expected, abs=1e-6)


def test_the_codes_form_fades_five_times_as_soon_where_the_reference_was_sure() -> None:
    """A mean probability of 0.9: b = 5, so at x = 0.1 half is left, and at 0.2 nothing."""
    sure = one_turn(old=log(0.9))
    assert slope(sure, 0.1, "fade", 1.0) == pytest.approx(-0.5, abs=1e-6)
    assert slope(sure, 0.2, "fade", 1.0) == pytest.approx(0.0, abs=1e-6)
    assert slope(one_turn(old=log(0.79)), 0.1, "fade", 1.0) == pytest.approx(-0.9, abs=1e-6)


@pytest.mark.parametrize(("advantage", "away", "beta"), [(0.5, 0.0, 0.3), (0.5, 1.0, 0.3), (-0.4, 0.2, 1.0)])
def test_the_papers_form_has_the_gradient_of_the_squared_error(advantage: float, away: float, beta: float) -> None:
    """d (b x - A)^2 / dx = -2 b (A - b x), by hand and by torch."""
    batch = one_turn(advantage)
    by_hand = -2 * beta * (advantage - beta * away)
    assert slope(batch, away, "square", beta) == pytest.approx(by_hand, abs=1e-6)
    x = torch.tensor(away, requires_grad=True)
    ((beta * x - advantage) ** 2).backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    assert float(x.grad) == pytest.approx(by_hand, abs=1e-6)


def test_an_update_with_weights_of_one_is_a_step_of_cloning_to_the_bit() -> None:
    """Filtered BC on successes: the same weights as behaviour cloning gives."""
    samples = clone_samples(make_trajectory([make_turn([1, 2], [3, 4]), make_turn([5], [6])], 1.0))
    cloned, updated = (new_learner(tiny_model(tiny_tokenizer(["some text"])), 4) for _ in range(2))
    cloned.clone(samples, 1e-2, 1000, "comb")
    (figures,) = updated.update(samples, UpdateOptions(1e-2, micro_tokens=1000, form="likelihood"))
    assert figures.tokens == 3
    for name, value in cloned.weights().items():
        assert torch.equal(value, updated.weights()[name]), name


def test_a_batch_is_so_many_turns_in_their_order_and_a_pass_is_made_again() -> None:
    samples = [Sample((n, n + 1), 1, (0.0,), 1.0, 1.0) for n in range(1, 6)]
    whole, by_hand = (new_learner(tiny_model(tiny_tokenizer(["some text"])), 4) for _ in range(2))
    options = UpdateOptions(1e-2, micro_tokens=1000, form="likelihood", batch=2, updates=2)
    assert [one.tokens for one in whole.update(samples, options)] == [2, 2, 1] * 2
    for part in (samples[:2], samples[2:4], samples[4:]) * 2:
        by_hand.clone(part, 1e-2, 1000, "comb")
    for name, value in by_hand.weights().items():
        assert torch.equal(value, whole.weights()[name]), name

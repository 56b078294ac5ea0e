"""The losses, as functions of logprobs alone.

Shapes: B turns, K reply positions; `loss_BK` is 1 where a sampled token stands. Each returns the batch's share of the
loss: turns are averaged over their own tokens, then summed by weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from clickgrad.learn.logprobs import Batch
from clickgrad.learn.spec import UpdateOptions


@dataclass(frozen=True, slots=True)
class GrpoTerms:
    loss: torch.Tensor
    ratio_clipped: torch.Tensor  # number of tokens on which the clip acted
    kl: torch.Tensor  # summed over tokens, k3 against the reference


def mean_over_tokens(values_BK: torch.Tensor, batch: Batch) -> torch.Tensor:
    """[B]: the mean of each turn over the tokens it sampled."""
    # where, not a product: padding may hold infinities, and 0 * inf is NaN.
    kept = torch.where(batch.loss_BK > 0, values_BK, torch.zeros_like(values_BK))
    return kept.sum(1) / batch.loss_BK.sum(1)


def clone_loss(logprobs_BK: torch.Tensor, batch: Batch) -> torch.Tensor:
    return -(batch.weights_B * mean_over_tokens(logprobs_BK, batch)).sum()


SURE, SURE_BETA = (
    0.8,
    5.0,
)  # a reference with so large a mean probability is left by less: beta is so many times as large


def weighted_loss(logprobs_BK: torch.Tensor, batch: Batch, options: UpdateOptions) -> torch.Tensor:
    """-sum over turns of w f log p(reply), log p as a mean over tokens; f is a number, nothing is learned through it.

    `likelihood`: f = 1. The others look at x, the mean log ratio to the reference, whose logprobs the samples hold:
    `fade`: f = clip(1 - b x, 0, 1), with b = beta, or 5 beta where the reference is sure already. Whole at the start,
    and gone once the turn's mean token has become likelier by 1 / b nats.
    `square`: f = 2 b (A - b x), so that the gradient is that of (b x - A)^2.
    """
    if options.form == "likelihood":
        return clone_loss(logprobs_BK, batch)
    mean = mean_over_tokens(logprobs_BK, batch)
    away = mean.detach() - mean_over_tokens(batch.old_logprobs_BK, batch)
    if options.form == "square":
        factor = 2 * options.beta * (batch.advantages_B - options.beta * away)
    else:
        sure = mean_over_tokens(batch.old_logprobs_BK.exp(), batch) >= SURE
        factor = (1 - options.beta * torch.where(sure, SURE_BETA, 1.0) * away).clamp(0, 1)
    return -(batch.weights_B * factor * mean).sum()


def within_bound(logprobs_BK: torch.Tensor, batch: Batch, bound: float) -> torch.Tensor:
    """[B]: 1 for turns whose ratio to the sampler, as a geometric mean over their tokens, is in [1 / bound, bound].

    Beyond it the policy has gone too far from the one that said it for a ratio to set that right: with a bound of 2 and
    ratios 4 and 1 the mean is 2, and the turn counts; with 4 and 2 it is 2.83, and the turn does not.
    """
    away = mean_over_tokens(logprobs_BK - batch.old_logprobs_BK, batch)
    return (away.abs() <= math.log(bound) + 1e-6).to(logprobs_BK.dtype)


def grpo_loss(
    logprobs_BK: torch.Tensor,
    batch: Batch,
    options: UpdateOptions,
    reference_BK: torch.Tensor | None = None,
    before_BK: torch.Tensor | None = None,
) -> GrpoTerms:
    """min(rho A, clip(rho) A) - beta KL, rho against the policy that sampled.

    KL is the k3 estimator, exp(d) - d - 1 with d = log reference - log policy: never negative, unbiased.

    When the sampler computes a little differently from the trainer (another engine, rounded weights), `before_BK`,
    the trainer's own logprobs before the update, takes the sampler's place in rho, and each token is weighed by
    min(before / sampler, importance_cap).

    `clip_high` is the clip's upper side where it is not the lower one's. `ratio_bound` leaves out whole turns.
    """
    old_BK = batch.old_logprobs_BK if before_BK is None else before_BK
    ratio = torch.exp(logprobs_BK - old_BK)
    advantages = batch.advantages_B[:, None]
    clipped = ratio.clamp(1 - options.clip, 1 + (options.clip_high or options.clip))
    gain = torch.minimum(ratio * advantages, clipped * advantages)
    if before_BK is not None:
        gain = gain * torch.exp(before_BK - batch.old_logprobs_BK).clamp(max=options.importance_cap)
    kl = torch.zeros_like(logprobs_BK)
    if reference_BK is not None:
        away = reference_BK - logprobs_BK
        kl = torch.exp(away) - away - 1
    weights = batch.weights_B
    if options.ratio_bound:
        weights = weights * within_bound(logprobs_BK.detach(), batch, options.ratio_bound)
    loss = -(weights * mean_over_tokens(gain - options.kl_beta * kl, batch)).sum()
    sampled = batch.loss_BK > 0
    acted = (clipped * advantages < ratio * advantages) & sampled
    return GrpoTerms(loss, acted.sum(), torch.where(sampled, kl, 0).detach().sum())

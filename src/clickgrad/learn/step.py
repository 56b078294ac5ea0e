"""One optimizer step: samples in, changed weights and figures out. Knows nothing of tasks, browsers or files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import torch

from clickgrad.learn.logprobs import Batch, collate, micro_batches, reply_logprobs
from clickgrad.learn.losses import clone_loss, grpo_loss, weighted_loss
from clickgrad.learn.ranks import ALONE, Ranks, full_tensor
from clickgrad.learn.spec import Layout, UpdateOptions
from clickgrad.policy.device import on_device_of
from clickgrad.types import Sample

OnProgress = Callable[[int, int], None]  # (turns done, turns in all)
Reference = Callable[[Batch, float], torch.Tensor]  # logprobs of a batch, at a temperature, under the start policy


def silent(done: int, total: int) -> None:
    """Progress that nobody looks at."""


@dataclass(frozen=True, slots=True)
class StepFigures:
    skipped: bool  # loss or gradient was not finite: the weights are as they were
    loss: float
    grad_norm: float
    entropy: float
    kl: float
    sampler_gap: float  # largest difference between a logprob of the sampler and the trainer's own
    clip_share: float
    tokens: int  # sampled tokens that carried loss
    tokens_seen: int  # of the distinct turns, one by one
    tokens_computed: int  # by the model: more with padding, less where turns share their beginning


def trainable(model: Any) -> list[torch.nn.Parameter]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def make_optimizer(model: Any, lr: float) -> torch.optim.AdamW:
    return torch.optim.AdamW(trainable(model), lr=lr, betas=(0.9, 0.99), weight_decay=0.0)


def clone_step(
    model: Any,
    optimizer: torch.optim.Optimizer,
    samples: Sequence[Sample],
    lr: float,
    micro_tokens: int,
    layout: Layout = "comb",
    ranks: Ranks = ALONE,
) -> StepFigures:
    """Behaviour cloning on one batch: the mean over its replies."""
    total = max(1, len(samples))

    def backward(batch: Batch, number: int, weight: float) -> _Part:
        logprobs, entropy = reply_logprobs(model, batch)
        loss = clone_loss(logprobs, batch) / total
        (loss * weight).backward()  # type: ignore[no-untyped-call]
        return _Part(float(loss.detach()), 0.0, 0, _sum(entropy, batch), 0.0)

    return _step(model, optimizer, Batches(samples, micro_tokens, layout), lr, backward, ranks)


@torch.no_grad()
def mean_loss(model: Any, samples: Sequence[Sample], micro_tokens: int) -> float | None:
    """What cloning would call the loss of these samples; None when there are none."""
    if not samples:
        return None
    losses = []
    with on_device_of(model):
        for micro in micro_batches(samples, micro_tokens, "comb"):
            batch = collate(micro, "comb")
            losses.append(float(clone_loss(reply_logprobs(model, batch)[0], batch)))
    return sum(losses) / len(samples)


def grpo_step(
    model: Any,
    optimizer: torch.optim.Optimizer,
    samples: Sequence[Sample],
    options: UpdateOptions,
    reference: Reference | None = None,
    ranks: Ranks = ALONE,
    progress: OnProgress = silent,
) -> tuple[StepFigures, ...]:
    """M-GRPO on one batch of groups, `updates` times over it: from the second on the clip may act."""
    before: dict[int, torch.Tensor] = {}  # the trainer's own logprobs of each micro-batch, as they were at first

    def backward(batch: Batch, number: int, weight: float) -> _Part:
        scored = reference(batch, options.temperature) if reference else None
        logprobs, entropy = reply_logprobs(model, batch, options.temperature)
        own = before.setdefault(number, logprobs.detach())
        terms = grpo_loss(logprobs, batch, options, scored, own if options.importance_cap else None)
        (terms.loss * weight).backward()  # type: ignore[no-untyped-call]
        gap = torch.where(batch.loss_BK > 0, (own - batch.old_logprobs_BK).abs(), 0).max()
        return _Part(
            float(terms.loss.detach()), float(terms.kl), int(terms.ratio_clipped), _sum(entropy, batch), float(gap)
        )

    batches = Batches(samples, options.micro_tokens, options.layout)
    return tuple(
        _step(model, optimizer, batches, options.lr, backward, ranks, progress) for _ in range(options.updates)
    )


def weighted_step(
    model: Any,
    optimizer: torch.optim.Optimizer,
    samples: Sequence[Sample],
    options: UpdateOptions,
    ranks: Ranks = ALONE,
    progress: OnProgress = silent,
) -> tuple[StepFigures, ...]:
    """Weighted likelihood: `updates` times over the samples, in their order, `batch` turns to a step."""
    size = options.batch or max(1, len(samples))
    some = [samples[start : start + size] for start in range(0, len(samples), size)]
    return tuple(_weighted(model, optimizer, part, options, ranks, progress) for part in some * options.updates)


def _weighted(
    model: Any,
    optimizer: torch.optim.Optimizer,
    samples: Sequence[Sample],
    options: UpdateOptions,
    ranks: Ranks,
    progress: OnProgress,
) -> StepFigures:
    def backward(batch: Batch, number: int, weight: float) -> _Part:
        logprobs, entropy = reply_logprobs(model, batch, options.temperature)
        loss = weighted_loss(logprobs, batch, options) / len(samples)
        (loss * weight).backward()  # type: ignore[no-untyped-call]
        return _Part(float(loss.detach()), 0.0, 0, _sum(entropy, batch), 0.0)

    batches = Batches(samples, options.micro_tokens, options.layout)
    return _step(model, optimizer, batches, options.lr, backward, ranks, progress)


@torch.no_grad()
def rescored(model: Any, samples: Sequence[Sample], temperature: float, micro_tokens: int) -> tuple[Sample, ...]:
    """The same turns with the logprobs that this model gives them, in place of the sampler's."""
    known: dict[tuple[tuple[int, ...], int], tuple[float, ...]] = {}
    with on_device_of(model):
        for micro in micro_batches(samples, micro_tokens, "comb"):
            logprobs = reply_logprobs(model, collate(micro, "comb"), temperature)[0].cpu()
            for one, row in zip(micro, logprobs.tolist(), strict=True):
                known[one.ids, one.reply_len] = tuple(row[-one.reply_len :])
    return tuple(replace(one, logprobs=known[one.ids, one.reply_len]) for one in samples)


@dataclass(frozen=True, slots=True)
class _Part:
    loss: float
    kl: float
    clipped: int
    entropy: float
    sampler_gap: float


def _sum(values_BK: torch.Tensor, batch: Batch) -> float:
    return float(torch.where(batch.loss_BK > 0, values_BK, 0).sum())


@dataclass(frozen=True, slots=True)
class Batches:
    """The samples of a step, and how they are cut into what fits the memory."""

    samples: Sequence[Sample]
    micro_tokens: int
    layout: Layout

    def micro(self) -> list[tuple[Sample, ...]]:
        return list(micro_batches(self.samples, self.micro_tokens, self.layout))


def _step(
    model: Any,
    optimizer: torch.optim.Optimizer,
    batches: Batches,
    lr: float,
    backward: Callable[[Batch, int, float], _Part],  # of a micro-batch, its number and its weight in the gradient
    ranks: Ranks = ALONE,
    progress: OnProgress = silent,
) -> StepFigures:
    """Gradients add up over micro-batches in a fixed order, so the same samples give the same weights to the bit."""
    samples = batches.samples
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.zero_grad(set_to_none=True)
    parts, done, computed = [], 0, 0
    for number, micro, weight in ranks.share(batches.micro()):
        with on_device_of(model):
            batch = collate(micro, batches.layout)
            part = backward(batch, number, weight)
        if weight:
            parts.append(part)
        computed += batch.tokens
        done += len(micro)
        progress(min(done * ranks.size, len(samples)), len(samples))
    norm = float(full_tensor(torch.nn.utils.clip_grad_norm_(trainable(model), max_norm=1.0)))
    loss, entropy, kl, clipped, computed_by_all = ranks.sum(
        [sum(getattr(part, name) for part in parts) for name in ("loss", "entropy", "kl", "clipped")] + [computed]
    )
    skipped = not (isfinite(norm) and isfinite(loss))
    if skipped:
        optimizer.zero_grad(set_to_none=True)
    else:
        optimizer.step()
    tokens = sum(sample.reply_len for sample in samples)
    return StepFigures(
        skipped=skipped,
        loss=loss,
        grad_norm=norm,
        entropy=entropy / max(1, tokens),
        kl=kl / max(1, tokens),
        sampler_gap=ranks.max(max((part.sampler_gap for part in parts), default=0.0)),
        clip_share=clipped / max(1, tokens),
        tokens=tokens,
        tokens_seen=sum(len(ids) for ids in {sample.ids for sample in samples}),
        tokens_computed=int(computed_by_all),
    )

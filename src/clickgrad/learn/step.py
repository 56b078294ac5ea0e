"""One optimizer step: samples in, changed weights and figures out. Knows nothing of tasks, browsers or files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from clickgrad.learn.logprobs import Batch, collate, micro_batches, reply_logprobs
from clickgrad.learn.losses import clone_loss, grpo_loss
from clickgrad.types import Sample

OnProgress = Callable[[int, int], None]  # (turns done, turns in all)


@dataclass(frozen=True, slots=True)
class StepFigures:
    loss: float
    grad_norm: float
    entropy: float
    kl: float
    clip_share: float
    tokens: int  # sampled tokens that carried loss
    tokens_seen: int  # all tokens computed: distinct turns, padding left out


def trainable(model: Any) -> list[torch.nn.Parameter]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def make_optimizer(model: Any, lr: float) -> torch.optim.AdamW:
    return torch.optim.AdamW(trainable(model), lr=lr, betas=(0.9, 0.99), weight_decay=0.0)


def clone_step(
    model: Any, optimizer: torch.optim.Optimizer, samples: Sequence[Sample], lr: float, micro_tokens: int
) -> StepFigures:
    """Behaviour cloning on one batch: the mean over its replies."""
    total = len(samples)

    def backward(batch: Batch) -> _Part:
        logprobs, entropy = reply_logprobs(model, batch)
        loss = clone_loss(logprobs, batch) / total
        loss.backward()  # type: ignore[no-untyped-call]
        return _Part(float(loss.detach()), 0.0, 0, _sum(entropy, batch))

    return _step(model, optimizer, samples, lr, micro_tokens, backward)


def grpo_step(
    model: Any,
    reference: Callable[[Batch, float], torch.Tensor] | None,
    optimizer: torch.optim.Optimizer,
    samples: Sequence[Sample],
    lr: float,
    clip: float,
    kl_beta: float,
    temperature: float,
    micro_tokens: int,
    progress: OnProgress = lambda done, total: None,
) -> StepFigures:
    """M-GRPO on one batch of groups. `reference` scores a batch, at a temperature, under the frozen start policy."""

    def backward(batch: Batch) -> _Part:
        logprobs, entropy = reply_logprobs(model, batch, temperature)
        terms = grpo_loss(logprobs, reference(batch, temperature) if reference else None, batch, clip, kl_beta)
        terms.loss.backward()  # type: ignore[no-untyped-call]
        return _Part(float(terms.loss.detach()), float(terms.kl), int(terms.ratio_clipped), _sum(entropy, batch))

    return _step(model, optimizer, samples, lr, micro_tokens, backward, progress)


@dataclass(frozen=True, slots=True)
class _Part:
    loss: float
    kl: float
    clipped: int
    entropy: float


def _sum(values_BK: torch.Tensor, batch: Batch) -> float:
    return float(torch.where(batch.loss_BK > 0, values_BK, 0).sum())


def _step(
    model: Any,
    optimizer: torch.optim.Optimizer,
    samples: Sequence[Sample],
    lr: float,
    micro_tokens: int,
    backward: Callable[[Batch], _Part],
    progress: OnProgress = lambda done, total: None,
) -> StepFigures:
    """Gradients add up over micro-batches in a fixed order, so the same samples give the same weights to the bit."""
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.zero_grad(set_to_none=True)
    parts, done = [], 0
    for micro in micro_batches(samples, micro_tokens):
        parts.append(backward(collate(micro)))
        done += len(micro)
        progress(done, len(samples))
    norm = float(torch.nn.utils.clip_grad_norm_(trainable(model), max_norm=1.0))
    optimizer.step()
    tokens = sum(sample.reply_len for sample in samples)
    return StepFigures(
        loss=sum(part.loss for part in parts),
        grad_norm=norm,
        entropy=sum(part.entropy for part in parts) / tokens,
        kl=sum(part.kl for part in parts) / tokens,
        clip_share=sum(part.clipped for part in parts) / tokens,
        tokens=tokens,
        tokens_seen=sum(len(ids) for ids in {sample.ids for sample in samples}),
    )

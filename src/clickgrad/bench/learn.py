"""What an update costs in each layout: the same turns as padded rows, packed rows, and a comb.

The turns have an agent's shape (a trunk that grows, a page for every turn, a group that shares system and task) and
random ids: what the words say changes nothing about the time they take.

How near an update comes to what the machine can do is told by arithmetic: the operations of its products with weights,
at the rate of one such product alone. Attention, norms and the loss count as time, not as work.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from clickgrad.bench.figures import PeakMemory
from clickgrad.display import progress_bar
from clickgrad.errors import UserError
from clickgrad.learn.learner import LocalLearner
from clickgrad.learn.logprobs import collate, micro_batches, reply_logprobs
from clickgrad.learn.losses import grpo_loss
from clickgrad.learn.spec import Layout, LearnerSpec, Lora, UpdateOptions
from clickgrad.policy.models import load
from clickgrad.policy.packed import multiply, pack
from clickgrad.policy.spec import Compute, ModelSpec
from clickgrad.types import Sample

LAYOUTS: tuple[Layout, ...] = ("rows", "packed", "comb")
TURNS, SYSTEM, TASK, PLACEHOLDER, REPLY = 10, 70, 20, 16, 40
MICRO_TOKENS = 4096  # 14 to 15 GB at most with LoRA on SmolLM2
ALONE_ROWS, ALONE_SIZE, ALONE_TRIES = 1500, (576, 1536), 20  # a product by itself, as large as one of an update
MEMBERS = {300: 4, 1000: 4, 3000: 1}  # of the group, by page size: so that a measurement takes minutes, not hours


@dataclass(frozen=True, slots=True)
class LearnFigures:
    page_tokens: int
    members: int
    tokens_rows: int
    tokens_packed: int
    tokens_comb: int
    s_rows_padded: float
    s_rows_packed: float
    s_comb: float
    comb_against_packed: float  # how many times as fast
    comb_against_padded: float
    peak_mb_rows: float
    peak_mb_packed: float
    peak_mb_comb: float
    max_logprob_error: float  # comb against padded rows
    max_grad_error: float  # relative, by norm
    compute: Compute  # the type of products
    comb_gflops: float  # operations of the comb's products with weights, in a second
    alone_gflops: float  # of one such product by itself
    comb_share: float  # of that


def bench_learn(
    pages: Sequence[int], lora_rank: int, repeat: int, compute: Compute, quiet: bool
) -> Iterator[LearnFigures]:
    """Thirty-five minutes on two cores, so each page size is told as soon as it is measured."""
    if compute != "float32" and not lora_rank:
        raise UserError(f"--compute {compute} is for products with frozen weights: give a --lora-rank above 0")
    spec = LearnerSpec(ModelSpec(compute=compute), Lora(lora_rank, 2 * max(lora_rank, 1)))
    learner = LocalLearner(load(spec.model), spec)
    with progress_bar("bench learn", len(pages) * len(LAYOUTS) * repeat, quiet=quiet) as ticker:
        for page in pages:
            samples = agent_turns(page, MEMBERS.get(page, 1))
            seconds: dict[Layout, list[float]] = {layout: [] for layout in LAYOUTS}
            results = {}
            for _ in range(repeat):  # in turn, so that a slow minute of the machine hits all of them
                for layout in LAYOUTS:
                    results[layout] = measure(learner.model, samples, layout)
                    seconds[layout].append(results[layout].seconds)
                    ticker.advance(f"pages of {page}, {layout}: {results[layout].seconds:.1f} s")
            best = {layout: min(taken) for layout, taken in seconds.items()}
            work = operations(learner.model, results["comb"].tokens, len(samples) * REPLY)
            speed = Speed(compute, work / best["comb"] / 1e9, alone_gflops(compute))
            yield _compare(page, results, best, speed)


@dataclass(frozen=True, slots=True)
class Speed:
    compute: Compute
    comb_gflops: float
    alone_gflops: float


def operations(model: Any, tokens: int, replies: int) -> float:
    """Of products with weights, there and back: two for each weight and row, a multiplication and an addition.

    A frozen weight is multiplied twice, there and for the gradient of what went in; one that is trained three times. A
    layer of 4 x 8 with an adapter of rank 2, for one token: 2 (2 * 32) + 3 (2 * 2 * (4 + 8)) = 128 + 144. The last
    layer has as many rows as there are tokens in replies.
    """
    last, work = model.get_output_embeddings(), 0.0
    inside = {id(part) for layer in model.modules() if hasattr(layer, "lora_A") for part in layer.modules()}
    for layer in model.modules():
        if hasattr(layer, "lora_A"):
            sides = layer.in_features + layer.out_features
            work += tokens * (4 * layer.in_features * layer.out_features + 6 * layer.r["default"] * sides)
        elif isinstance(layer, torch.nn.Linear) and id(layer) not in inside:
            times = 6 if layer.weight.requires_grad else 4
            work += (replies if layer is last else tokens) * times * layer.in_features * layer.out_features
    return work


def alone_gflops(compute: Compute) -> float:
    """The best of some tries, with as many threads as an update has."""
    dtype = torch.bfloat16 if compute == "bfloat16" else torch.float32
    rows, weight = torch.randn(ALONE_ROWS, ALONE_SIZE[0]), torch.randn(*reversed(ALONE_SIZE))
    rows, packed, best = rows.to(dtype), pack(weight.to(dtype), dtype), float("inf")
    for _ in range(ALONE_TRIES):
        started = time.perf_counter()
        multiply(rows, packed)
        best = min(best, time.perf_counter() - started)
    return 2 * ALONE_ROWS * ALONE_SIZE[0] * ALONE_SIZE[1] / best / 1e9


def agent_turns(page_tokens: int, members: int, seed: int = 0) -> list[Sample]:
    rng = random.Random(seed)

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(100, 40_000) for _ in range(count))

    system, task, placeholder, first_page = tokens(SYSTEM), tokens(TASK), tokens(PLACEHOLDER), tokens(page_tokens)
    samples = []
    for member in range(members):
        trunk = system + task
        for turn in range(TURNS):
            page, reply = first_page if turn == 0 else tokens(page_tokens), tokens(REPLY)
            advantage = 1.0 if member % 2 else -1.0
            samples.append(Sample(trunk + page + reply, REPLY, (-10.0,) * REPLY, advantage, 1 / (members * TURNS)))
            trunk += placeholder + reply
    return samples


@dataclass(frozen=True, slots=True)
class Measured:
    seconds: float
    tokens: int
    peak_mb: float
    logprobs: torch.Tensor  # of every reply token, in the order of the samples
    gradient: torch.Tensor


def measure(model: Any, samples: Sequence[Sample], layout: Layout) -> Measured:
    """Forward and backward over all samples, as an optimizer step does it."""
    model.zero_grad(set_to_none=True)
    found: dict[Sample, torch.Tensor] = {}
    tokens = 0
    with PeakMemory() as peak:
        started = time.perf_counter()
        for micro in micro_batches(samples, MICRO_TOKENS, layout):
            batch = collate(micro, layout)
            logprobs, _ = reply_logprobs(model, batch)
            grpo_loss(logprobs, batch, UpdateOptions(lr=0.0)).loss.backward()  # type: ignore[no-untyped-call]
            tokens += batch.tokens
            found |= dict(zip(micro, logprobs.detach(), strict=True))
        seconds = time.perf_counter() - started
    gradient = torch.cat([one.grad.flatten() for one in model.parameters() if one.grad is not None])
    return Measured(seconds, tokens, peak.mb, torch.stack([found[sample] for sample in samples]), gradient)


def _compare(page: int, results: dict[Layout, Measured], seconds: dict[Layout, float], speed: Speed) -> LearnFigures:
    rows, packed, comb = (results[layout] for layout in LAYOUTS)
    return LearnFigures(
        page_tokens=page,
        members=len(rows.logprobs) // TURNS,
        tokens_rows=rows.tokens,
        tokens_packed=packed.tokens,
        tokens_comb=comb.tokens,
        s_rows_padded=seconds["rows"],
        s_rows_packed=seconds["packed"],
        s_comb=seconds["comb"],
        comb_against_packed=seconds["packed"] / seconds["comb"],
        comb_against_padded=seconds["rows"] / seconds["comb"],
        peak_mb_rows=rows.peak_mb,
        peak_mb_packed=packed.peak_mb,
        peak_mb_comb=comb.peak_mb,
        max_logprob_error=float((comb.logprobs - rows.logprobs).abs().max()),
        max_grad_error=float((comb.gradient - rows.gradient).norm() / rows.gradient.norm()),
        compute=speed.compute,
        comb_gflops=speed.comb_gflops,
        alone_gflops=speed.alone_gflops,
        comb_share=speed.comb_gflops / speed.alone_gflops,
    )

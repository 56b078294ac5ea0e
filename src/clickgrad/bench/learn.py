"""What an update costs in each layout: the same turns as padded rows, packed rows, and a comb.

The turns have an agent's shape (a trunk that grows, a page for every turn, a group that shares system and task) and
random ids: what the words say changes nothing about the time they take.
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
from clickgrad.learn.learner import LocalLearner
from clickgrad.learn.logprobs import collate, micro_batches, reply_logprobs
from clickgrad.learn.losses import grpo_loss
from clickgrad.learn.spec import Layout, LearnerSpec, Lora, UpdateOptions
from clickgrad.policy.models import load_model
from clickgrad.types import Sample

LAYOUTS: tuple[Layout, ...] = ("rows", "packed", "comb")
TURNS, SYSTEM, TASK, PLACEHOLDER, REPLY = 10, 70, 20, 16, 40
MICRO_TOKENS = 4096  # 14 to 15 GB at most with LoRA on SmolLM2
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


def bench_learn(pages: Sequence[int], lora_rank: int, repeat: int, quiet: bool) -> Iterator[LearnFigures]:
    """Thirty-five minutes on two cores, so each page size is told as soon as it is measured."""
    learner = LocalLearner(load_model("smollm2"), LearnerSpec(lora=Lora(lora_rank, 2 * max(lora_rank, 1))))
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
            yield _compare(page, results, {layout: min(taken) for layout, taken in seconds.items()})


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


def _compare(page: int, results: dict[Layout, Measured], seconds: dict[Layout, float]) -> LearnFigures:
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
    )

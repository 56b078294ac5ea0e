"""Behaviour cloning: L = -log pi(reply | context) on the replies of demonstrations."""

from __future__ import annotations

import random
import time
from math import cos, pi
from pathlib import Path

from clickgrad.config import Config
from clickgrad.learn import checkpoint
from clickgrad.learn.samples import clone_samples
from clickgrad.learn.step import clone_step, make_optimizer
from clickgrad.learn.trainee import Trainee
from clickgrad.recipes.demos import record_demos
from clickgrad.recipes.display import stage
from clickgrad.recipes.run_folder import CHECKPOINTS, METRICS, MODEL, TRAJECTORIES, open_run
from clickgrad.recipes.training import export, is_finished, resume
from clickgrad.recipes.wiring import load_torch, model_source, prompt_builder
from clickgrad.report.metrics import Metrics
from clickgrad.rollout.retell import retell
from clickgrad.types import Sample

DEMOS = "demos.jsonl.zst"


def clone(config: Config, run: Path, demos: Path | None = None) -> Path:
    """Returns the folder of the cloned model, a plain transformers folder."""
    with open_run(run, config, "clone", str(demos) if demos else ""):
        demonstrations = record_demos(config, demos or run / TRAJECTORIES / DEMOS)
        turns = sum(len(demonstration.turns) for demonstration in demonstrations)
        if is_finished(run, config.clone.epochs * -(-turns // config.clone.batch)):
            return run / MODEL
        loaded = load_torch(config, model_source(config.model.path))
        trainee = Trainee(loaded, config.lora.rank, config.lora.alpha, config.seed, with_reference=False)
        builder = prompt_builder(config, loaded.tokenizer)
        samples = clone_samples([retell(demonstration, builder) for demonstration in demonstrations])
        _learn(config, run, trainee, samples)
        export(trainee, run)
        return run / MODEL


def _learn(config: Config, run: Path, trainee: Trainee, samples: tuple[Sample, ...]) -> None:
    options = config.clone
    batches = [batch for epoch in range(options.epochs) for batch in _epoch(samples, options.batch, config.seed, epoch)]
    optimizer = make_optimizer(trainee.model, options.lr)
    progress = resume(run, trainee, optimizer)
    metrics = Metrics(run / METRICS)
    with stage("clone", len(batches), progress.step) as ticker:
        for step in range(progress.step + 1, len(batches) + 1):
            started = time.monotonic()
            lr = options.lr * schedule(step, len(batches), options.warmup)
            figures = clone_step(trainee.model, optimizer, batches[step - 1], lr, options.micro_tokens)
            seconds = time.monotonic() - started
            rate = figures.tokens_seen / seconds
            row = {"loss": figures.loss, "grad_norm": figures.grad_norm, "entropy": figures.entropy}
            metrics.append({"step": step, "lr": lr, **row, "seconds": seconds, "tokens_per_s": rate})
            if step % options.save_every == 0 or step == len(batches):
                checkpoint.save(run / CHECKPOINTS, checkpoint.Progress(step=step), trainee, optimizer, keep=2)
            ticker.advance(f"loss {figures.loss:.3f}, {rate:.0f} tokens/s")


def _epoch(samples: tuple[Sample, ...], size: int, seed: int, epoch: int) -> list[tuple[Sample, ...]]:
    order = list(samples)
    random.Random(f"{seed}/{epoch}").shuffle(order)
    return [tuple(order[at : at + size]) for at in range(0, len(order), size)]


def schedule(step: int, total: int, warmup: float) -> float:
    """Linear warm-up over the first share of steps, then a cosine to zero. Step 1 is the first."""
    rise = max(1, round(total * warmup))
    if step <= rise:
        return step / rise
    return 0.5 * (1 + cos(pi * (step - rise) / max(1, total - rise + 1)))

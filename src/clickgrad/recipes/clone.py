"""Behaviour cloning: L = -log pi(reply | context) on the replies of demonstrations."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, cos, pi
from pathlib import Path

from clickgrad.backends import open_backend
from clickgrad.backends.learners import clone_spec
from clickgrad.backends.policies import prompt_builder, settle_compute
from clickgrad.config import Config
from clickgrad.display import progress_bar, say
from clickgrad.errors import UserError
from clickgrad.learn import checkpoint
from clickgrad.learn.learner import Learner
from clickgrad.learn.progress import Progress
from clickgrad.learn.samples import clone_samples
from clickgrad.policy.models import check_model
from clickgrad.recipes.clock import Clock
from clickgrad.recipes.demos import read_demos, record_demos
from clickgrad.recipes.progress import LearnerThread, SkippedSteps, export, is_finished, resume
from clickgrad.report.metrics import Metrics, read_steps, timed
from clickgrad.report.page import read_report
from clickgrad.report.rows import CloneRow, plain
from clickgrad.report.writers import open_mirrors
from clickgrad.rollout.retell import retell
from clickgrad.run_folder import open_run
from clickgrad.run_layout import CHECKPOINTS, DEMOS, METRICS, MODEL, TRAJECTORIES, model_of
from clickgrad.types import Sample

KEPT = 2  # checkpoints, and the best one


async def clone(config: Config, run: Path, demos: Path | None = None) -> Path:
    """Returns the folder of the cloned model, a plain transformers folder."""
    options = config.clone
    if options.patience and not options.held_out:
        raise UserError("clone.patience needs a held-out loss: set clone.held_out, for example to 0.1")
    given = read_demos(demos) if demos else None
    check_model(model_of(config.model.path))  # before demonstrations are recorded
    with open_run(run, config, "clone", str(demos) if demos else ""):
        with timed(run, "demonstrations"):
            demonstrations = given or await record_demos(config, run / TRAJECTORIES / DEMOS)
        batches = make_batches(config, [len(demonstration.turns) for demonstration in demonstrations])
        done = has_stalled(_held_out(run), options.patience) or is_out_of_time(_spent(run), options.minutes)
        if is_finished(run, 0 if done else len(batches.steps)):
            return run / MODEL
        config = settle_compute(config, run)
        with open_backend(config, run).learner(clone_spec(config)) as learner:
            builder = prompt_builder(config, learner.tokenizer)
            samples = [clone_samples(retell(demonstration, builder)) for demonstration in demonstrations]
            metrics = Metrics(run / METRICS, open_mirrors(run, **config.log.model_dump()))
            await _learn(config, run, learner, batches, samples, metrics)
            metrics.close()
            export(learner, run)
        read_report(run).save_page(run)
        return run / MODEL


@dataclass(frozen=True, slots=True)
class Batches:
    steps: list[list[int]]  # the demonstrations that make up each step
    epoch_ends: set[int]  # steps, counted from 1
    held_out: list[int]


def make_batches(config: Config, turns: Sequence[int]) -> Batches:
    """Who is learned from when, by numbers of turns. Whole demonstrations, since their turns share a trunk.

    Turns 2 3 1 with a batch of 4, in that order:  0 1,  then  2.
    """
    options, steps, epoch_ends = config.clone, list[list[int]](), set[int]()
    order = list(range(len(turns)))
    random.Random(f"{config.seed}/held out").shuffle(order)
    aside = ceil(options.held_out * len(order))
    held_out, learned = order[:aside], sorted(order[aside:])
    for epoch in range(options.epochs):
        order = list(learned)
        random.Random(f"{config.seed}/{epoch}").shuffle(order)
        filled = options.batch
        for index in order:
            if filled >= options.batch:
                steps.append([])
                filled = 0
            steps[-1].append(index)
            filled += turns[index]
        epoch_ends.add(len(steps))
    return Batches(steps, epoch_ends, sorted(held_out))


def has_stalled(losses: Sequence[float], patience: int) -> bool:
    """The held-out loss has not come down for so many epochs."""
    return bool(patience and losses) and len(losses) - 1 - losses.index(min(losses)) >= patience


def is_out_of_time(spent_s: float, minutes: float) -> bool:
    return 0 < minutes * 60 <= spent_s


def _spent(run: Path) -> float:
    saved = checkpoint.latest(run / CHECKPOINTS)
    return 0.0 if saved is None or checkpoint.find_fault(saved) else checkpoint.read_progress(saved).spent_s


def _held_out(run: Path) -> tuple[float, ...]:
    """The losses of an earlier sitting. Checkpoints of older versions do not have them: then the metrics do."""
    saved = checkpoint.latest(run / CHECKPOINTS)
    if saved is None or checkpoint.find_fault(saved):
        return ()
    stored = [row.held_out_loss for row in read_steps(run / METRICS)[0] if isinstance(row, CloneRow)]
    return checkpoint.read_progress(saved).held_out or tuple(loss for loss in stored if loss is not None)


async def _learn(
    config: Config, run: Path, learner: Learner, batches: Batches, samples: Sequence[Sequence[Sample]], metrics: Metrics
) -> None:
    options = config.clone
    progress = resume(run, learner, need_all=True)  # the best one is what comes out
    losses = _held_out(run)
    skipped = SkippedSteps(run)
    aside = [one for index in batches.held_out for one in samples[index]]
    clock = Clock(options.clock, progress.spent_s)
    with (
        progress_bar("clone", len(batches.steps), progress.step) as ticker,
        LearnerThread(learner, lambda done, total: None) as thread,
    ):
        if options.minutes and aside and not progress.step:
            # A model that was cloned before may only get worse: then it is itself what comes out.
            loss = await thread.run(learner.mean_loss, aside, options.micro_tokens)
            losses = () if loss is None else (loss,)
            learner.save(run / CHECKPOINTS, Progress(held_out=losses), KEPT, None if loss is None else -loss)
        for step in range(progress.step + 1, len(batches.steps) + 1):
            if is_out_of_time(progress.spent_s, options.minutes):
                say(f"{options.minutes:g} minutes are over: stopped before step {step}")
                break
            if has_stalled(losses, options.patience):
                say(f"the held-out loss has not come down for {options.patience} epochs: stopped before step {step}")
                break
            started = time.monotonic()
            batch = [one for index in batches.steps[step - 1] for one in samples[index]]
            # How many steps the minutes will hold is not known, so there is nothing to lower the rate along.
            lr = options.lr * (1.0 if options.minutes else schedule(step, len(batches.steps), options.warmup))
            figures = await thread.run(learner.clone, batch, lr, options.micro_tokens, options.layout)
            skipped.note(step, batch, figures)
            seconds = time.monotonic() - started
            is_out = is_out_of_time(clock.spent_s, options.minutes)
            is_epoch_end = step in batches.epoch_ends or is_out
            held_out = await thread.run(learner.mean_loss, aside, options.micro_tokens) if is_epoch_end else None
            rate = figures.tokens_seen / seconds
            row = CloneRow(
                step=step,
                loss=figures.loss,
                held_out_loss=held_out,
                entropy=figures.entropy,
                grad_norm=figures.grad_norm,
                lr=lr,
                tokens_per_s=rate,
                seconds=seconds,
            )
            metrics.append(plain(row))
            losses += () if held_out is None else (held_out,)
            progress = Progress(step=step, held_out=losses, spent_s=clock.spent_s)
            if step % options.save_every == 0 or is_epoch_end:
                score = None if held_out is None else -held_out
                learner.save(run / CHECKPOINTS, progress, KEPT, score)
            ticker.advance(f"loss {figures.loss:.3f}, {rate:.0f} tokens/s")
        await thread.run(learner.finish_saving)
    best = checkpoint.best(run / CHECKPOINTS)
    if best is not None:
        learner.load(best)


def schedule(step: int, total: int, warmup: float) -> float:
    """Linear warm-up over the first share of steps, then a cosine to zero. Step 1 is the first."""
    rise = max(1, round(total * warmup))
    if step <= rise:
        return step / rise
    return 0.5 * (1 + cos(pi * (step - rise) / max(1, total - rise + 1)))

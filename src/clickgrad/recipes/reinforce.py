"""M-GRPO: live episodes in the browser, a binary reward, an update; again.

Departures from the paper, each an option where that makes sense:
1. Every reply is trained in the context it was sampled in; the public code trains on contexts the model never saw.
2. Thinking tokens carry loss: the policy sampled them.
3. A group whose members all fared alike has no gradient; it is left out and, within a cap, replaced by another task.
4. Crashed and unjudged episodes are in neither loss nor baseline.
5. The small preset trains LoRA adapters at a higher rate; the paper trains all parameters at 1e-6.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch.optim import Optimizer

from clickgrad.config import Config
from clickgrad.learn import checkpoint
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.samples import grpo_samples
from clickgrad.learn.step import StepFigures, grpo_step, make_optimizer
from clickgrad.learn.trainee import Trainee
from clickgrad.policy.protocol import TrainedPolicy
from clickgrad.recipes.ahead import Ahead
from clickgrad.recipes.display import Ticker, stage
from clickgrad.recipes.gathering import Gathered, gather, oldest_version
from clickgrad.recipes.judging import without_judge
from clickgrad.recipes.run_folder import CHECKPOINTS, METRICS, MODEL, TRAJECTORIES, open_run
from clickgrad.recipes.sampling import open_sampler
from clickgrad.recipes.training import SkippedSteps, export, is_finished, resume
from clickgrad.recipes.wiring import (
    chosen_tasks,
    load_torch,
    make_agent,
    model_source,
    open_venue,
    prompt_builder,
)
from clickgrad.report.metrics import Metrics
from clickgrad.report.page import read_report
from clickgrad.report.summary import success_rate
from clickgrad.report.writers import open_mirrors
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Sample, Trajectory, Turn

CALL_START = re.compile(r"\b(do|exit|go_backward|go_forward)\(")


def reinforce(config: Config, start: str, run: Path) -> Path:
    """Returns the folder of the trained model, a plain transformers folder. `start` is the model RL starts from."""
    options = config.reinforce
    tasks = without_judge(chosen_tasks(config, "train"))
    with open_run(run, config, "reinforce", start):
        if is_finished(run, options.steps):
            return run / MODEL
        loaded = load_torch(config, model_source(start))
        trainee = Trainee(
            loaded,
            config.lora.rank,
            config.lora.alpha,
            config.seed,
            with_reference=options.kl_beta > 0,
            separate_sampler=options.max_staleness > 0,
        )
        optimizer = make_optimizer(trainee.model, options.lr)
        progress = resume(run, trainee, optimizer)
        with (
            open_sampler(config, trainee, start, run) as engine,
            asyncio.Runner() as runner,
            open_venue(config, runner) as venue,
            stage("reinforce", options.steps, progress.step) as ticker,
        ):
            engine.swap_weights(lambda: None, progress.step)
            agent = make_agent(config, engine, prompt_builder(config, loaded.tokenizer), options.temperature, run)

            async def gather_step(before: Progress) -> Gathered:
                file = TrajectoryFile(run / TRAJECTORIES / f"step-{before.step + 1:04d}.jsonl.zst")
                return await gather(config, tasks, agent, venue, before, file, ticker)

            with Ahead(runner, gather_step, progress, options.steps, options.max_staleness) as ahead:
                _learn(config, run, trainee, optimizer, progress, engine, ahead, ticker)
        export(trainee, run)
        read_report(run).save_page(run)
        return run / MODEL


def _learn(
    config: Config,
    run: Path,
    trainee: Trainee,
    optimizer: Optimizer,
    progress: Progress,
    engine: TrainedPolicy,
    ahead: Ahead,
    ticker: Ticker,
) -> None:
    """The loop: take a step's episodes, update, push the weights, write down, save."""
    options = config.reinforce
    metrics, skipped = Metrics(run / METRICS, open_mirrors(run, **config.log.model_dump())), SkippedSteps(run)
    for step in range(progress.step + 1, options.steps + 1):
        started = time.monotonic()
        gathered = ahead.take()
        taken = time.monotonic()
        groups = _fresh_enough(gathered, step, options.max_staleness)
        samples = grpo_samples(groups, options.normalizer, config.agent.max_turns)
        figures = _update(config, trainee, optimizer, samples, ticker)
        for update in figures:
            skipped.note(step, samples, update)
        engine.swap_weights(trainee.refresh_sampler, step)
        updated = time.monotonic()
        progress = gathered.after(progress)
        row = _figures(step, gathered, figures) | {
            "rollout_s": gathered.seconds,
            "waited_s": taken - started,
            "update_s": updated - taken,
            "sampled_tokens_per_s": gathered.sampled_tokens / max(gathered.seconds, 1e-9),
            "cache_hit_share": engine.cache_hit_share,
        }
        if not options.kl_beta:
            row["kl"] = None  # not looked at
        metrics.append(row)
        if step % options.save_every == 0 or step == options.steps:
            checkpoint.save(run / CHECKPOINTS, progress, trainee, optimizer, options.keep, row["success"])
        ahead.policy_is_at(step)
        ticker.advance(_note(row))
    metrics.close()


def _fresh_enough(gathered: Gathered, step: int, max_staleness: int) -> list[list[Trajectory]]:
    """The groups to learn from, without members one of whose tokens came from too old a policy.

    Sampling never runs further ahead than that; episodes found in the folder of a run that was allowed more may be.
    """
    return [
        [member for member in group if not member.usable or step - 1 - oldest_version(member) <= max_staleness]
        for group in gathered.kept
    ]


def _update(
    config: Config, trainee: Trainee, optimizer: Optimizer, samples: Sequence[Sample], ticker: Ticker
) -> tuple[StepFigures, ...]:
    """Empty when no group had contrast: then there is nothing to learn from."""
    options = config.reinforce
    if not samples:
        return ()
    return grpo_step(
        trainee.model,
        trainee.reference if options.kl_beta else None,
        optimizer,
        samples,
        lr=options.lr,
        clip=options.clip,
        kl_beta=options.kl_beta,
        temperature=options.temperature,
        micro_tokens=options.micro_tokens,
        layout=options.layout,
        updates=options.updates,
        importance_cap=options.importance_cap,
        progress=lambda done, total: ticker.show(f"update {done}/{total} turns"),
    )


def _figures(step: int, gathered: Gathered, updates: Sequence[StepFigures]) -> dict[str, Any]:
    finished = [trajectory for group in gathered.groups for trajectory in group if trajectory.usable]
    turns = [turn for trajectory in finished for turn in trajectory.turns]
    rate = success_rate(finished)
    shares = [success_rate(group) for group in gathered.groups]
    ages = [step - 1 - oldest_version(trajectory) for trajectory in finished if trajectory.turns]
    return {
        "step": step,
        "success": rate.value,
        "episodes": len(gathered.episodes),
        "crashed": sum(not episode.usable for episode in gathered.episodes),
        "groups_all_0": sum(share.passed == 0 for share in shares),
        "groups_mixed": len(gathered.kept),
        "groups_all_1": sum(share.passed == share.n > 0 for share in shares),
        "reward": rate.value,
        "mean_turns": len(turns) / max(1, len(finished)),
        "mean_trajectory_tokens": sum(len(turn.completion.ids) for turn in turns) / max(1, len(finished)),
        "mean_thinking_characters": sum(map(_thinking, turns)) / max(1, len(turns)),
        "max_staleness": max(ages, default=0),
        "mean_staleness": sum(ages) / max(1, len(ages)),
        "mean_reply_tokens": sum(len(turn.completion.ids) for turn in turns) / max(1, len(turns)),
        "policy_s": sum(turn.policy_s for turn in turns),
        "browser_s": sum(turn.browser_s for turn in turns),
        **{name: _mean(updates, name) for name in ("loss", "grad_norm", "entropy", "kl", "clip_share")},
        "sampler_gap": updates[0].sampler_gap if updates else None,
        "trained_tokens": sum(update.tokens_seen for update in updates),
        "computed_tokens": sum(update.tokens_computed for update in updates),
    }


def _thinking(turn: Turn) -> int:
    """Characters of a reply before its action; all of them when there is none."""
    text = turn.completion.text
    call = CALL_START.search(text)
    return call.start() if call else len(text)


def _mean(updates: Sequence[StepFigures], name: str) -> float | None:
    values = [float(getattr(update, name)) for update in updates]
    return sum(values) / len(values) if values else None


def _note(row: dict[str, Any]) -> str:
    return (
        f"success {row['success']:.0%}, {row['mean_turns']:.1f} turns, {row['groups_mixed']} groups trained, rollout "
        f"{row['rollout_s']:.0f} s ({row['sampled_tokens_per_s']:.0f} tokens/s), update {row['update_s']:.0f} s"
    )

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
import random
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clickgrad.config import Config
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.learner import GrpoOptions, Learner
from clickgrad.learn.samples import grpo_samples
from clickgrad.learn.step import StepFigures
from clickgrad.recipes.ahead import Ahead
from clickgrad.recipes.display import Ticker, stage
from clickgrad.recipes.gathering import Gathered, gather, oldest_version
from clickgrad.recipes.judging import without_judge
from clickgrad.recipes.parts import OpenRollouts, Rollouts, open_training
from clickgrad.recipes.run_folder import CHECKPOINTS, METRICS, MODEL, TRAJECTORIES, open_run
from clickgrad.recipes.training import Apprentice, SkippedSteps, export, is_finished, resume
from clickgrad.recipes.wiring import chosen_tasks, prompt_builder
from clickgrad.report.metrics import Metrics
from clickgrad.report.page import read_report
from clickgrad.report.summary import success_rate
from clickgrad.report.writers import open_mirrors
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Task, Trajectory, Turn

CALL_START = re.compile(r"\b(do|exit|go_backward|go_forward)\(")


def reinforce(config: Config, start: str, run: Path) -> Path:
    """Returns the folder of the trained model, a plain transformers folder. `start` is the model RL starts from."""
    options = config.reinforce
    tasks = without_judge(chosen_tasks(config, "train"))
    with open_run(run, config, "reinforce", start):
        if is_finished(run, options.steps):
            return run / MODEL
        apprentice = Apprentice(
            config,
            start,
            with_reference=options.kl_beta > 0,
            separate_sampler=options.max_staleness > 0,
            samples_here=options.engine == "torch",
        )
        with open_training(config, apprentice, run) as (learner, open_rollouts):
            reinforce_learner(config, tasks, learner, open_rollouts, run)
            export(learner, run)
        read_report(run).save_page(run)
        return run / MODEL


def reinforce_learner(
    config: Config, tasks: Sequence[Task], learner: Learner, open_rollouts: OpenRollouts, run: Path
) -> None:
    """All steps that are left, whoever learns, samples and plays."""
    options, progress = config.reinforce, resume(run, learner)
    prompt_format = prompt_builder(config, learner.tokenizer).fingerprint
    with (
        asyncio.Runner() as runner,
        open_rollouts(runner) as rollouts,
        stage("reinforce", options.steps, progress.step) as ticker,
    ):
        rollouts.engine.swap_weights(lambda: None, progress.step)

        async def gather_step(before: Progress) -> Gathered:
            file = TrajectoryFile(run / TRAJECTORIES / f"step-{before.step + 1:04d}.jsonl.zst")
            return await gather(config, tasks, rollouts.play, prompt_format, before, file, ticker)

        learner.on_progress = lambda done, total: ticker.show(f"update {done}/{total} turns")
        with Ahead(runner, gather_step, progress, options.steps, options.max_staleness) as ahead:
            _learn(config, run, learner, progress, rollouts, ahead, ticker)


def _learn(
    config: Config,
    run: Path,
    learner: Learner,
    progress: Progress,
    rollouts: Rollouts,
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
        if options.shuffle_rewards:
            groups = [by_lot(group, f"{config.seed}/{step}/{place}") for place, group in enumerate(groups)]
        samples = grpo_samples(groups, options.normalizer, config.agent.max_turns)
        figures = learner.reinforce(samples, _grpo_options(config))
        for update in figures:
            skipped.note(step, samples, update)
        rollouts.engine.swap_weights(learner.refresh_sampler, step)
        updated = time.monotonic()
        progress = gathered.after(progress)
        row = _figures(step, gathered, figures) | {
            "rollout_s": gathered.seconds,
            "waited_s": taken - started,
            "update_s": updated - taken,
            "sampled_tokens_per_s": gathered.sampled_tokens / max(gathered.seconds, 1e-9),
            "cache_hit_share": rollouts.engine.cache_hit_share,
            **rollouts.figures(),
        }
        if not options.kl_beta:
            row["kl"] = None  # not looked at
        metrics.append(row)
        if step % options.save_every == 0 or step == options.steps:
            learner.save(run / CHECKPOINTS, progress, options.keep, row["success"])
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


def by_lot(group: Sequence[Trajectory], seed: str) -> list[Trajectory]:
    """The same rewards, but whose they are is chance. Who crashed has none to give or to get."""
    rewards = [member.reward for member in group if member.usable]
    random.Random(seed).shuffle(rewards)
    lots = iter(rewards)
    return [replace(member, reward=next(lots)) if member.usable else member for member in group]


def _grpo_options(config: Config) -> GrpoOptions:
    options = config.reinforce
    return GrpoOptions(
        lr=options.lr,
        clip=options.clip,
        kl_beta=options.kl_beta,
        temperature=options.temperature,
        micro_tokens=options.micro_tokens,
        layout=options.layout,
        updates=options.updates,
        importance_cap=options.importance_cap,
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

"""Reinforcement: live episodes in the browser, a binary reward, an update; again. The algorithm says what and why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clickgrad.agent.grammar import find_call
from clickgrad.algorithms.ahead import Ahead
from clickgrad.algorithms.collecting import Collected, Collector
from clickgrad.algorithms.m_grpo import MGrpo, age
from clickgrad.algorithms.protocol import Algorithm
from clickgrad.algorithms.sequence import TaskSequence
from clickgrad.backends import open_backend
from clickgrad.backends.agents import prompt_builder
from clickgrad.backends.engines import refuse_useless
from clickgrad.backends.learners import reinforce_spec, update_options
from clickgrad.backends.policies import settle_compute
from clickgrad.backends.protocol import Players
from clickgrad.backends.tasks import training_tasks
from clickgrad.config import Config
from clickgrad.display import say, stage
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.learner import Learner
from clickgrad.learn.step import StepFigures
from clickgrad.recipes.progress import LearnerThread, SkippedSteps, export, is_finished, resume
from clickgrad.report.metrics import Metrics
from clickgrad.report.page import read_report
from clickgrad.report.summary import success_rate
from clickgrad.report.writers import open_mirrors
from clickgrad.rollout.scheduler import Bounds
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_folder import open_run
from clickgrad.run_layout import CHECKPOINTS, METRICS, MODEL, step_trajectories
from clickgrad.types import Task, Turn


async def reinforce(config: Config, start: str, run: Path) -> Path:
    """Returns the folder of the trained model, a plain transformers folder. `start` is the model RL starts from."""
    refuse_useless(config)
    algorithm = make_algorithm(config, training_tasks(config))
    with open_run(run, config, "reinforce", start):
        if is_finished(run, config.reinforce.steps):
            return run / MODEL
        config = settle_compute(config, run)
        backend = open_backend(config, run)
        with backend.learner(reinforce_spec(config, start)) as learner:
            progress = resume(run, learner)
            async with backend.training_players(learner) as players:
                await reinforce_learner(config, run, algorithm, learner, players, progress)
            export(learner, run)
        read_report(run).save_page(run)
        return run / MODEL


def make_algorithm(config: Config, tasks: Sequence[Task]) -> Algorithm:
    options = config.reinforce
    return MGrpo(
        TaskSequence(tasks, config.seed, options.curriculum),
        options.groups,
        options.group_size,
        options.max_refills,
        options.max_staleness,
        options.normalizer,
        config.agent.max_turns,
        options.shuffle_rewards,
    )


async def reinforce_learner(
    config: Config, run: Path, algorithm: Algorithm, learner: Learner, players: Players, progress: Progress
) -> None:
    """The loop: take a step's episodes, update, push the weights, write down, save."""
    options, rollout = config.reinforce, config.rollout
    metrics, skipped = Metrics(run / METRICS, open_mirrors(run, **config.log.model_dump())), SkippedSteps(run)
    bounds = Bounds(rollout.concurrency, rollout.retries, rollout.site_sessions)
    prompt_format = prompt_builder(config, learner.tokenizer).fingerprint
    await players.push_weights(progress.step)
    with (
        stage("reinforce", options.steps, progress.step) as ticker,
        LearnerThread(learner, lambda done, total: ticker.show(f"update {done}/{total} turns")) as thread,
    ):
        collector = Collector(algorithm, players.play, bounds, config.seed, prompt_format, ticker.show)

        async def collect(before: Progress) -> Collected:
            return await collector.collect(before, TrajectoryFile(step_trajectories(run, before.step + 1)))

        async with Ahead(collect, progress, options.steps, options.max_staleness) as ahead:
            for step in range(progress.step + 1, options.steps + 1):
                started = time.monotonic()
                collected = await ahead.take()
                taken = time.monotonic()
                _say_flat(step, collected, options.groups)
                samples = algorithm.samples(step, collected.groups)
                figures = await thread.run(learner.update, samples, update_options(config))
                for update in figures:
                    skipped.note(step, samples, update)
                await players.push_weights(step)
                row = _figures(step, collected, figures) | {
                    "waited_s": taken - started,
                    "update_s": time.monotonic() - taken,
                    **players.figures(),
                }
                if not options.kl_beta:
                    row["kl"] = None  # not looked at
                metrics.append(row)
                progress = collected.after(progress)
                if step % options.save_every == 0 or step == options.steps:
                    await thread.run(learner.save, run / CHECKPOINTS, progress, options.keep, row["success"])
                ahead.learned()
                ticker.advance(_note(row))
    metrics.close()


def _say_flat(step: int, collected: Collected, wanted: int) -> None:
    if len(collected.mixed) < wanted:
        say(f"step {step}: only {len(collected.mixed)} of {wanted} groups have both successes and failures")


def _figures(step: int, collected: Collected, updates: Sequence[StepFigures]) -> dict[str, Any]:
    finished = [trajectory for group in collected.groups for trajectory in group if trajectory.usable]
    turns = [turn for trajectory in finished for turn in trajectory.turns]
    rate = success_rate(finished)
    shares = [group.success for group in collected.groups]
    ages = [age(trajectory, step - 1) for trajectory in finished if trajectory.turns]
    return {
        "step": step,
        "success": rate.measured,
        "episodes": len(collected.episodes),
        "crashed": sum(not episode.usable for episode in collected.episodes),
        "groups_all_0": sum(share.passed == 0 < share.n for share in shares),
        "groups_mixed": len(collected.mixed),
        "groups_all_1": sum(share.passed == share.n > 0 for share in shares),
        "reward": rate.measured,
        "mean_turns": len(turns) / max(1, len(finished)),
        "mean_trajectory_tokens": sum(len(turn.completion.ids) for turn in turns) / max(1, len(finished)),
        "mean_thinking_characters": sum(map(_thinking, turns)) / max(1, len(turns)),
        "max_staleness": max(ages, default=0),
        "mean_staleness": sum(ages) / max(1, len(ages)),
        "mean_reply_tokens": sum(len(turn.completion.ids) for turn in turns) / max(1, len(turns)),
        "rollout_s": collected.seconds,
        "sampled_tokens_per_s": collected.sampled_tokens / max(collected.seconds, 1e-9),
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
    call = find_call(text)
    return len(text) if call is None else call


def _mean(updates: Sequence[StepFigures], name: str) -> float | None:
    values = [float(getattr(update, name)) for update in updates]
    return sum(values) / len(values) if values else None


def _note(row: dict[str, Any]) -> str:
    success = "not measured" if row["success"] is None else f"{row['success']:.0%}"
    return (
        f"success {success}, {row['mean_turns']:.1f} turns, {row['groups_mixed']} groups trained, rollout "
        f"{row['rollout_s']:.0f} s ({row['sampled_tokens_per_s']:.0f} tokens/s), update {row['update_s']:.0f} s"
    )

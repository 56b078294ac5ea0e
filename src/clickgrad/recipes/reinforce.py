"""Reinforcement: live episodes in the browser, a binary reward, an update; again. The algorithm says what and why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from clickgrad.algorithms.ahead import Ahead
from clickgrad.algorithms.collecting import Collected, Collector
from clickgrad.algorithms.m_grpo import MGrpo
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
from clickgrad.display import progress_bar, say
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.learner import Learner
from clickgrad.recipes.progress import LearnerThread, SkippedSteps, export, is_finished, resume
from clickgrad.report.metrics import Metrics
from clickgrad.report.page import read_report
from clickgrad.report.rows import ReinforceRow, plain, reinforce_row
from clickgrad.report.writers import open_mirrors
from clickgrad.rollout.scheduler import Bounds
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_folder import open_run
from clickgrad.run_layout import CHECKPOINTS, METRICS, MODEL, step_trajectories
from clickgrad.types import Task


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
        progress_bar("reinforce", options.steps, progress.step) as ticker,
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
                update_s = time.monotonic() - taken
                row = reinforce_row(step, collected, figures, taken - started, update_s, players.figures())
                if not options.kl_beta:
                    row = replace(row, kl=None)  # not looked at
                metrics.append(plain(row))
                progress = collected.after(progress)
                if step % options.save_every == 0 or step == options.steps:
                    await thread.run(learner.save, run / CHECKPOINTS, progress, options.keep, row.success)
                ahead.learned()
                ticker.advance(_note(row))
    metrics.close()


def _say_flat(step: int, collected: Collected, wanted: int) -> None:
    if len(collected.mixed) < wanted:
        say(f"step {step}: only {len(collected.mixed)} of {wanted} groups have both successes and failures")


def _note(row: ReinforceRow) -> str:
    success = "not measured" if row.success is None else f"{row.success:.0%}"
    return (
        f"success {success}, {row.mean_turns:.1f} turns, {row.groups_mixed} groups trained, rollout "
        f"{row.rollout_s:.0f} s ({row.sampled_tokens_per_s:.0f} tokens/s), update {row.update_s:.0f} s"
    )

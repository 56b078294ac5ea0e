"""Reinforcement: live episodes in the browser, a binary reward, an update; again. The algorithm says what and why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from clickgrad.algorithms.ahead import Ahead
from clickgrad.algorithms.collecting import Collected, Collector
from clickgrad.algorithms.protocol import Algorithm
from clickgrad.algorithms.stored import Stored
from clickgrad.backends import open_backend
from clickgrad.backends.engines import refuse_unready, refuse_useless
from clickgrad.backends.learners import reinforce_spec, update_options
from clickgrad.backends.local import offline_players
from clickgrad.backends.policies import prompt_builder, settle_compute
from clickgrad.backends.protocol import Players
from clickgrad.backends.tasks import training_tasks
from clickgrad.config import Config, ReinforceSection
from clickgrad.display import progress_bar, say
from clickgrad.learn import checkpoint
from clickgrad.learn.learner import Learner
from clickgrad.learn.progress import NO_ANSWERS, Progress
from clickgrad.learn.samples import effective_samples
from clickgrad.recipes.algorithm import make_algorithm, refuse_silent
from clickgrad.recipes.clock import Clock
from clickgrad.recipes.following import (
    Earlier,
    Recalled,
    find_demonstrations,
    refuse_unforkable,
    retold,
    stored_rollouts,
)
from clickgrad.recipes.probing import Probe, gain, is_worse, set_aside
from clickgrad.recipes.progress import LearnerThread, SkippedSteps, export, is_finished, resume
from clickgrad.report.metrics import Metrics
from clickgrad.report.page import read_report
from clickgrad.report.rows import LEFT, ReinforceRow, plain, reinforce_row
from clickgrad.report.stats import mean
from clickgrad.report.summary import success_rate
from clickgrad.report.writers import open_mirrors
from clickgrad.rollout.scheduler import Bounds
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_folder import open_run
from clickgrad.run_layout import CHECKPOINTS, METRICS, MODEL, step_trajectories
from clickgrad.types import Sample, Task

WORSE = "worse"  # why a run was ended: the probe


async def reinforce(config: Config, start: str, run: Path) -> Path:
    """Returns the folder of the trained model, a plain transformers folder. `start` is the model RL starts from."""
    options = config.reinforce
    refuse_useless(config)
    refuse_unready(config, start)
    refuse_silent(config)
    refuse_unforkable(config)
    tasks, probed = training_tasks(config), tuple[Task, ...]()
    if options.probe_every:
        tasks, probed = set_aside(tasks, options.probe_tasks, config.seed)
    with open_run(run, config, "reinforce", start):
        if is_finished(run, _last_step(run, options)):
            return run / MODEL
        followed = await find_demonstrations(config, start, run, tasks)
        config = settle_compute(config, run)
        backend = open_backend(config, run)
        with backend.learner(reinforce_spec(config, start)) as learner:
            builder = prompt_builder(config, learner.tokenizer)
            followed = retold(followed, builder)
            algorithm = make_algorithm(config, tasks, followed, Recalled(run), Earlier(run, builder.fingerprint))
            probe = Probe(run, probed, options.probe_every, _bounds(config), config.seed) if probed else None
            progress = resume(run, learner)
            opened = offline_players() if options.rollouts else backend.training_players(learner)
            async with opened as players:
                ended = await reinforce_learner(config, run, algorithm, learner, players, progress, probe)
            if ended.ended == WORSE and (best := checkpoint.best(run / CHECKPOINTS)):
                learner.load(best)
            export(learner, run)
        read_report(run).save_page(run)
        return run / MODEL


def _bounds(config: Config) -> Bounds:
    return Bounds(config.rollout.concurrency, config.rollout.retries, config.rollout.site_sessions)


def _last_step(run: Path, options: ReinforceSection) -> int:
    """After which nothing is left to do: the one asked for, or the one at which the run was ended."""
    saved = checkpoint.latest(run / CHECKPOINTS)
    if saved is None or checkpoint.find_fault(saved):
        return most_steps(options)
    progress = checkpoint.read_progress(saved)
    return progress.step if is_over(progress, options) else most_steps(options)


def most_steps(options: ReinforceSection) -> int:
    """What is stored is learned from in one pass."""
    return 1 if options.rollouts else options.steps


def is_over(progress: Progress, options: ReinforceSection) -> bool:
    """Whether no further step begins. A run whose time was over goes on when it is given more."""
    out_of_time = 0 < options.minutes * 60 <= progress.spent_s
    played_all = 0 < options.episodes <= progress.episodes
    return progress.step >= most_steps(options) or progress.ended == WORSE or out_of_time or played_all


async def reinforce_learner(
    config: Config,
    run: Path,
    algorithm: Algorithm,
    learner: Learner,
    players: Players,
    progress: Progress,
    probe: Probe | None = None,
) -> Progress:
    """The loop: take a step's episodes, update, push the weights, write down, save."""
    options = config.reinforce
    metrics, skipped = Metrics(run / METRICS, open_mirrors(run, **config.log.model_dump())), SkippedSteps(run)
    prompt_format = prompt_builder(config, learner.tokenizer).fingerprint
    await players.push_weights(progress.step)
    clock = Clock(options.clock, progress.spent_s)
    with (
        progress_bar("reinforce", most_steps(options), progress.step) as ticker,
        LearnerThread(learner, lambda done, total: ticker.show(f"update {done}/{total} turns")) as thread,
    ):
        collector = Collector(algorithm, players.play, _bounds(config), config.seed, prompt_format, ticker.show)

        async def collect(before: Progress) -> Collected:
            if options.rollouts:
                return await Stored(algorithm, stored_rollouts(options.rollouts, prompt_format)).collect(before)
            return await collector.collect(before, TrajectoryFile(step_trajectories(run, before.step + 1)))

        if probe and progress.step == 0:
            score = success_rate(await probe.look(0, players.play)).measured
            await thread.run(learner.save, run / CHECKPOINTS, progress, options.keep, score)
        last = progress.step if is_over(progress, options) else most_steps(options)
        async with Ahead(collect, progress, last, options.max_staleness) as ahead:
            for step in range(progress.step + 1, last + 1):
                started = time.monotonic()
                collected = await ahead.take()
                taken = time.monotonic()
                if not options.max_staleness:
                    await players.rest()
                question = algorithm.question(progress, collected.groups)
                answers = await thread.run(learner.assess, question) if question else NO_ANSWERS
                lesson = algorithm.lesson(progress, collected.groups, answers)
                if lesson.said:
                    say(f"step {step}: {lesson.said}")
                figures = await thread.run(learner.update, lesson.samples, update_options(config, step))
                for update in figures:
                    skipped.note(step, lesson.samples, update)
                await players.push_weights(step)
                update_s = time.monotonic() - taken
                row = reinforce_row(step, collected, figures, taken - started, update_s, players.figures())
                row = replace(row, **lesson.figures, **_not_looked_at(options))  # type: ignore[arg-type]
                row = _with_evidence(row, progress, collected, lesson.samples)
                progress, score = collected.after(progress), row.success
                if probe:
                    row, progress = await _probed(probe, row, progress, players, step == last)
                    score = row.probe_success
                progress = replace(progress, spent_s=clock.spent_s)
                metrics.append(plain(replace(row, spent_s=progress.spent_s)))
                over = is_over(progress, options)
                if step % options.save_every == 0 or over or row.probe_success is not None:
                    await thread.run(learner.save, run / CHECKPOINTS, progress, options.keep, score)
                ticker.advance(_note(row))
                if over:
                    break
                ahead.learned()
        await thread.run(learner.finish_saving)
    if progress.ended == WORSE:
        say(f"step {progress.step}: the probe is worse than at the start: the best checkpoint is what comes out")
    metrics.close()
    return progress


def _not_looked_at(options: ReinforceSection) -> dict[str, None]:
    if options.algorithm != "m-grpo":
        return {"kl": None, "clip_share": None, "sampler_gap": None}
    return {} if options.kl_beta else {"kl": None}


async def _probed(
    probe: Probe, row: ReinforceRow, progress: Progress, players: Players, is_last: bool
) -> tuple[ReinforceRow, Progress]:
    if not probe.is_due(progress.step) and not is_last:
        return row, progress
    played = await probe.look(progress.step, players.play)
    pairs = gain(probe.first(), played)
    row = replace(row, probe_success=success_rate(played).measured, probe_gain=pairs.difference)
    return row, replace(progress, ended=WORSE if is_worse(pairs) else "")


def _with_evidence(
    row: ReinforceRow, before: Progress, collected: Collected, samples: Sequence[Sample]
) -> ReinforceRow:
    """How much the step had to go by, and how it compares with what the same templates came to before."""
    given = [one.given for group in collected.groups for one in group.trunks if one.given and one.usable]
    gains = []
    for group in collected.groups:
        passed, tried = before.records.get(group.plan.task.template, (0, 0))
        rate = success_rate(group.from_the_start)
        if rate.n and tried:
            gains.append(rate.value - passed / tried)
    return replace(
        row,
        success_gain=mean(gains),
        true_starts=sum(len(group.from_the_start) for group in collected.groups),
        later_starts=len(given),
        mean_given=mean([one.turns for one in given]),
        branches=sum(len(group.members) - len(group.trunks) for group in collected.groups),
        effective_samples=effective_samples(samples),
        sampled_tokens=sum(len(turn.completion.ids) for one in collected.episodes for turn in one.chosen),
        more={**row.more, **{f"{LEFT}{template}": left for template, left in sorted(before.starts.items())}},
    )


def _note(row: ReinforceRow) -> str:
    success = "not measured" if row.success is None else f"{row.success:.0%}"
    return (
        f"success {success}, {row.mean_turns:.1f} turns, {row.groups_mixed} groups trained, rollout "
        f"{row.rollout_s:.0f} s ({row.sampled_tokens_per_s:.0f} tokens/s), update {row.update_s:.0f} s"
    )

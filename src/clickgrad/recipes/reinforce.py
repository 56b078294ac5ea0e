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
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch.optim import Optimizer

from clickgrad.config import Config
from clickgrad.learn import checkpoint
from clickgrad.learn.advantages import group_advantages
from clickgrad.learn.checkpoint import Progress
from clickgrad.learn.samples import grpo_samples, refuse_foreign
from clickgrad.learn.step import StepFigures, grpo_step, make_optimizer
from clickgrad.learn.trainee import Trainee
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.recipes.display import Ticker, say, stage
from clickgrad.recipes.run_folder import CHECKPOINTS, METRICS, MODEL, open_run
from clickgrad.recipes.training import export, is_finished, resume
from clickgrad.recipes.wiring import chosen_tasks, load_torch, make_agent, model_source, open_venue, prompt_builder
from clickgrad.report.metrics import Metrics
from clickgrad.report.summary import success_rate
from clickgrad.rollout.episode import Agent
from clickgrad.rollout.scheduler import Slot, fill_slots
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.rollout.venue import Venue
from clickgrad.types import Task, Trajectory

Group = list[Trajectory]


def reinforce(config: Config, start: str, run: Path) -> Path:
    """Returns the folder of the trained model, a plain transformers folder. `start` is the model RL starts from."""
    options = config.reinforce
    tasks = chosen_tasks(config, "train")
    with open_run(run, config, "reinforce", start):
        if is_finished(run, options.steps):
            return run / MODEL
        loaded = load_torch(config, model_source(start))
        trainee = Trainee(loaded, config.lora.rank, config.lora.alpha, config.seed, options.kl_beta > 0)
        engine = TorchEngine(trainee.sampler, name=f"torch:{start}", max_rows=config.rollout.concurrency)
        agent = make_agent(config, engine, prompt_builder(config, loaded.tokenizer), options.temperature, run)
        with (
            closing(engine),
            asyncio.Runner() as runner,
            open_venue(config, runner) as venue,
        ):
            _learn(config, run, trainee, engine, lambda *step: runner.run(gather(config, tasks, agent, venue, *step)))
        export(trainee, run)
        return run / MODEL


def _learn(
    config: Config,
    run: Path,
    trainee: Trainee,
    engine: TorchEngine,
    gather_step: Callable[[Progress, TrajectoryFile, Ticker], Gathered],
) -> None:
    """The loop: sample, update, push the weights, write down, save."""
    options = config.reinforce
    optimizer = make_optimizer(trainee.model, options.lr)
    progress = resume(run, trainee, optimizer)
    metrics = Metrics(run / METRICS)
    engine.weights_changed(progress.step)
    with stage("reinforce", options.steps, progress.step) as ticker:
        for step in range(progress.step + 1, options.steps + 1):
            started = time.monotonic()
            file = TrajectoryFile(run / "trajectories" / f"step-{step:04d}.jsonl.zst")
            gathered = gather_step(progress, file, ticker)
            sampled = time.monotonic()
            figures = _update(config, trainee, optimizer, gathered, ticker)
            engine.weights_changed(step)
            progress = gathered.after(progress)
            row = _figures(step, gathered, figures) | {
                "rollout_s": (rollout_s := sampled - started),
                "update_s": time.monotonic() - sampled,
                "sampled_tokens_per_s": gathered.sampled_tokens / rollout_s,
                "cache_hit_share": engine.cache_hit_share,
            }
            if not options.kl_beta:
                row["kl"] = None  # not looked at
            metrics.append(row)
            if step % options.save_every == 0 or step == options.steps:
                checkpoint.save(run / CHECKPOINTS, progress, trainee, optimizer, keep=2)
            ticker.advance(_note(row))


def _update(
    config: Config, trainee: Trainee, optimizer: Optimizer, gathered: Gathered, ticker: Ticker
) -> StepFigures | None:
    """None when no group had contrast: then there is nothing to learn from."""
    options = config.reinforce
    samples = grpo_samples(gathered.kept, options.normalizer, config.agent.max_turns)
    if not samples:
        return None
    figures = grpo_step(
        trainee.model,
        trainee.reference if options.kl_beta else None,
        optimizer,
        samples,
        lr=options.lr,
        clip=options.clip,
        kl_beta=options.kl_beta,
        temperature=options.temperature,
        micro_tokens=options.micro_tokens,
        progress=lambda done, total: ticker.show(f"update {done}/{total} turns"),
    )
    trainee.refresh_sampler()
    return figures


@dataclass(frozen=True, slots=True)
class Gathered:
    groups: tuple[Group, ...]
    kept: tuple[Group, ...]  # those with contrast
    tasks_taken: int
    episodes: tuple[Trajectory, ...]  # every try, crashed ones included
    fresh: tuple[Trajectory, ...]  # those sampled just now, not found in the folder

    @property
    def sampled_tokens(self) -> int:
        return sum(len(turn.completion.ids) for episode in self.fresh for turn in episode.turns)

    def after(self, before: Progress) -> Progress:
        return replace(
            before,
            step=before.step + 1,
            tasks_taken=self.tasks_taken,
            episodes=before.episodes + len(self.episodes),
            crashed=before.crashed + sum(not episode.usable for episode in self.episodes),
            skipped_groups=before.skipped_groups + len(self.groups) - len(self.kept),
        )


async def gather(
    config: Config,
    tasks: Sequence[Task],
    agent: Agent,
    venue: Venue,
    progress: Progress,
    file: TrajectoryFile,
    ticker: Ticker,
) -> Gathered:
    """The groups of the next step. Follows from the order of tasks and the trajectories: a resumed step is the same."""
    options, step = config.reinforce, progress.step + 1
    episodes = {trajectory.episode: trajectory for trajectory in file.read()}
    refuse_foreign(list(episodes.values()), agent.builder.fingerprint)
    fresh: list[Trajectory] = []
    groups: list[Group] = []
    kept: list[Group] = []
    taken, most = progress.tasks_taken, options.groups + options.max_refills

    def on_end(trajectory: Trajectory) -> None:
        file.append(trajectory)
        episodes[trajectory.episode] = trajectory
        fresh.append(trajectory)
        ticker.show(f"{len(episodes)} episodes, success {success_rate(episodes.values()).value:.0%}")

    while len(kept) < options.groups and len(groups) < most:
        count = min(options.groups - len(kept), most - len(groups))
        wanted = range(taken, taken + count)
        slots = [
            Slot(f"step-{step:04d}/task-{index:05d}/member-{member}", task_at(tasks, index, config.seed), config.seed)
            for index in wanted
            for member in range(options.group_size)
        ]
        filled = await fill_slots(
            slots,
            agent,
            venue,
            concurrency=config.rollout.concurrency,
            retries=config.rollout.retries,
            stored=dict(episodes),
            on_end=on_end,
        )
        taken += count
        new = [filled[at : at + options.group_size] for at in range(0, len(filled), options.group_size)]
        groups += new
        kept += [group for group in new if has_contrast(group)]
    if len(kept) < options.groups:
        say(f"step {step}: only {len(kept)} of {options.groups} groups have both successes and failures")
    return Gathered(tuple(groups), tuple(kept), taken, tuple(episodes.values()), tuple(fresh))


def has_contrast(group: Group) -> bool:
    return any(advantage is not None for advantage in group_advantages([member.reward for member in group]))


def task_at(tasks: Sequence[Task], index: int, seed: int) -> Task:
    """The endless sequence of training tasks: epoch after epoch, each in an order of its own, none repeated within."""
    epoch, place = divmod(index, len(tasks))
    order = list(tasks)
    random.Random(f"{seed}/{epoch}").shuffle(order)
    return order[place]


def _figures(step: int, gathered: Gathered, update: StepFigures | None) -> dict[str, Any]:
    finished = [trajectory for group in gathered.groups for trajectory in group if trajectory.usable]
    turns = [turn for trajectory in finished for turn in trajectory.turns]
    rate = success_rate(finished)
    shares = [success_rate(group) for group in gathered.groups]
    return {
        "step": step,
        "success": rate.value,
        "episodes": len(gathered.episodes),
        "crashed": sum(not episode.usable for episode in gathered.episodes),
        "groups_all_0": sum(share.passed == 0 for share in shares),
        "groups_mixed": len(gathered.kept),
        "groups_all_1": sum(share.passed == share.n > 0 for share in shares),
        "mean_turns": len(turns) / max(1, len(finished)),
        "mean_reply_tokens": sum(len(turn.completion.ids) for turn in turns) / max(1, len(turns)),
        "policy_s": sum(turn.policy_s for turn in turns),
        "browser_s": sum(turn.browser_s for turn in turns),
        "loss": update.loss if update else None,
        "grad_norm": update.grad_norm if update else None,
        "entropy": update.entropy if update else None,
        "kl": update.kl if update else None,
        "clip_share": update.clip_share if update else None,
        "trained_tokens": update.tokens_seen if update else 0,
    }


def _note(row: dict[str, Any]) -> str:
    return (
        f"success {row['success']:.0%}, {row['mean_turns']:.1f} turns, {row['groups_mixed']} groups trained, rollout "
        f"{row['rollout_s']:.0f} s ({row['sampled_tokens_per_s']:.0f} tokens/s), update {row['update_s']:.0f} s"
    )

"""Test-time scaling over the turn limit: one rollout at the largest limit, cut for the smaller ones, exactly.

The prompt does not speak of the limit and every turn has a seed of its own, so at a smaller limit k the first k turns
are the same. An episode that ended within k turns ends so at k too. One that went on is judged at k without an answer,
on the world as it was after k turns:

1. a task that asks for an answer has failed, whatever the world is like;
2. for any other, the stored actions are played again up to k in a fresh world and judged there. Every page on the way
   must come out as it was stored; if one does not, there is no verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from clickgrad.backends.agents import as_trained
from clickgrad.backends.policies import PolicySpec
from clickgrad.backends.venues import open_judge, open_venue
from clickgrad.config import Config
from clickgrad.display import progress_bar
from clickgrad.errors import InfraError, UserError
from clickgrad.recipes.demos import SESSIONS
from clickgrad.recipes.evaluate import evaluate
from clickgrad.report.cuts import CUTS, KEPT, LOST, REPLAY, RULE, Cut, write_cuts
from clickgrad.report.episodes import Episode, final_tries
from clickgrad.report.metrics import timed
from clickgrad.report.study_report import StudyReport
from clickgrad.rollout.again import Diverged, play_again
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.rollout.venue import Venue
from clickgrad.run_folder import open_run
from clickgrad.run_layout import EVALUATION, TRAJECTORIES
from clickgrad.studies.folders import close_study, policy_folders, settled
from clickgrad.tasks.checks import judge
from clickgrad.types import AnswerCheck, CustomCheck, Trajectory, Verdict


async def study_turns(config: Config, policies: Sequence[PolicySpec], run: Path) -> StudyReport:
    limits = _limits(config)
    with open_run(run, config, "study turns", ", ".join(map(str, policies))):
        for policy, folder in policy_folders(run, policies):
            own = as_trained(settled(config, "max_turns"), policy)
            await evaluate(own, policy, folder, f"{policy}, {limits[-1]} turns")
            if not (folder / CUTS).exists():
                with timed(folder, "cuts"):
                    write_cuts(folder, await _cut_all(own, _final(folder), limits))
        return close_study(run)


def _limits(config: Config) -> list[int]:
    """In order, the one at which episodes are sampled last."""
    largest = config.agent.max_turns
    if too_large := [limit for limit in config.turns.limits if limit >= largest]:
        raise UserError(
            f"turns.limits: {too_large[0]} is not below agent.max_turns={largest}, at which episodes are sampled"
        )
    return [*sorted(set(config.turns.limits)), largest]


def _final(folder: Path) -> list[Trajectory]:
    """One trajectory a slot, as the evaluation counted them."""
    stored = TrajectoryFile(folder / TRAJECTORIES / EVALUATION).read()
    counted = {episode.name for episode in final_tries(map(Episode.of, stored))}
    return [trajectory for trajectory in stored if trajectory.episode in counted]


async def _cut_all(config: Config, trajectories: Sequence[Trajectory], limits: Sequence[int]) -> list[Cut]:
    cuts = [cut for one in trajectories for limit in limits if (cut := cut_by_rule(one, limit))]
    known = {(cut.episode, cut.limit) for cut in cuts}
    asked = [(one, [limit for limit in limits if (one.episode, limit) not in known]) for one in trajectories]
    asked = [(one, unknown) for one, unknown in asked if unknown]
    if not asked:
        return cuts
    gate = asyncio.Semaphore(min(SESSIONS, config.rollout.concurrency))
    with progress_bar("replay", len(asked)) as ticker:
        async with open_venue(config, open_judge(config)) as venue:

            async def one(trajectory: Trajectory, unknown: Sequence[int]) -> list[Cut]:
                async with gate:
                    found = await cut_by_replay(trajectory, unknown, venue, config.rollout.retries)
                ticker.advance()
                return found

            found = await asyncio.gather(*(one(trajectory, unknown) for trajectory, unknown in asked))
    return cuts + [cut for some in found for cut in some]


def cut_by_rule(trajectory: Trajectory, limit: int) -> Cut | None:
    """What is certain without looking again; None when only a replay can tell."""
    name, taken, checks = trajectory.episode, len(trajectory.turns), trajectory.task.checks
    if not trajectory.usable:
        return Cut(name, limit, min(taken, limit), None, LOST)
    if taken <= limit:
        return Cut(name, limit, taken, trajectory.reward, KEPT)
    # A check of the user's own may find nothing out at all, and then nobody knows.
    wants_answer = any(isinstance(check, AnswerCheck) for check in checks)
    if wants_answer and not any(isinstance(check, CustomCheck) for check in checks):
        return Cut(name, limit, limit, 0.0, RULE)
    return None


async def cut_by_replay(trajectory: Trajectory, limits: Sequence[int], venue: Venue, retries: int) -> list[Cut]:
    """One pass for all of these limits: gathering evidence changes nothing."""
    verdicts: dict[int, Verdict] = {}
    for _ in range(retries + 1):
        try:
            verdicts = await _judge_at(trajectory, limits, venue)
            break
        except (InfraError, Diverged):
            continue
    return [_replayed(trajectory.episode, limit, verdicts.get(limit)) for limit in limits]


async def _judge_at(trajectory: Trajectory, limits: Sequence[int], venue: Venue) -> dict[int, Verdict]:
    verdicts: dict[int, Verdict] = {}
    async with venue.open(trajectory.task) as visit:
        async for done in play_again(trajectory.turns, visit.session):
            if done in limits:
                verdicts[done] = judge(trajectory.task, await visit.evidence(None))
            if done == max(limits):
                break
    return verdicts


def _replayed(episode: str, limit: int, verdict: Verdict | None) -> Cut:
    if verdict is None or verdict.reward is None:
        return Cut(episode, limit, limit, None, LOST)
    return Cut(episode, limit, limit, verdict.reward, REPLAY)

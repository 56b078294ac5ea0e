"""Prove tasks: each is solved by its expert, not by doing nothing, not by another task's end, not by a near miss."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from clickgrad.backends.agents import make_agent
from clickgrad.backends.local import LocalPlayers
from clickgrad.backends.policies import Scripted, open_scripted, prompt_builder
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.backends.venues import open_venue
from clickgrad.config import Config
from clickgrad.display import progress_bar
from clickgrad.errors import UserError
from clickgrad.policy.protocol import Policy
from clickgrad.policy.scripted import RecordedPolicy
from clickgrad.recipes.demos import read_demos
from clickgrad.rollout.scheduler import Bounds, Scheduler, Slot
from clickgrad.tasks.answers import same
from clickgrad.tasks.checks import judge
from clickgrad.tasks.experts import has_expert
from clickgrad.tasks.near_misses import loose_columns, near_misses
from clickgrad.types import (
    AnswerCheck,
    Check,
    CustomCheck,
    Evidence,
    Outcome,
    PageCheck,
    RewardCheck,
    StateCheck,
    Task,
    Trajectory,
    UrlCheck,
)
from clickgrad.webarena import ProgramHtml, StringMatch, UrlMatch

UNKNOWN_TURNS = 40  # enough for an expert of which nobody has said how many it takes


@dataclass(frozen=True, slots=True)
class Proof:
    tasks: int
    judged: int  # ends judged besides the experts' own
    turns: int  # of all experts together
    faults: tuple[str, ...]
    loose: tuple[str, ...]  # "template: table.column": determined by no check, to be looked at by a person
    unproved: int = 0  # tasks without an expert: only that doing nothing fails is known of them

    @property
    def headline(self) -> str:
        without = f" ({self.unproved} without an expert)" if self.unproved else ""
        judged = f"{self.turns} expert turns, {self.judged} wrong ends judged"
        return f"{self.tasks} tasks{without}, {judged}: {len(self.faults)} faults"

    def plain(self) -> dict[str, object]:
        return {
            "tasks": self.tasks,
            "unproved": self.unproved,
            "judged": self.judged,
            "turns": self.turns,
            "faults": list(self.faults),
        }


async def prove(config: Config, quiet: bool = False, demos: Path | None = None) -> Proof:
    """By the scripted experts; or, where there are none, by recorded demonstrations, whose tasks it is then about."""
    if demos:
        return await prove_demos(config, read_demos(demos), quiet)
    tasks = chosen_tasks(config, config.evaluate.split)
    return await prove_tasks(config, tasks[: config.evaluate.limit or len(tasks)], quiet)


async def prove_tasks(config: Config, tasks: Sequence[Task], quiet: bool = False) -> Proof:
    able = [task for task in tasks if has_expert(task)]
    if not able:
        raise UserError("no task has an expert: there is nothing to prove; write one, as docs/your-own-site.md says")
    with closing(open_scripted(Scripted("expert"), config)) as expert:
        experts = await _play(config, expert, able, quiet)
    faults = [fault for trajectory in experts for fault in _expert_faults(trajectory)]
    return await _proof(config, tasks, experts, faults, quiet)


async def prove_demos(config: Config, demos: Sequence[Trajectory], quiet: bool = False) -> Proof:
    """The newest demonstration of each task stands for its expert: its replies must pass again in a fresh world."""
    newest = {demo.task.id: demo for demo in demos}
    told = {task: [turn.completion.text for turn in demo.turns] for task, demo in newest.items()}
    with closing(RecordedPolicy(told)) as recorded:
        experts = await _play(config, recorded, [demo.task for demo in newest.values()], quiet)
    faults = [
        f"{one.task.id}: the recorded demonstration does not pass again: {one.error or _reasons(one)}"
        for one in experts
        if one.reward != 1.0
    ]
    return await _proof(config, [demo.task for demo in newest.values()], experts, faults, quiet)


async def _proof(
    config: Config, tasks: Sequence[Task], experts: Sequence[Trajectory], faults: list[str], quiet: bool
) -> Proof:
    with closing(open_scripted(Scripted("noop"), config)) as idler:
        idlers = await _play(config, idler, tasks, quiet)
    faults += [f"{idler.task.id}: doing nothing passes" for idler in idlers if idler.reward != 0.0]
    judged = len(idlers)
    for what, task, outcome in _ends_of_others(experts):
        judged += 1
        if outcome is not Outcome.FAILED:
            faults.append(f"{task.id}: {what} passes")
    loose = {
        f"{trajectory.task.template}: {column}"
        for trajectory in experts
        if trajectory.evidence
        for column in loose_columns(trajectory.task, trajectory.evidence)
    }
    turns = sum(len(trajectory.turns) for trajectory in experts)
    return Proof(len(tasks), judged, turns, tuple(faults), tuple(sorted(loose)), len(tasks) - len(experts))


def _expert_faults(trajectory: Trajectory) -> Iterator[str]:
    task = trajectory.task
    if trajectory.reward != 1.0:
        yield f"{task.id}: the expert fails: {trajectory.error or _reasons(trajectory)}"
    elif task.expert_turns not in (None, len(trajectory.turns)):
        yield f"{task.id}: the expert needs {len(trajectory.turns)} turns, not {task.expert_turns}"


def _reasons(trajectory: Trajectory) -> str:
    return "; ".join(result.reason for result in trajectory.verdict.results if not result.passed)


def _ends_of_others(experts: Sequence[Trajectory]) -> Iterator[tuple[str, Task, Outcome]]:
    siblings: dict[str, list[Trajectory]] = defaultdict(list)
    for trajectory in experts:
        siblings[trajectory.task.template].append(trajectory)
    for trajectory in experts:
        task = trajectory.task
        if trajectory.evidence is None:
            continue
        for what, evidence in near_misses(task, trajectory.evidence):
            yield what, task, judge(task, evidence).outcome
        for other in siblings[task.template]:
            if other.evidence and not _is_right_here_too(task, trajectory.evidence, other.evidence):
                yield f"the end of {other.task.id}", task, judge(task, other.evidence).outcome


def _is_right_here_too(task: Task, mine: Evidence, other: Evidence) -> bool:
    """Two questions may have the same answer: then another's end says nothing about this task's checks."""
    return all(_looks_alike(check, mine, other) for check in task.checks)


def _looks_alike(check: Check, mine: Evidence, other: Evidence) -> bool:
    match check:
        case AnswerCheck():
            return same(mine.answer or "", other.answer or "")
        case UrlCheck():
            return mine.url == other.url
        case PageCheck():
            return mine.page_text == other.page_text
        case StateCheck():
            return mine.changes == other.changes
        case RewardCheck():
            return mine.page_reward == other.page_reward
        case CustomCheck():
            return True  # what it found was about its own task, and says nothing about another
        case StringMatch():
            return mine.answer == other.answer
        case UrlMatch():
            return mine.url == other.url
        case ProgramHtml():
            return mine.probes == other.probes


async def _play(config: Config, policy: Policy, tasks: Sequence[Task], quiet: bool) -> list[Trajectory]:
    slots = [Slot(task.id, task, config.seed) for task in tasks]
    bounds = Bounds(config.rollout.concurrency, config.rollout.retries)
    with progress_bar(policy.name, len(slots), quiet=quiet) as ticker:
        agent = make_agent(config, policy, prompt_builder(config, None), temperature=1.0, run=Path())
        known = [task.expert_turns or max(config.agent.max_turns, UNKNOWN_TURNS) for task in tasks]
        longest = max(policy.longest if isinstance(policy, RecordedPolicy) else 0, *known)
        agent = replace(agent, limits=replace(agent.limits, max_turns=longest + 5), save_screenshot=None)
        async with open_venue(config) as venue:
            players = LocalPlayers(agent, venue)
            return await Scheduler(players.play, bounds, {}, lambda trajectory: ticker.advance()).fill(slots)

"""Demonstrations: the scripted experts at work in the real browser, what they did kept when it passed.

The finished file is the same byte for byte whoever records it, unless a hosted model explains: in the order of the
tasks, without times. While it is being made, what is done so far lies in a file beside it, so that an interrupted
recording goes on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from clickgrad.backends.agents import make_agent
from clickgrad.backends.local import LocalPlayers
from clickgrad.backends.policies import ChatModel, metered, open_chat, prompt_builder
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.backends.venues import open_venue
from clickgrad.config import Config
from clickgrad.display import progress_bar
from clickgrad.errors import UserError, warn
from clickgrad.integrity import set_aside
from clickgrad.policy.explaining import ChatExplainer
from clickgrad.policy.scripted import ExpertPolicy
from clickgrad.rollout.scheduler import Bounds, Scheduler, Slot
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Observation, Task, Trajectory

SESSIONS = 4  # experts take no time: more sessions than this only crowd the browser


async def record_demos(config: Config, path: Path) -> list[Trajectory]:
    return await record(config, _drawn(config), path, _expert(config, path.parent))


async def record_experts(config: Config, tasks: Sequence[Task], path: Path) -> list[Trajectory]:
    """Of these tasks, whatever cloning had, with short remarks."""
    return await record(config, tasks, path, nullcontext(ExpertPolicy(config.agent.reply_format, "short")))


async def record(
    config: Config, tasks: Sequence[Task], path: Path, expert: AbstractContextManager[ExpertPolicy]
) -> list[Trajectory]:
    slots = [Slot(task.id, task, config.seed) for task in tasks]
    beside = TrajectoryFile(path.with_name(f"{path.name}.part"))
    finished = _finished(path, slots, beside)
    if finished:
        if [trajectory.task for trajectory in finished] != [slot.task for slot in slots]:
            raise UserError(f"{path} holds demonstrations of other tasks: give another --out, or move it away")
        return finished
    recorded = await _record(config, slots, beside, expert)
    passed = [timeless(trajectory) for trajectory in recorded if trajectory.reward == 1.0]
    if len(passed) < len(slots):
        lost = next(trajectory for trajectory in recorded if trajectory.reward != 1.0)
        raise UserError(
            f"{len(slots) - len(passed)} of {len(slots)} demonstrations did not pass, the first being {lost.episode}"
            f" ({lost.error or lost.verdict}): `clickgrad doctor` checks the browser"
        )
    finished_file = TrajectoryFile(path.with_name(f"{path.name}.new"))
    finished_file.path.unlink(missing_ok=True)
    finished_file.extend(passed)
    finished_file.path.replace(path)
    beside.path.unlink()
    return passed


def _finished(path: Path, slots: Sequence[Slot], beside: TrajectoryFile) -> list[Trajectory]:
    """What a finished file holds. If damage took some of it, the rest is as good as recorded, and nothing finished."""
    file = TrajectoryFile(path)
    file.require_ours()
    found, complaint = file.salvage()
    if not complaint and not (0 < len(found) < len(slots) and _is_start(found, slots)):
        return found
    known = {trajectory.episode for trajectory in beside.mend(warn)}
    beside.extend([trajectory for trajectory in found if trajectory.episode not in known])
    aside = set_aside(path)
    warn(f"{complaint or f'{path} was cut short'}: kept as {aside.name}, and what is missing is recorded again")
    return []


def _is_start(found: Sequence[Trajectory], slots: Sequence[Slot]) -> bool:
    return [trajectory.task for trajectory in found] == [slot.task for slot in slots[: len(found)]]


def read_demos(path: Path) -> list[Trajectory]:
    """The passed trajectories of a file of the user's."""
    if not path.is_file():
        raise UserError(f"--demos {path}: there is no such file; `clickgrad demos --out {path}` records one")
    passed = [trajectory for trajectory in TrajectoryFile(path).read() if trajectory.reward == 1.0]
    if not passed:
        raise UserError(f"--demos {path} holds no trajectory that passed its checks")
    return passed


def _drawn(config: Config) -> Sequence[Task]:
    tasks = chosen_tasks(config, "demo")
    wanted = config.clone.demos or len(tasks)
    if wanted > len(tasks):
        raise UserError(f"clone.demos={wanted}: only {len(tasks)} demonstration tasks fit the options")
    drawn = set(random.Random(config.seed).sample(range(len(tasks)), wanted))
    return [task for index, task in enumerate(tasks) if index in drawn]


async def _record(
    config: Config, slots: Sequence[Slot], file: TrajectoryFile, expert: AbstractContextManager[ExpertPolicy]
) -> list[Trajectory]:
    # What broke or failed in an earlier sitting is tried again: an endpoint, a browser or a slow site may be back.
    stored = {trajectory.episode: trajectory for trajectory in file.mend(warn) if trajectory.reward == 1.0}
    with expert as policy, progress_bar("demonstrations", len(slots), len(stored)) as ticker:

        def on_end(trajectory: Trajectory) -> None:
            file.append(trajectory)
            ticker.advance()

        longest = max(slot.task.expert_turns or config.agent.max_turns for slot in slots)
        agent = make_agent(config, policy, prompt_builder(config, None), temperature=1.0, run=file.path.parent)
        agent = replace(agent, limits=replace(agent.limits, max_turns=longest + 1))
        async with open_venue(config) as venue:
            players = LocalPlayers(agent, venue)
            return await Scheduler(players.play, Bounds(SESSIONS, config.rollout.retries), stored, on_end).fill(slots)


@contextmanager
def _expert(config: Config, folder: Path) -> Iterator[ExpertPolicy]:
    match config.clone.remarks:
        case "short" | "long" as remarks:
            yield ExpertPolicy(config.agent.reply_format, remarks)
        case hosted:
            engine = open_chat(config, ChatModel(hosted.removeprefix("chat:")))
            with closing(engine), metered(config, engine, folder):
                yield ExpertPolicy(config.agent.reply_format, ChatExplainer(engine))


def timeless(trajectory: Trajectory) -> Trajectory:
    """Without what depends on the machine: seconds, and where its fonts put the elements."""
    turns = tuple(
        replace(turn, observation=_unplaced(turn.observation), policy_s=0.0, browser_s=0.0) for turn in trajectory.turns
    )
    return replace(trajectory, turns=turns, seconds=0.0)


def _unplaced(page: Observation) -> Observation:
    return replace(page, elements=tuple(replace(element, box=None) for element in page.elements))

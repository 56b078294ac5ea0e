"""Turns of demonstrations performed again at the beginning of an episode: every page and every world as recorded."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.backends.local import LocalPlayers
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.backends.venues import open_venue
from clickgrad.config import load_config
from clickgrad.policy.scripted import ExpertPolicy, FixedPolicy
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.scheduler import Bounds, Scheduler, Slot
from clickgrad.rollout.venue import Venue
from clickgrad.types import Given, Opening, Task, Trajectory

FORUM = "http://forum.localhost/"
TODO = Path(__file__).parents[2] / "examples" / "todo"


def spread(tasks: tuple[Task, ...], count: int) -> list[Task]:
    """So many of those that may take several turns, all templates in turn. Calendars take longest: left out."""
    left = [task for task in tasks if task.expert_turns != 1 and not task.template.startswith("choose-date")]
    seen = Counter[str]()
    ranked = []
    for task in left:
        seen[task.template] += 1
        ranked.append((seen[task.template], task.template, task))
    return [task for _, _, task in sorted(ranked, key=lambda one: one[:2])][:count]


async def performed_again(suite: str, count: int) -> list[tuple[Trajectory, Trajectory]]:
    """Each demonstration, and an episode that is given all of it but the last turn, which its policy says by itself."""
    config = load_config(None, [f"tasks.suite={suite}"], "evaluate")
    expert = Agent(ExpertPolicy("plain", "short"), PromptBuilder(None, "plain"), Limits(30, 64))
    tasks = spread(chosen_tasks(config, "demo"), count)
    async with open_venue(config) as venue:
        recording = Scheduler(LocalPlayers(expert, venue).play, Bounds(4, 2), {}, lambda one: None)
        recorded = await recording.fill([Slot(task.id, task, 0) for task in tasks])
    shown = [demo for demo in recorded if demo.reward == 1.0 and len(demo.turns) > 1]
    by_task = {demo.task.id: demo for demo in shown}
    async with open_venue(config) as venue:

        async def play(episode: str, task: Task, seed: int, opening: Opening) -> Trajectory:
            return await again(by_task[task.id], venue)

        slots = [Slot(demo.task.id, demo.task, 1) for demo in shown]
        played = await Scheduler(play, Bounds(4, 2), {}, lambda one: None).fill(slots)  # a busy machine may be too slow
        return list(zip(shown, played, strict=True))


async def again(demo: Trajectory, venue: Venue) -> Trajectory:
    *given, last = demo.turns
    policy = FixedPolicy("last turn", [last.completion.text])
    agent = Agent(policy, PromptBuilder(None, "plain"), Limits(len(demo.turns), 64))
    opening = Opening(tuple(given), Given(len(given), demo.episode, "demo"))
    return await LocalPlayers(agent, venue).play("again", demo.task, 1, opening)


def check(pairs: list[tuple[Trajectory, Trajectory]]) -> None:
    for demo, repeated in pairs:
        assert repeated.error is None, f"{demo.episode}: {repeated.error}"
        assert [turn.observation for turn in repeated.turns] == [turn.observation for turn in demo.turns]
        assert [turn.world for turn in repeated.turns] == [turn.world for turn in demo.turns]
        assert (repeated.reward, repeated.given and repeated.given.turns) == (1.0, len(demo.turns) - 1)


def test_given_turns_lead_to_the_recorded_pages_and_on_any_other_page_they_are_a_crash() -> None:
    pairs = asyncio.run(performed_again("pocket", 4))
    assert pairs  # on a busy machine an expert may get lost: then there is no demonstration
    check(pairs)
    demo, _ = pairs[0]
    assert demo.turns[0].world != ""
    elsewhere = replace(demo.task, start_url="http://map.localhost/" if "map" not in demo.task.sites else FORUM)
    crashed = asyncio.run(begun("pocket", replace(demo, task=elsewhere)))
    assert (crashed.end, crashed.reward, crashed.turns) == ("crashed", None, ())
    assert "turn 1 cannot be performed again: url was" in (crashed.error or "")


async def begun(suite: str, demo: Trajectory) -> Trajectory:
    async with open_venue(load_config(None, [f"tasks.suite={suite}"], "evaluate")) as venue:
        return await again(demo, venue)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("suite", "count"), [("pocket", 160), ("miniwob", 60), (str(TODO), 8)], ids=["pocket", "miniwob", "own"]
)
def test_two_hundred_demonstrations_come_out_the_same(suite: str, count: int) -> None:
    """MiniWoB++'s menus open by hovering, after a while: what does not come out the same is a crash that names it."""
    pairs = asyncio.run(performed_again(suite, count))
    differing = [repeated for _, repeated in pairs if repeated.error]
    for repeated in differing:
        print(repeated.task.id, repeated.error)
        assert (repeated.end, repeated.reward) == ("crashed", None)
        assert "cannot be performed again" in (repeated.error or "")
    assert not differing or (suite == "miniwob" and len(differing) <= len(pairs) / 10)
    check([(demo, repeated) for demo, repeated in pairs if not repeated.error])
    sites = {site for demo, _ in pairs for site in demo.task.sites}
    assert suite != "pocket" or sites == {"admin", "code", "forum", "map", "shop"}
    print(suite, len(pairs), "demonstrations,", sum(len(demo.turns) - 1 for demo, _ in pairs), "turns performed again")

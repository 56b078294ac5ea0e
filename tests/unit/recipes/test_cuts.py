"""Worked by hand on a toy site: Home -> Next -> Home -> Next, one click a turn; the task is to be on Next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tiny import FakeVenue, make_task, make_trajectory, make_turn

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.backends.policies import ChatModel, Scripted, TorchModel
from clickgrad.browser import FakeElement, FakePage
from clickgrad.errors import UserError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.report.cuts import Cut, rate_at
from clickgrad.report.stats import Rate
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.studies.folders import policy_folders
from clickgrad.studies.turns import cut_by_replay, cut_by_rule
from clickgrad.types import CustomCheck, Task, Trajectory, UrlCheck

SITE = {
    "http://toy/": FakePage("Home", (FakeElement("link", "Next", to="http://toy/next"),)),
    "http://toy/next": FakePage("Next", (FakeElement("link", "Home", to="http://toy/"),)),
}
CLICK = 'do(action="Click", element="0")'
ON_NEXT = replace(make_task(), checks=(UrlCheck("toy", "/next"),))


async def play(replies: Sequence[str], max_turns: int, task: Task = ON_NEXT) -> Trajectory:
    agent = Agent(FixedPolicy("fixed", replies), PromptBuilder(None, "plain"), Limits(max_turns, max_new_tokens=32))
    return await run_episode("e", task, 7, agent, FakeVenue(SITE))


def rewards(cuts: Sequence[Cut]) -> list[float | None]:
    return [cut.reward for cut in cuts]


@pytest.mark.anyio
async def test_a_replay_judges_the_world_as_it_was_after_so_many_turns() -> None:
    sampled = await play([CLICK], max_turns=5)
    cuts = await cut_by_replay(sampled, [1, 2, 3, 4], FakeVenue(SITE), retries=0)
    assert rewards(cuts) == [1.0, 0.0, 1.0, 0.0]  # after an odd number of clicks the page is Next
    assert {cut.how for cut in cuts} == {"replay"}
    assert rewards(cuts) == [(await play([CLICK], max_turns=limit)).reward for limit in (1, 2, 3, 4)]


@pytest.mark.anyio
async def test_a_replay_that_comes_out_differently_gives_no_verdict() -> None:
    sampled = await play([CLICK], max_turns=4)
    moved = {**SITE, "http://toy/next": FakePage("Elsewhere", (FakeElement("link", "Home", to="http://toy/"),))}
    cuts = await cut_by_replay(sampled, [1, 2, 3], FakeVenue(moved), retries=1)
    assert [(cut.reward, cut.how) for cut in cuts] == [(None, "lost")] * 3
    assert rate_at([*cuts, Cut("f", 1, 1, 1.0, "kept")], 1) == Rate(1, 1, infra_failed=1)


@pytest.mark.anyio
async def test_an_episode_that_ended_by_itself_is_the_same_at_every_larger_limit() -> None:
    sampled = await play([CLICK, 'exit(message="")'], max_turns=5)
    assert [cut_by_rule(sampled, limit) for limit in (2, 3, 5)] == [
        Cut("e", limit, 2, 1.0, "kept") for limit in (2, 3, 5)
    ]
    assert cut_by_rule(sampled, 1) is None


TURN = make_turn([1], [2])


def test_a_task_that_asks_for_an_answer_has_failed_without_one() -> None:
    sampled = make_trajectory([TURN, TURN, TURN], 1.0, make_task())
    assert cut_by_rule(sampled, 2) == Cut("episode", 2, 2, 0.0, "rule")
    assert cut_by_rule(sampled, 3) == Cut("episode", 3, 3, 1.0, "kept")


def test_with_a_check_of_the_users_own_nothing_is_certain() -> None:
    task = make_task()
    own = replace(task, checks=(*task.checks, CustomCheck("mine")))
    assert cut_by_rule(make_trajectory([TURN, TURN], 1.0, own), 1) is None


def test_what_was_lost_stays_lost_at_every_limit() -> None:
    crashed = make_trajectory([TURN, TURN], None)
    assert [cut_by_rule(crashed, limit) for limit in (1, 2, 3)] == [
        Cut("episode", limit, min(limit, 2), None, "lost") for limit in (1, 2, 3)
    ]


def test_every_policy_has_a_folder_of_its_own() -> None:
    folders = policy_folders(
        Path("run"), [TorchModel.of("smollm2"), TorchModel("runs/a/clone", "runs/a/clone"), ChatModel("org/model-4.1")]
    )
    assert [folder.name for _, folder in folders] == ["01-torch-smollm2", "02-runs-a-clone", "03-chat-org-model-4.1"]
    with pytest.raises(UserError, match="the same one is given twice"):
        policy_folders(Path("run"), [Scripted("noop"), Scripted("noop")])

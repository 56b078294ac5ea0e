from __future__ import annotations

import pytest
from tiny import FakeVenue, make_task

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import FakePage
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits, run_episode

SITE = {"http://toy/": FakePage("Home", ("Welcome",))}
REPLIES = ["go_backward()", 'exit(message="yes")']


@pytest.mark.anyio
@pytest.mark.parametrize("site", [SITE, {}], ids=["ended", "crashed"])
async def test_a_policy_starts_afresh_when_an_episode_is_tried_under_the_same_name(site: dict[str, FakePage]) -> None:
    """Whatever the policy keeps by episode goes with the episode, however that ended."""
    policy = FixedPolicy("fixed", REPLIES)
    agent = Agent(policy, PromptBuilder(None, "plain"), Limits(max_turns=1, max_new_tokens=32))
    await run_episode("same", make_task(), 0, agent, FakeVenue(SITE))
    await run_episode("same", make_task(), 0, agent, FakeVenue(site))
    again = await run_episode("same", make_task(), 0, agent, FakeVenue(SITE))
    assert [turn.completion.text for turn in again.turns] == REPLIES[:1]

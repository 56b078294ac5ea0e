from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fake_endpoint import KEY, FakeEndpoint, failure, reply, serving
from rollouts import fill_slots, player
from tiny import FakeVenue, make_task
from webarena_double import NAME, PASSWORD, Doubles

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import FakePage
from clickgrad.errors import InfraError, UserError, WorldError
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits
from clickgrad.rollout.scheduler import Slot, filled_from
from clickgrad.rollout.webarena_resets import Resets, reset_sites
from clickgrad.rollout.webarena_services import Judge, Magento, read_reply
from clickgrad.tasks.webarena.sites import Account, Hosting
from clickgrad.types import Outcome, Trajectory
from clickgrad.webarena import AnswerRule, Question, StringMatch

pytestmark = pytest.mark.anyio

SAME = Question("fuzzy_match", "4 stars", "four {stars}")
WHY = Question("ua_match", "no such shop", "there is none")


async def test_the_judge_is_asked_with_intent_reference_and_answer() -> None:
    with serving(FakeEndpoint(reply("It is correct."))) as endpoint:
        opinion = await Judge(endpoint.url, "reader", KEY).opinion(SAME, "How good is it?")
    assert (opinion.question, opinion.agrees, opinion.reply) == (SAME, True, "It is correct.")
    (body,) = endpoint.bodies
    text = body["messages"][-1]["content"]
    assert (body["model"], body["temperature"], endpoint.keys) == ("reader", 0, [f"Bearer {KEY}"])
    assert all(part in text for part in ("How good is it?", "4 stars", "four {stars}"))


@pytest.mark.parametrize(
    ("question", "said", "agrees"),
    [
        (SAME, "CORRECT", True),
        (SAME, "Not quite: partially correct.", False),
        (SAME, "The answer is incorrect", False),
        (SAME, "Hard to say", None),
        (WHY, "Same", True),
        (WHY, "not the same but different", False),
        (WHY, "correct", None),
    ],
)
async def test_a_reply_is_read_by_the_words_the_evaluators_look_for(
    question: Question, said: str, agrees: bool | None
) -> None:
    assert read_reply(question, said) is agrees


async def test_a_judge_that_is_busy_is_asked_again_and_a_dead_one_is_a_failure_of_the_machinery() -> None:
    with serving(FakeEndpoint(failure(429, "slow down"), failure(503, "busy"), reply("correct"))) as endpoint:
        assert (await Judge(endpoint.url, "reader", wait_s=0.01).opinion(SAME, "?")).agrees is True
    assert len(endpoint.bodies) == 3
    with serving(FakeEndpoint(failure(500, KEY))) as endpoint:
        judge = Judge(endpoint.url, "reader", KEY, tries=2, wait_s=0.01)
        with pytest.raises(InfraError, match="no opinion in 2 tries: status 500") as dead:
            await judge.opinion(SAME, "?")
    assert KEY not in str(dead.value) + repr(judge)


async def test_a_judge_that_refuses_the_key_is_the_users_mistake() -> None:
    refusing = FakeEndpoint(failure(401, "who are you?"))
    with serving(refusing), pytest.raises(UserError, match=r"answers 401: mend judge\.url"):
        await Judge(refusing.url, "reader", KEY).opinion(SAME, "?")


async def test_an_answer_without_an_opinion_is_a_failure_of_the_machinery() -> None:
    mumbling = FakeEndpoint(failure(200, "not a completion"))
    with serving(mumbling), pytest.raises(InfraError, match="reading the opinion"):
        await Judge(mumbling.url, "reader").opinion(SAME, "?")


async def test_the_shop_is_asked_as_its_administrator() -> None:
    with Doubles().serve() as variables:
        shop = Magento(variables["WA_SHOPPING"], Account(NAME, PASSWORD))
        assert await shop.latest_order_url() == f"{variables['WA_SHOPPING']}/sales/order/view/order_id/190/"
        assert await shop.latest_review("B01") == ("Emma", "80")
        assert await shop.latest_review("B02") == ("", "")
        with pytest.raises(WorldError, match="latest order") as refused:
            await Magento(variables["WA_SHOPPING"], Account(NAME, "wr0ng")).latest_order_url()
    assert "wr0ng" not in str(refused.value)


async def test_a_reset_waits_for_those_inside_and_lets_nobody_in_meanwhile() -> None:
    told: list[str] = []

    async def reset() -> None:
        told.append("reset")

    async def episode(name: str, leave: asyncio.Event) -> None:
        async with resets.episode():
            told.append(f"{name} in")
            await leave.wait()
            told.append(f"{name} out")

    resets, leave = Resets(reset, every=2), [asyncio.Event() for _ in range(3)]
    async with asyncio.TaskGroup() as group:
        for name, event in zip("abc", leave, strict=True):
            group.create_task(episode(name, event))
        for event in (*leave[1:], leave[0]):
            await asyncio.sleep(0.02)
            event.set()
    assert told == ["reset", "a in", "b in", "b out", "a out", "reset", "c in", "c out"]


async def test_without_a_way_to_reset_everybody_is_let_in() -> None:
    resets = Resets(None, every=0)
    async with resets.episode(), resets.episode():
        pass


async def test_a_reset_that_fails_is_due_again() -> None:
    tries = 0

    async def reset() -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise WorldError("no")

    resets = Resets(reset, every=0)
    with pytest.raises(WorldError):
        async with resets.episode():
            pass
    async with resets.episode():
        assert tries == 2


async def test_sites_are_reset_by_a_command_of_the_users(tmp_path: Path) -> None:
    with Doubles().serve() as variables:
        mark = tmp_path / "done"
        command = (sys.executable, "-c", f"open({str(mark)!r}, 'w')")
        await reset_sites(Hosting(reset_command=command), [variables["WA_SHOPPING"]])
        assert mark.exists()
        with pytest.raises(WorldError, match="ended with code 3"):
            await reset_sites(Hosting(reset_command=(sys.executable, "-c", "raise SystemExit(3)")), [])


async def test_sites_are_reset_by_the_reset_server_and_waited_for() -> None:
    doubles = Doubles()
    with doubles.serve() as variables:
        await reset_sites(Hosting(reset_url=variables["WA_SHOPPING"]), [variables["WA_REDDIT"]], status_every_s=0.01)
        with pytest.raises(WorldError, match="answers 404"):
            await reset_sites(Hosting(reset_url=f"{variables['WA_REDDIT']}/none"), [])
    assert doubles.resets == 1


async def test_a_task_that_takes_a_judge_is_not_tried_again_for_want_of_one() -> None:
    task = replace(make_task(), checks=(StringMatch((AnswerRule("fuzzy_match", ("yes",)),)),))
    agent = Agent(
        FixedPolicy("fixed", ['exit(message="yes")']),
        PromptBuilder(None, "plain"),
        Limits(max_turns=2, max_new_tokens=9),
    )
    slots, ended = [Slot("a", task, 0)], list[Trajectory]()
    venue = FakeVenue({"http://toy/": FakePage("Home", ("Welcome",))})
    filled = await fill_slots(slots, player(agent, venue), concurrency=1, retries=3, stored={}, on_end=ended.append)
    assert [trajectory.verdict.outcome for trajectory in filled] == [Outcome.UNJUDGED]
    assert ended == filled == filled_from(slots, {ended[0].episode: ended[0]}, retries=3)

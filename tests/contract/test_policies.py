"""What every policy keeps to, whatever stands behind it. Which ones there are: `engines.ENGINES`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from engines import ENGINES, Case
from tiny import make_task
from vllm_twins import CONTEXT_TOKENS

from clickgrad.agent.grammar import parse
from clickgrad.agent.prompt import PromptBuilder
from clickgrad.errors import PolicyError, TokenLimit
from clickgrad.policy.scripted import ExpertPolicy, FixedPolicy
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import Completion, Element, Exit, Finish, Observation, Prompt, Sampling, Task

pytestmark = pytest.mark.anyio

GREEDY = Sampling(max_new_tokens=8, temperature=0.0)


@pytest.fixture(scope="module", params=list(ENGINES))
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    """Shared: some take long to start. Whoever closes it takes a `fresh` one."""
    with ENGINES[request.param]() as opened:
        yield opened
        opened.policy.close()


@pytest.fixture(params=list(ENGINES))
def fresh(request: pytest.FixtureRequest) -> Iterator[Case]:
    with ENGINES[request.param]() as opened:
        yield opened
        opened.policy.close()


@pytest.fixture
def sampler(case: Case) -> Case:
    if case.tokenizer is None:
        pytest.skip("answers in text")
    return case


def orders_task() -> Task:
    return next(task for task in load_tasks("pocket", "test") if task.template == "shop.order_history")


def page(*last: str) -> Observation:
    lines = ("link Order 1 [0]", "January 5, 2025, Delivered, $1.00", *last)
    return Observation("http://shop.localhost/orders", "My Orders", lines, (Element(0, "link", "Order 1"),))


def ask(case: Case, episode: str, *last: str, history: Sequence[Completion] = ()) -> Prompt:
    builder = PromptBuilder(case.tokenizer, "plain", "short", page_tokens=100_000)
    return builder.prompt(episode, orders_task(), history, page(*last))


async def said_wildly(case: Case, times: int = 40) -> list[Completion]:
    wild = [Sampling(24, temperature=case.unusual, seed=seed) for seed in range(times)]
    return await asyncio.gather(*(case.policy.complete(ask(case, f"wild-{one.seed}"), one) for one in wild))


async def test_it_has_a_name_and_a_version(case: Case) -> None:
    assert case.policy.name == case.name
    assert case.policy.version == 0


async def test_it_answers_again_and_again_in_the_same_episode(case: Case) -> None:
    said: list[Completion] = []
    for turn in range(3):
        completion = await case.policy.complete(ask(case, "again", f"turn {turn}", history=said), GREEDY)
        assert len(completion.ids) == len(completion.logprobs) <= 8
        assert all(logprob <= 0 for logprob in completion.logprobs)
        assert completion.finish in Finish
        assert completion.policy_version == case.policy.version
        said.append(completion)
    case.policy.forget("again")


async def test_episodes_do_not_hear_each_other(case: Case) -> None:
    first = await case.policy.complete(ask(case, "a"), GREEDY)
    await case.policy.complete(ask(case, "b"), GREEDY)
    case.policy.forget("a")
    case.policy.forget("never seen")
    assert (await case.policy.complete(ask(case, "a"), GREEDY)).text == first.text
    for episode in "ab":
        case.policy.forget(episode)


async def test_replies_asked_for_at_once_are_those_asked_for_one_by_one(case: Case) -> None:
    prompts = [ask(case, f"episode-{number}", f"Total {number} of {number * 37} dollars") for number in range(12)]
    alone = []
    for prompt in prompts:
        alone.append((await case.policy.complete(prompt, GREEDY)).text)
        case.policy.forget(prompt.episode)
    together = await asyncio.gather(*(case.policy.complete(prompt, GREEDY) for prompt in prompts))
    assert [completion.text for completion in together] == alone
    for prompt in prompts:
        case.policy.forget(prompt.episode)


async def test_a_neighbour_that_leaves_disturbs_nobody(case: Case) -> None:
    """The fake endpoint never answers a page that says hang; an engine of ours has two hundred tokens to sample."""
    kept = ask(case, "kept", "Total 7 dollars")
    alone = await case.policy.complete(kept, GREEDY)
    case.policy.forget("kept")
    slow = Sampling(200, temperature=1.0, seed=1)
    doomed = [asyncio.create_task(case.policy.complete(ask(case, f"doomed-{n}", "hang"), slow)) for n in range(3)]
    beside = asyncio.create_task(case.policy.complete(kept, GREEDY))
    await asyncio.sleep(0.01)
    for task in doomed:
        task.cancel()
    assert (await beside).text == alone.text
    await asyncio.wait(doomed, timeout=60)
    assert all(task.done() for task in doomed)
    assert (await case.policy.complete(ask(case, "after", "Total 7 dollars"), GREEDY)).text == alone.text


async def test_a_prompt_that_does_not_fit_is_a_token_limit_with_its_reason(case: Case) -> None:
    if not case.has_context:
        pytest.skip("knows no bound")
    words = "word " * (2 * CONTEXT_TOKENS)
    with pytest.raises(TokenLimit, match=rf"tokens.*{CONTEXT_TOKENS}"):
        await case.policy.complete(ask(case, "long", words), GREEDY)
    assert (await case.policy.complete(ask(case, "short"), GREEDY)).finish in Finish


async def test_the_text_is_what_the_ids_say(sampler: Case) -> None:
    assert sampler.tokenizer
    for completion in await said_wildly(sampler):
        stopped = completion.finish is Finish.STOP
        body = completion.ids[:-1] if stopped else completion.ids
        assert completion.text == sampler.tokenizer.decode(body)
        assert stopped == (completion.ids[-1] in sampler.tokenizer.end_ids)
        assert not set(body) & set(sampler.tokenizer.end_ids)
        assert stopped or len(completion.ids) == 24
        assert len(completion.logprobs) == len(completion.ids)


async def test_half_a_character_is_shown_as_a_mark_and_kept_as_it_was_sampled(sampler: Case) -> None:
    assert sampler.tokenizer
    halves = [said for said in await said_wildly(sampler) if "\N{REPLACEMENT CHARACTER}" in said.text]
    assert halves, "at this temperature some replies should end or break off within a character"
    for said in halves:
        said.text.encode("utf-8")
        assert tuple(sampler.tokenizer.encode(said.text)) != said.ids
        ids = ask(sampler, "next", history=[said]).ids
        assert any(ids[at : at + len(said.ids)] == said.ids for at in range(len(ids)))


async def test_a_reply_without_an_end_token_is_cut_at_the_limit(sampler: Case) -> None:
    completion = await sampler.policy.complete(ask(sampler, "cut"), Sampling(1, temperature=0.0))
    assert (completion.finish, len(completion.ids)) == (Finish.LENGTH, 1)


async def test_after_closing_it_says_that_it_is_closed(fresh: Case) -> None:
    await fresh.policy.complete(ask(fresh, "before"), GREEDY)
    fresh.policy.close()
    fresh.policy.close()
    fresh.policy.forget("before")
    assert fresh.policy.name == fresh.name
    with pytest.raises(PolicyError, match="closed"):
        await fresh.policy.complete(ask(fresh, "after"), GREEDY)


async def test_a_lost_expert_gives_up_instead_of_breaking_the_run() -> None:
    nowhere = Observation("http://shop.localhost/", "Empty", (), ())
    prompt = PromptBuilder(None, "plain").prompt("a", orders_task(), (), nowhere)
    action = parse((await ExpertPolicy("plain").complete(prompt, Sampling(8))).text, "plain")
    assert isinstance(action, Exit)
    assert action.message.startswith("lost: no link")


async def test_a_fixed_policy_repeats_its_last_reply() -> None:
    policy = FixedPolicy("fixed", ["one", "two"])
    prompt = PromptBuilder(None, "plain").prompt("a", make_task(), (), page())
    assert [(await policy.complete(prompt, Sampling(8))).text for _ in range(3)] == ["one", "two", "two"]

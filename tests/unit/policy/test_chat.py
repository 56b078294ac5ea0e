"""Hosted models: what is asked, what an endpoint may do instead of answering, and that the key stays secret."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from email.utils import formatdate
from typing import Any

import pytest
from fake_endpoint import KEY, Answer, FakeEndpoint, echo, failure, reply, serving, torn
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from tiny import make_task

from clickgrad.agent.grammar import parse
from clickgrad.agent.prompt import PromptBuilder
from clickgrad.errors import PolicyError, TokenLimit, UserError
from clickgrad.policy.chat import ChatEngine, Endpoint
from clickgrad.types import Finish, Observation, Prompt, Sampling, Unparsable

pytestmark = pytest.mark.anyio

Start = Callable[..., tuple[ChatEngine, FakeEndpoint]]


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as stack:

        def started(*answers: Answer | Response, **options: Any) -> tuple[ChatEngine, FakeEndpoint]:
            fake = stack.enter_context(serving(FakeEndpoint(*answers)))
            engine = ChatEngine(Endpoint(fake.url, "some-model", KEY, first_wait_s=0.01, **options))
            stack.callback(engine.close)
            return engine, fake

        yield started


def ask(text: str = "link Home [0]") -> Prompt:
    page = Observation("http://toy/", "Toy", (text,), ())
    return PromptBuilder(None, "plain", "short").prompt("e", make_task(), (), page)


async def test_the_conversation_and_the_sampling_are_sent_with_the_key(start: Start) -> None:
    engine, fake = start()
    completion = await engine.complete(ask("go_backward()"), Sampling(8, temperature=0.7, seed=2**40 + 3))
    assert (completion.text, completion.ids, completion.finish) == ("go_backward()", (), Finish.STOP)
    assert fake.keys == [f"Bearer {KEY}"]
    (body,) = fake.bodies
    assert body["model"] == "some-model"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (8, 0.7, 3)


async def test_a_reasoning_model_is_told_nothing_about_sampling(start: Start) -> None:
    engine, fake = start(reasoning=True)
    await engine.complete(ask(), Sampling(8))
    assert fake.bodies[0].keys() == {"model", "messages", "max_completion_tokens"}


async def test_refusals_that_pass_are_asked_again_and_counted(start: Start) -> None:
    busy = failure(429, "slow down", headers={"Retry-After": "0"})
    broken = failure(503, "overloaded", headers={"Retry-After": formatdate(time.time(), usegmt=True)})
    engine, fake = start(busy, broken, torn, PlainTextResponse('{"choices": ['), echo)
    assert (await engine.complete(ask("go_backward()"), Sampling(8))).text == "go_backward()"
    assert len(fake.bodies) == 5
    spent = engine.spent
    assert (spent.requests, spent.retries, spent.input_tokens, spent.output_tokens) == (5, 4, 100, 10)
    assert spent.cost(2.5, 10.0) == pytest.approx((100 * 2.5 + 10 * 10.0) / 1e6)
    assert spent.text(2.5, 10.0) == "5 requests (4 repeated), 100 tokens in, 10 tokens out; cost 0.0003"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (failure(500, "our fault"), "status 500: our fault"),
        (HTMLResponse("<h1>Bad gateway</h1>", 502), "status 502: <h1>Bad gateway</h1>"),
        (torn, "the connection broke: RemoteProtocolError"),
        (Response('{"choices": [{"mess', media_type="application/json"), "half an answer: "),
        (Response('data: {"choices": [{"del', media_type="text/event-stream"), "half an answer: "),
        (Response("[]", media_type="application/json"), "not an answer: "),
        (Response('{"choices": []}', media_type="application/json"), "an answer without a reply: "),
    ],
)
async def test_what_stays_broken_is_the_machinerys_failure_and_named(
    start: Start, answer: Answer | Response, reason: str
) -> None:
    engine, fake = start(answer, tries=2)
    with pytest.raises(PolicyError) as caught:
        await engine.complete(ask(), Sampling(8))
    assert str(caught.value).startswith(f"chat:some-model: {reason}")
    assert str(caught.value).endswith("given up after 2 tries")
    assert len(fake.bodies) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (failure(401, f"Incorrect API key provided: {KEY}"), "refuses the key (status 401: Incorrect"),
        (failure(404, "no such model"), "refuses the request (status 404: no such model); see chat.url"),
        (failure(400, "unknown field seed"), "refuses the request (status 400: unknown field seed)"),
        (HTMLResponse("<!doctype html><p>Welcome"), "answers with a web page; is chat.url right?"),
    ],
)
async def test_what_the_user_can_mend_is_said_at_once(start: Start, answer: Response, reason: str) -> None:
    engine, fake = start(answer)
    with pytest.raises(UserError) as caught:
        await engine.complete(ask(), Sampling(8))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(fake.bodies) == 1


@pytest.mark.parametrize(
    "answer",
    [
        failure(400, "too many tokens", "context_length_exceeded"),
        failure(400, "This model's maximum context length is 4096 tokens. However, you requested 5000."),
        failure(400, "the request exceeds the available context size", "exceed_context_size_error"),
    ],
)
async def test_a_prompt_too_long_for_the_endpoint_is_a_token_limit(start: Start, answer: Response) -> None:
    engine, _ = start(answer)
    with pytest.raises(TokenLimit, match="the prompt is too long"):
        await engine.complete(ask(), Sampling(8))


async def test_a_wait_longer_than_our_patience_is_not_begun(start: Start) -> None:
    engine, fake = start(failure(429, "quota", headers={"Retry-After": "3600"}), give_up_s=60)
    with pytest.raises(PolicyError, match=r"status 429: quota; given up after 1 tries"):
        await engine.complete(ask(), Sampling(8))
    assert len(fake.bodies) == 1


async def test_an_endpoint_that_hangs_is_given_up(start: Start) -> None:
    engine, fake = start(timeout_s=0.2, tries=2)
    with pytest.raises(PolicyError, match=r"no answer within .* given up after 2 tries"):
        await engine.complete(ask("hang"), Sampling(8))
    assert len(fake.bodies) == 2


async def test_an_endpoint_that_is_not_there_is_named() -> None:
    engine = ChatEngine(Endpoint("http://127.0.0.1:9/v1", "m", tries=1))
    with pytest.raises(PolicyError, match="the connection broke: ConnectError"):
        await engine.complete(ask(), Sampling(8))
    engine.close()


async def test_no_more_requests_at_once_than_allowed(start: Start) -> None:
    engine, fake = start(concurrency=2)
    await asyncio.gather(*(engine.complete(ask(), Sampling(8)) for _ in range(8)))
    assert (fake.most_at_once, len(fake.bodies)) == (2, 8)


async def test_requests_are_spread_over_the_minute(start: Start) -> None:
    """Six hundred a minute: one every 0.1 s, so the fourth starts no earlier than 0.3 s after the first."""
    engine, _ = start(requests_per_minute=600)
    began = time.monotonic()
    await asyncio.gather(*(engine.complete(ask(), Sampling(8)) for _ in range(4)))
    assert time.monotonic() - began >= 0.3


async def test_whose_turn_would_come_too_late_is_told_why(start: Start) -> None:
    engine, fake = start(requests_per_minute=1, give_up_s=30)
    await engine.complete(ask(), Sampling(8))
    with pytest.raises(PolicyError, match=r"no turn to ask within 30 s; raise chat\.concurrency or"):
        await engine.complete(ask(), Sampling(8))
    assert len(fake.bodies) == 1


@pytest.mark.parametrize("content", ["", None])
async def test_an_empty_reply_is_a_turn_without_an_action(start: Start, content: str | None) -> None:
    engine, _ = start(reply(content))
    completion = await engine.complete(ask(), Sampling(8))
    assert completion.text == ""
    action = parse(completion.text, "plain")
    assert isinstance(action, Unparsable)
    assert action.reason.startswith("the reply is empty")


async def test_a_reply_cut_at_the_limit_says_so(start: Start) -> None:
    engine, _ = start()
    completion = await engine.complete(ask("one two three four"), Sampling(3))
    assert (completion.text, completion.finish) == ("one two three", Finish.LENGTH)


async def test_half_a_character_becomes_a_mark_instead_of_a_crash(start: Start) -> None:
    body = b'{"choices": [{"message": {"content": "cut \\ud83d"}, "finish_reason": "length"}]}'
    engine, _ = start(Response(body, media_type="application/json"))
    completion = await engine.complete(ask(), Sampling(8))
    assert completion.text == "cut ?"
    completion.text.encode()
    assert engine.spent.unmetered == 1


async def test_the_key_is_in_no_error_reply_or_description(start: Start) -> None:
    engine, _ = start(failure(401, f"Incorrect API key provided: {KEY}"))
    with pytest.raises(UserError) as caught:
        await engine.complete(ask(), Sampling(8))
    assert KEY not in str(caught.value)
    assert "[key]" in str(caught.value)
    parrot, _ = start(reply(f"my key is {KEY}"))
    assert (await parrot.complete(ask(), Sampling(8))).text == "my key is [key]"
    assert KEY not in repr(Endpoint("http://h/v1", "m", KEY))


@pytest.mark.parametrize("url", ["https://user:secret@host/v1", "https://host/v1?key=secret"])
def test_an_address_that_carries_a_key_is_refused(url: str) -> None:
    with pytest.raises(UserError, match="must not carry a key") as caught:
        Endpoint(url, "m")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["api.openai.com", "ftp://host/v1", "http://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UserError, match="is no address"):
        Endpoint(url, "m")


async def test_a_cancelled_request_is_dropped_at_the_endpoint_too(start: Start) -> None:
    engine, fake = start()
    doomed = asyncio.create_task(engine.complete(ask("hang"), Sampling(8)))
    assert await asyncio.to_thread(fake.hanging.wait, 20)
    doomed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await doomed
    assert await asyncio.to_thread(fake.gone.wait, 20)


async def test_closing_ends_a_request_under_way(start: Start) -> None:
    engine, fake = start()
    waiting = asyncio.create_task(engine.complete(ask("hang"), Sampling(8)))
    assert await asyncio.to_thread(fake.hanging.wait, 20)
    await asyncio.to_thread(engine.close)
    with pytest.raises(PolicyError, match="closed"):
        await waiting

"""What every policy keeps to, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tiny import make_task, tiny_model, tiny_tokenizer

from clickgrad.agent.grammar import parse
from clickgrad.agent.prompt import PromptBuilder
from clickgrad.policy.protocol import Policy
from clickgrad.policy.scripted import ExpertPolicy, FixedPolicy, noop_policy
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import Element, Exit, Finish, Observation, Prompt, Sampling, Task

pytestmark = pytest.mark.anyio

PAGE = Observation(
    "http://shop.localhost/orders",
    "My Orders",
    ("link Order 1 [0]", "January 5, 2025, Delivered, $1.00"),
    (Element(0, "link", "Order 1"),),
)
Make = tuple[Policy, Callable[[str, Task], Prompt]]


def orders_task() -> Task:
    return next(task for task in load_tasks("pocket", "test") if task.template == "shop.order_history")


@pytest.fixture(params=["expert", "noop", "fixed", "torch"])
def made(request: pytest.FixtureRequest) -> Iterator[Make]:
    tokenizer = tiny_tokenizer(["some text"]) if request.param == "torch" else None
    builder = PromptBuilder(tokenizer, "plain", "short")
    policy: Policy
    match request.param:
        case "expert":
            policy = ExpertPolicy("plain")
        case "noop":
            policy = noop_policy("plain")
        case "fixed":
            policy = FixedPolicy("fixed", ["go_backward()", 'exit(message="x")'])
        case _:
            assert tokenizer
            policy = TorchEngine(tiny_model(tokenizer))
    yield policy, lambda episode, task: builder.prompt(episode, task, (), PAGE)
    policy.close()


async def test_a_completion_is_well_formed(made: Make) -> None:
    policy, ask = made
    completion = await policy.complete(ask("a", orders_task()), Sampling(max_new_tokens=8))
    assert len(completion.ids) == len(completion.logprobs) <= 8
    assert completion.policy_version == policy.version
    assert completion.finish in (Finish.STOP, Finish.LENGTH)
    assert all(logprob <= 0 for logprob in completion.logprobs)


async def test_episodes_do_not_hear_each_other(made: Make) -> None:
    policy, ask = made
    first = await policy.complete(ask("a", orders_task()), Sampling(8, seed=1))
    await policy.complete(ask("b", orders_task()), Sampling(8, seed=2))
    policy.forget("a")
    policy.forget("never seen")
    assert (await policy.complete(ask("a", orders_task()), Sampling(8, seed=1))).text == first.text


async def test_closing_twice_is_fine(made: Make) -> None:
    policy, _ = made
    policy.close()
    policy.close()
    assert policy.name


async def test_a_lost_expert_gives_up_instead_of_breaking_the_run() -> None:
    nowhere = Observation("http://shop.localhost/", "Empty", (), ())
    prompt = PromptBuilder(None, "plain").prompt("a", orders_task(), (), nowhere)
    action = parse((await ExpertPolicy("plain").complete(prompt, Sampling(8))).text, "plain")
    assert isinstance(action, Exit)
    assert action.message.startswith("lost: no link")


async def test_a_fixed_policy_repeats_its_last_reply() -> None:
    policy = FixedPolicy("fixed", ["one", "two"])
    prompt = PromptBuilder(None, "plain").prompt("a", make_task(), (), PAGE)
    assert [(await policy.complete(prompt, Sampling(8))).text for _ in range(3)] == ["one", "two", "two"]

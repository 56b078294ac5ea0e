"""Every policy there is, opened small, for the suite that all of them pass.

To add one: write an opener that yields a `Case`, and name it in ENGINES. One that needs what is not installed calls
`pytest.importorskip` before it yields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from fake_endpoint import KEY, FakeEndpoint, echo, failure, serving
from starlette.responses import Response
from tiny import tiny_model, tiny_tokenizer
from vllm_twins import CONTEXT_TOKENS, shared_server

from clickgrad.policy.chat import ChatEngine, Endpoint
from clickgrad.policy.models import ChatTokenizer
from clickgrad.policy.protocol import Policy
from clickgrad.policy.scripted import ExpertPolicy, FixedPolicy, noop_policy
from clickgrad.policy.torch_engine import TorchEngine
from clickgrad.policy.vllm_engine import VllmEngine


@dataclass(frozen=True, slots=True)
class Case:
    policy: Policy
    name: str
    tokenizer: ChatTokenizer | None = None  # of a policy that reads and samples ids
    has_context: bool = False  # refuses a prompt of more than CONTEXT_TOKENS
    unusual: float = (
        3.0  # a temperature at which a small model says anything, its end and halves of characters included
    )


@contextmanager
def open_expert() -> Iterator[Case]:
    yield Case(ExpertPolicy("plain"), "scripted:expert")


@contextmanager
def open_noop() -> Iterator[Case]:
    yield Case(noop_policy("plain"), "scripted:noop")


@contextmanager
def open_fixed() -> Iterator[Case]:
    yield Case(FixedPolicy("fixed", ["go_backward()", 'exit(message="x")']), "fixed")


@contextmanager
def open_torch() -> Iterator[Case]:
    tokenizer = tiny_tokenizer(["some text"])
    yield Case(TorchEngine(tiny_model(tokenizer, CONTEXT_TOKENS)), "torch:tiny", tokenizer, has_context=True)


@contextmanager
def open_chat() -> Iterator[Case]:
    with serving(FakeEndpoint(_within_context)) as endpoint:
        yield Case(ChatEngine(Endpoint(endpoint.url, "fake", KEY)), "chat:fake", has_context=True)


@contextmanager
def open_vllm() -> Iterator[Case]:
    engine = VllmEngine([shared_server().url])
    yield Case(engine, engine.name, engine.tokenizer, has_context=True, unusual=2.0)  # the most that vLLM takes


def _within_context(body: dict[str, Any]) -> Response:
    words = sum(len(message["content"].split()) for message in body["messages"])
    if words > CONTEXT_TOKENS:
        return failure(400, f"{words} tokens are more than {CONTEXT_TOKENS}", "context_length_exceeded")
    return echo(body)


ENGINES: dict[str, Callable[[], AbstractContextManager[Case]]] = {
    "expert": open_expert,
    "noop": open_noop,
    "fixed": open_fixed,
    "torch": open_torch,
    "chat": open_chat,
    "vllm": open_vllm,
}

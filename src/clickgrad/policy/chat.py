"""The engine for hosted models: any endpoint that speaks OpenAI's /chat/completions, for prompting and explaining.

Text in, text out: no token ids and no logprobs, so nothing can be trained on what it says. The connection lives on a
thread of its own, so that it can be kept across event loops and closed without one. Answers are asked for whole, never
streamed: half an answer then is a broken transfer, and a broken transfer is asked again.

The key is sent and nowhere else: what an endpoint says back is cleared of it before anyone reads it.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from clickgrad.errors import PolicyError, TokenLimit, UserError
from clickgrad.policy.engine_thread import EngineThread
from clickgrad.policy.spending import Spent
from clickgrad.types import Completion, Finish, Prompt, Sampling

LONGEST_WAIT_S = 30.0
SHORTEST_KEY = 12
SHOWN = 200  # characters of what an endpoint said
# By code where there is one; vLLM has only the sentence.
TOO_LONG = ("context_length_exceeded", "exceed_context_size_error", "maximum context length")


@dataclass(frozen=True, slots=True)
class Endpoint:
    url: str  # up to and without /chat/completions
    model: str
    key: str = field(default="", repr=False)
    reasoning: bool = False  # as o3 and its like: max_completion_tokens, and no say in how it samples
    concurrency: int = 8
    requests_per_minute: int = 0  # 0 is no limit
    timeout_s: float = 120.0  # of one request
    tries: int = 6
    give_up_s: float = 300.0  # all tries and waits of one reply together
    first_wait_s: float = 0.5  # before asking again; the next ones are longer

    def __post_init__(self) -> None:
        place = urlsplit(self.url)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise UserError(f"chat.url {self.url!r} is no address: give one such as https://api.openai.com/v1")
        if place.username or place.password or place.query:
            raise UserError("chat.url must not carry a key: put it into the environment as OPENAI_API_KEY")


class _Passing(Exception):
    """What may be better the next time; `wait_s` is how long the endpoint asked us to wait."""

    def __init__(self, what: str, wait_s: float | None = None) -> None:
        super().__init__(what)
        self.wait_s = wait_s


class ChatEngine:
    version = 0

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = f"chat:{endpoint.model}"
        self.spent = Spent()
        self._endpoint = endpoint
        self._gate = asyncio.Semaphore(endpoint.concurrency)
        self._next_start = 0.0
        self._client: httpx.AsyncClient | None = None
        self._thread = EngineThread("chat engine")

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        return await self._thread.run(self._reply, prompt, sampling)

    def forget(self, episode: str) -> None:
        """Nothing is kept: every request carries the whole conversation."""

    def close(self) -> None:
        self._thread.close(self._hang_up)

    # --- the engine's thread ---

    async def _hang_up(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _reply(self, prompt: Prompt, sampling: Sampling) -> Completion:
        """Ask until there is an answer, or until tries or time are used up."""
        endpoint, deadline = self._endpoint, time.monotonic() + self._endpoint.give_up_s
        async with self._gate:
            for tried in range(1, endpoint.tries + 1):
                try:
                    return self._completion(await self._ask(self._body(prompt, sampling), deadline))
                except _Passing as error:
                    wait_s = _backoff(endpoint.first_wait_s, tried) if error.wait_s is None else error.wait_s
                    if tried == endpoint.tries or time.monotonic() + wait_s > deadline:
                        raise PolicyError(f"{self.name}: {error}; given up after {tried} tries") from None
                    self.spent.retries += 1
                    await asyncio.sleep(wait_s)
        raise AssertionError("unreachable: the last try returns or raises")

    async def _ask(self, body: dict[str, Any], deadline: float) -> dict[str, Any]:
        await self._take_turn(deadline)
        client = self._client = self._client or self._connect()
        self.spent.requests += 1
        patience_s = min(self._endpoint.timeout_s, max(0.0, deadline - time.monotonic()))
        try:
            async with asyncio.timeout(patience_s):  # of the whole exchange: an endpoint may also trickle
                response = await client.post(f"{self._endpoint.url.rstrip('/')}/chat/completions", json=body)
        except TimeoutError:
            raise _Passing(f"no answer within {patience_s:.0f} s") from None
        except httpx.HTTPError as error:
            raise _Passing(self._clear(f"the connection broke: {type(error).__name__}: {error}")) from None
        return self._read(response)

    def _connect(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            headers={"Authorization": f"Bearer {self._endpoint.key}"} if self._endpoint.key else {},
            limits=httpx.Limits(max_connections=self._endpoint.concurrency),
            timeout=None,
        )

    async def _take_turn(self, deadline: float) -> None:
        """Requests start evenly spread over the minute."""
        now = time.monotonic()
        start = max(now, self._next_start)
        if start >= deadline:
            raise PolicyError(
                f"{self.name}: no turn to ask within {self._endpoint.give_up_s:.0f} s; raise chat.concurrency or "
                "chat.requests_per_minute, or lower rollout.concurrency"
            )
        if self._endpoint.requests_per_minute:
            self._next_start = start + 60 / self._endpoint.requests_per_minute
        await asyncio.sleep(start - now)

    def _body(self, prompt: Prompt, sampling: Sampling) -> dict[str, Any]:
        messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
        body = {"model": self._endpoint.model, "messages": messages}
        if self._endpoint.reasoning:
            return body | {"max_completion_tokens": sampling.max_new_tokens}
        return body | {
            "max_tokens": sampling.max_new_tokens,
            "temperature": sampling.temperature,
            "seed": sampling.seed % 2**31,  # more than some endpoints can hold
        }

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        """The answer, or by its status whose fault it is that there is none."""
        status, said = response.status_code, self._clear(response.text)
        what = f"status {status}: {_message(said)}"
        if status in (401, 403):
            raise UserError(f"{self.name}: the endpoint refuses the key ({what}); set OPENAI_API_KEY")
        if status in (408, 409, 425, 429) or status >= 500:
            raise _Passing(what, _retry_after(response))
        if status in (400, 413, 422) and any(sign in said for sign in TOO_LONG):
            raise TokenLimit(f"{self.name}: the endpoint says the prompt is too long ({what})")
        if status != 200:
            raise UserError(
                f"{self.name}: the endpoint refuses the request ({what}); see chat.url and the model's name"
            )
        if "html" in response.headers.get("content-type", "") or said.lstrip()[:1] == "<":
            raise UserError(f"{self.name}: {self._endpoint.url} answers with a web page; is chat.url right?")
        try:
            answer = json.loads(said)
        except ValueError:
            raise _Passing(f"half an answer: {said[-SHOWN:]!r}") from None
        if not isinstance(answer, dict):
            raise _Passing(f"not an answer: {said[:SHOWN]!r}")
        return answer

    def _completion(self, answer: dict[str, Any]) -> Completion:
        match answer:
            case {"choices": [{"message": {"content": str() | None as content}, **choice}, *_]}:
                self.spent.count(answer.get("usage"))
                finish = Finish.LENGTH if choice.get("finish_reason") == "length" else Finish.STOP
                return Completion(_printable(content or ""), (), (), finish, self.version)
        raise _Passing(f"an answer without a reply: {json.dumps(answer)[:SHOWN]}")

    def _clear(self, text: str) -> str:
        """Without the key. A word that stands in for one where none is needed, such as EMPTY, is no secret."""
        key = self._endpoint.key
        return text.replace(key, "[key]") if len(key) >= SHORTEST_KEY else text


def _backoff(first_s: float, tried: int) -> float:
    """Doubling, with chance in it, so that those who were refused together do not come back together."""
    return min(LONGEST_WAIT_S, first_s * 2.0 ** (tried - 1)) * random.uniform(0.5, 1.0)


def _retry_after(response: httpx.Response) -> float | None:
    """In seconds or as a date; nonsense counts as not said."""
    said = str(response.headers.get("retry-after", ""))
    with suppress(ValueError):
        return max(0.0, float(said))
    with suppress(ValueError):
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    return None


def _message(said: str) -> str:
    """What an error's body says, in one line: {"error": {"message": ...}}, {"message": ...}, or whatever it is."""
    with suppress(ValueError):
        match json.loads(said):
            case {"error": {"message": str(message)}} | {"message": str(message)} | {"error": str(message)}:
                said = message
    return " ".join(said.split())[:SHOWN]


def _printable(text: str) -> str:
    """JSON can hold half of a surrogate pair, which no file can."""
    return text.encode("utf-8", "replace").decode("utf-8")

"""One vLLM server over HTTP: what it is asked, and what counts as an answer. Knows neither episodes nor other servers.

Made for vLLM 0.32: `/inference/v1/generate` takes token ids and says with which weights each token was drawn; new
weights go in through the endpoints of its development mode.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError

from clickgrad.errors import PolicyError, UserError
from clickgrad.policy.vllm_channel import Weight
from clickgrad.types import Finish, Sampling

CONNECT_TIMEOUT_S = 10.0
REPLY_TIMEOUT_S = 900.0  # a backstop: whoever asks has a deadline of its own
PUSH_TIMEOUT_S = 600.0
SHOWN = 200  # characters of what a server said
UNLIKELY = -9998.0  # vLLM writes minus infinity as -9999
START_OPTIONS = "--enable-scale-out --logprobs-mode processed_logprobs"


class ServerDown(PolicyError):
    """This server cannot answer; another one may."""


@dataclass(frozen=True, slots=True)
class Served:
    model: str  # the name requests give
    root: str  # the folder or hub id behind it
    context_tokens: int


@dataclass(frozen=True, slots=True)
class Answer:
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish: Finish
    labels: tuple[str, ...]  # of the weights that drew the tokens, in order
    prompt_tokens: int
    cached_tokens: int


class VllmClient:
    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.url = url.rstrip("/")
        self.paused = False  # by us
        self._http = http

    async def served(self) -> Served:
        plain = await self._send("GET", "/v1/models")
        match plain:
            case {"data": [{"id": str(model), "root": str(root), "max_model_len": int(context)}, *_]}:
                return Served(model, root, context)
        raise ServerDown(f"{self.url} names no model: {str(plain)[:SHOWN]}")

    async def refuse_raw_logprobs(self, model: str) -> None:
        """Logprobs must be those of the sampling temperature: the likeliest token's rise as it falls."""
        plain, cold = [await self._top_logprob(model, temperature) for temperature in (0.0, 0.5)]
        if abs(plain - cold) < 1e-6 and plain < -1e-3:
            raise UserError(f"{self.url} ignores the temperature in its logprobs: start it with {START_OPTIONS}")

    async def generate(self, model: str, ids: Sequence[int], sampling: Sampling, end_ids: Sequence[int]) -> Answer:
        wanted = {
            "max_tokens": sampling.max_new_tokens,
            "temperature": sampling.temperature,
            "seed": sampling.seed,
            "logprobs": 0,  # of the sampled token alone
            "stop_token_ids": list(end_ids),
            "ignore_eos": True,  # what ends a reply is ours to say, not the generation settings'
            "detokenize": False,
        }
        answer = _read(self.url, await self._generate(model, ids, wanted))
        ended = answer.ids[-1] in end_ids
        if (answer.finish is Finish.STOP) != ended or (not ended and len(answer.ids) != sampling.max_new_tokens):
            raise ServerDown(f"{self.url} ended a reply where it should not: {answer.finish}, {answer.ids[-3:]}")
        return answer

    # --- new weights ---

    async def renew(self, load: Callable[[], Awaitable[None]], version: int) -> None:
        """Hold everything, `load`, forget what the old weights computed, label the new ones, go on.

        The server goes on after a failure as well: who waits for it must not wait for ever. Requests under way go on
        under the new weights, their keys and values computed anew.
        """
        self.paused = True  # even if there is no answer: the server may have heard
        try:
            await self._send("POST", "/pause", query={"mode": "keep"})
            await load()
            reset = await self._send("POST", "/reset_prefix_cache", query={"reset_running_requests": "true"})
            if reset != {"success": True}:
                raise ServerDown(f"{self.url} kept what the old weights computed: {reset}")
            await self._send("POST", "/update_weight_version", {"new_version": str(version)})
        except (PolicyError, UserError) as error:
            try:
                await self.resume()
            except (PolicyError, UserError) as second:
                raise ServerDown(f"{error}; and it may still be paused: {second}") from error
            raise
        await self.resume()

    async def resume(self) -> None:
        await self._send("POST", "/resume")
        self.paused = False

    async def load_weights(self, folder: Path) -> None:
        """From a transformers folder that the server can read (`vllm_worker`), into the weights in place."""
        body = {"method": "reload_from", "kwargs": {"folder": str(folder)}}
        await self._send("POST", "/collective_rpc", body, timeout_s=PUSH_TIMEOUT_S)

    async def join(self, joining: dict[str, Any]) -> None:
        """The other end of a channel, which waits for it meanwhile."""
        await self._send("POST", "/init_weight_transfer_engine", {"init_info": joining}, timeout_s=PUSH_TIMEOUT_S)

    async def receive(self, weights: Sequence[Weight], begun: Callable[[], None]) -> None:
        """Through the channel, all of them in this order; `begun` is told when they may be sent."""
        await self._send("POST", "/start_weight_update")
        shapes = [list(one.shape) for one in weights]
        told = {
            "names": [one.name for one in weights],
            "dtype_names": [one.dtype for one in weights],
            "shapes": shapes,
        }
        begun()
        await self._send("POST", "/update_weights", {"update_info": told}, timeout_s=PUSH_TIMEOUT_S)
        await self._send("POST", "/finish_weight_update", timeout_s=PUSH_TIMEOUT_S)

    async def load_adapter(self, name: str, folder: Path) -> None:
        body = {"lora_name": name, "lora_path": str(folder)}
        await self._send("POST", "/v1/load_lora_adapter", body, timeout_s=PUSH_TIMEOUT_S)

    async def unload_adapter(self, name: str) -> None:
        await self._send("POST", "/v1/unload_lora_adapter", {"lora_name": name})

    # --- memory ---

    async def sleep(self) -> None:
        """Weights go to the host's memory, the cache is dropped: the GPU is free for others."""
        await self._send("POST", "/sleep", query={"level": "1"}, timeout_s=PUSH_TIMEOUT_S)

    async def wake_up(self) -> None:
        await self._send("POST", "/wake_up", timeout_s=PUSH_TIMEOUT_S)

    # --- HTTP ---

    async def _top_logprob(self, model: str, temperature: float) -> float:
        wanted = {"max_tokens": 1, "temperature": temperature, "logprobs": 2, "detokenize": False}
        match await self._generate(model, [0], wanted):
            case {"choices": [{"logprobs": {"content": [{"top_logprobs": [*top]}]}}]}:
                return max(float(entry["logprob"]) for entry in top)
            case other:
                raise ServerDown(f"{self.url} gives no logprobs: {str(other)[:SHOWN]}")

    async def _generate(self, model: str, ids: Sequence[int], wanted: dict[str, Any]) -> Any:
        body = {"model": model, "token_ids": list(ids), "sampling_params": wanted}
        return await self._send("POST", "/inference/v1/generate", body, timeout_s=REPLY_TIMEOUT_S)

    async def _send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        query: dict[str, str] | None = None,
        timeout_s: float = 60.0,
    ) -> Any:
        timeout = httpx.Timeout(timeout_s, connect=CONNECT_TIMEOUT_S, pool=None)
        try:
            response = await self._http.request(method, self.url + path, json=body, params=query, timeout=timeout)
        except httpx.HTTPError as error:
            raise ServerDown(f"{self.url}{path}: {type(error).__name__}: {error}".removesuffix(": ")) from error
        if response.status_code != 200:
            raise _refusal(f"{self.url}{path}", response)
        if path.endswith(("_lora_adapter", "/sleep", "/wake_up")):
            return response.text  # a sentence, or nothing
        try:
            return response.json()
        except ValueError:
            raise ServerDown(f"{self.url}{path} answers no JSON: {response.text[:SHOWN]!r}") from None


def _refusal(where: str, response: httpx.Response) -> UserError | PolicyError:
    """By its status whose fault it is."""
    status, said = response.status_code, response.text
    try:
        match response.json():
            case {"error": {"message": str(message)}}:
                said = message
    except ValueError:
        pass
    what = f"{where}: status {status}: {' '.join(said.split())[:SHOWN]}"
    if status in (401, 403):
        return UserError(f"{what}; a server for clickgrad is started with {START_OPTIONS}, its key is in VLLM_API_KEY")
    # 404: a model or an endpoint that this server does not have, and another one may.
    return ServerDown(what) if status in (404, 408, 429) or status >= 500 else PolicyError(what)


# --- what an answer looks like ---


class _Token(BaseModel):
    token_id: int
    logprob: float


class _Logprobs(BaseModel):
    content: list[_Token]


class _Span(BaseModel):
    version: str


class _Choice(BaseModel):
    token_ids: list[int]
    logprobs: _Logprobs
    finish_reason: Finish  # "abort" and "error" are no answers
    weight_versions: list[_Span] | None = None


class _Details(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int
    prompt_tokens_details: _Details | None = None


class _Generated(BaseModel):
    choices: list[_Choice]
    usage: _Usage


def _read(url: str, plain: Any) -> Answer:
    try:
        generated = _Generated.model_validate(plain)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ServerDown(f"{url} gave no proper answer: {where}: {first['msg']}") from None
    if len(generated.choices) != 1:
        raise ServerDown(f"{url} gave {len(generated.choices)} answers instead of one")
    choice, usage = generated.choices[0], generated.usage
    tokens = choice.logprobs.content
    if not tokens or [token.token_id for token in tokens] != choice.token_ids:
        raise ServerDown(f"{url} gave logprobs of other tokens than it sampled")
    if not all(UNLIKELY < token.logprob < 1e-3 for token in tokens):  # false for NaN too
        raise ServerDown(f"{url} gave logprobs that are none: {[token.logprob for token in tokens][:4]}")
    return Answer(
        ids=tuple(choice.token_ids),
        logprobs=tuple(min(0.0, token.logprob) for token in tokens),
        finish=choice.finish_reason,
        labels=tuple(span.version for span in choice.weight_versions or ()),
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=(usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens) or 0,
    )

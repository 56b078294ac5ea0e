"""The in-process engine: any transformers causal LM, token ids in, sampled ids and their logprobs out.

Two threads use the model while requests are live: one reads prompts, the other draws the next token of all that were
read. Side by side they keep the cores busier than one after the other, above all where a browser wants its share. A
request joins the running batch at the next token; prompts that begin alike share the computed beginning
(`kv.PrefixStore`), so a group pays for its first page once.

A request that cannot be served fails alone. When a thread ends, whatever the reason, all that wait are told at once.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import isfinite, log
from typing import Any

import torch

from clickgrad.errors import PolicyError, boundary
from clickgrad.policy.device import device_of, on_device_of
from clickgrad.policy.kv import Layers, PrefillCache, PrefixStore, RowCache
from clickgrad.policy.models import LoadedModel
from clickgrad.policy.packed import PackedLinears
from clickgrad.policy.protocol import refuse_too_long
from clickgrad.types import Completion, Finish, Prompt, Sampling

CLOSE_TIMEOUT_S = 30.0
SWAP_TIMEOUT_S = 300.0  # a long prompt may have to be read first

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Request:
    ids: tuple[int, ...]
    sampling: Sampling
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Completion]
    generator: torch.Generator
    sampled: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    drawn_logprobs: list[float] = field(default_factory=list)  # after top_p
    version: int = 0  # of the weights that read its prompt: no token is older
    read: Layers = field(default_factory=list)  # keys and values of its prompt, until it joins the batch

    def settle(self, result: Completion | PolicyError) -> None:
        """Called on a thread of the engine; a future that was cancelled or a loop that is gone wants nothing."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(_settle, self.future, result)


@dataclass(frozen=True, slots=True, eq=False)
class _Swap:
    change: Callable[[], None]
    version: int
    done: Future[None] = field(default_factory=Future)

    def settle(self, error: PolicyError | None = None) -> None:
        if self.done.done():
            return
        if error is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(error)


class _Wake:
    """Put among the arrivals to end an idle engine's waiting."""


def _settle(future: asyncio.Future[Completion], result: Completion | PolicyError) -> None:
    if future.done():
        return
    if isinstance(result, PolicyError):
        future.set_exception(result)
    else:
        future.set_result(result)


class TorchEngine:
    def __init__(
        self,
        loaded: LoadedModel,
        *,
        name: str | None = None,
        max_rows: int = 16,
        cache_tokens: int = 32_768,
        threads: int = 0,
        int8: bool = False,
    ) -> None:
        """`threads` of torch for sampling alone, when others compute beside it; 0 leaves them as they are.

        `int8`: sample from rounded weights, faster; the logprobs are then those of the rounded policy.
        """
        self.name = name or f"torch:{loaded.source}"
        self.version = 0
        self._loaded = loaded
        self._max_rows = max_rows
        self._arrivals: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._read: queue.SimpleQueue[Request | _Wake | None] = queue.SimpleQueue()
        self._swaps: queue.SimpleQueue[_Swap] = queue.SimpleQueue()
        self._reading = threading.Lock()  # held while a prompt is read, and while weights change
        self._closing = False
        self._waiting: set[Request | _Swap] = set()  # for the threads to settle
        self._ended: PolicyError | None = None  # why nothing is taken in any more
        self._ending = threading.Lock()  # held by who begins to wait, and while the waiting are told of an end
        self._threads = threads or torch.get_num_threads()
        self._live: list[Request] = []
        self._rows = RowCache()
        self._prefixes = PrefixStore(cache_tokens)
        self._packed = PackedLinears(loaded.model, int8)
        self._read_s = self._draw_s = 0.0
        self._reader = self._start(self._read_prompts, "torch-engine-reader")
        self._thread = self._start(self._serve, "torch-engine")

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        refuse_too_long(prompt, sampling, self._loaded.context_tokens)
        self._refuse_unreadable(prompt, sampling)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Completion] = loop.create_future()
        generator = torch.Generator(device_of(self._loaded.model)).manual_seed(sampling.seed)
        request = Request(prompt.ids, sampling, loop, future, generator)
        with self._wait_for(request):
            self._arrivals.put(request)
            return await future

    def forget(self, episode: str) -> None:
        """Nothing is kept by episode: prefixes age out by use."""

    def swap_weights(self, change: Callable[[], None], version: int) -> None:
        """Let `change` put new weights in place, between two tokens. Requests under way go on with the new ones.

        Each token's logprob is that of the weights it was drawn with; a completion carries the oldest version.
        """
        swap = _Swap(change, version)
        with self._wait_for(swap):
            self._swaps.put(swap)
            self._read.put(_Wake())
            try:
                swap.done.result(SWAP_TIMEOUT_S)
            except TimeoutError:
                raise PolicyError(f"the engine took no new weights within {SWAP_TIMEOUT_S:.0f} s") from None

    @property
    def cache_hit_share(self) -> float:
        """Prompt tokens that did not have to be computed."""
        return self._prefixes.hit_tokens / max(1, self._prefixes.asked_tokens)

    def seconds(self) -> dict[str, float]:
        """Since the last call: reading prompts, and drawing tokens, which often goes on at the same time."""
        spent = {"read_s": self._read_s, "draw_s": self._draw_s}
        self._read_s = self._draw_s = 0.0
        return spent

    def close(self) -> None:
        self._closing = True
        self._arrivals.put(None)
        for thread in (self._reader, self._thread):
            thread.join(CLOSE_TIMEOUT_S)
        self._end(PolicyError("the engine was closed"))
        if not (self._reader.is_alive() or self._thread.is_alive()):
            self._packed.release()

    def _refuse_unreadable(self, prompt: Prompt, sampling: Sampling) -> None:
        """What would fail inside of a batch, with all its neighbours. On a GPU it would be the end of the process."""
        known = self._loaded.model.get_input_embeddings().num_embeddings
        if len(prompt.ids) < 2 or min(prompt.ids) < 0 or max(prompt.ids) >= known:
            raise PolicyError(f"a prompt is two ids or more, all of them below {known}: {prompt.ids[-8:]}")
        if sampling.max_new_tokens < 1:
            raise PolicyError(f"a reply of {sampling.max_new_tokens} tokens cannot be sampled")

    # --- its threads ---

    def _start(self, work: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=self._run, args=(work, name), name=name, daemon=True)
        thread.start()
        return thread

    def _run(self, work: Callable[[], None], name: str) -> None:
        """However the work ends, nobody goes on waiting for it."""
        reason = PolicyError(f"the engine has ended: its thread {name} is gone")
        try:
            with boundary(PolicyError, f"the engine has ended: {name}"):
                with torch.inference_mode(), on_device_of(self._loaded.model):
                    work()
                reason = PolicyError("the engine was closed")
        except PolicyError as error:
            reason = error
        finally:
            if not self._closing:
                logger.error("%s", reason)
            self._end(reason)
            self._arrivals.put(None)  # the other thread ends as well
            self._read.put(None)

    @contextmanager
    def _wait_for(self, what: Request | _Swap) -> Iterator[None]:
        with self._ending:
            if self._ended is not None:
                raise PolicyError(str(self._ended))
            self._waiting.add(what)
        try:
            yield
        finally:
            self._waiting.discard(what)

    def _end(self, reason: PolicyError) -> None:
        """Take in nothing more, and tell all that wait. The first reason stays."""
        with self._ending:
            self._ended = self._ended or reason
            for waiting in self._waiting.copy():
                waiting.settle(self._ended)

    # --- the thread that reads ---

    def _read_prompts(self) -> None:
        while (request := self._arrivals.get()) is not None:
            if request.future.cancelled():
                continue
            if self._closing:
                request.settle(PolicyError("the engine was closed"))
                continue
            started = time.perf_counter()
            self._share_cores(beside=bool(self._live))
            try:
                with self._reading, boundary(PolicyError, "reading the prompt"):
                    self._prefill(request)
            except PolicyError as error:
                request.settle(error)
            else:
                self._read.put(request)
            self._read_s += time.perf_counter() - started

    def _prefill(self, request: Request) -> None:
        """Compute all of the prompt but its last token, which joins the next decode: a known prompt costs nothing."""
        body = request.ids[:-1]
        cache = PrefillCache(self._prefixes.longest(body))
        known = cache.get_seq_length()
        if known < len(body):
            mask = torch.ones(len(body) - known, len(body), dtype=torch.bool).tril(known)[None, None]
            self._forward(torch.tensor([body[known:]]), torch.arange(known, len(body))[None], mask, cache)
            self._prefixes.keep(body, cache.pairs)
        request.read, request.version = cache.pairs, self.version

    def _share_cores(self, beside: bool) -> None:
        """Of this thread's computing from here on: all cores, or half of them while the other thread computes, too."""
        wanted = max(1, self._threads // 2) if beside else self._threads
        if torch.get_num_threads() != wanted:
            torch.set_num_threads(wanted)

    # --- the thread that draws ---

    def _serve(self) -> None:
        while self._admit():
            started = time.perf_counter()
            try:
                with boundary(PolicyError, "sampling"):
                    self._decode()
            except PolicyError as error:
                self._fail_all(error)
            self._draw_s += time.perf_counter() - started

    def _admit(self) -> bool:
        """Take in what has been read, as far as rows allow; wait when there is nothing else to do. False: closed."""
        while True:
            self._apply_swaps()
            if len(self._live) >= self._max_rows and not self._closing:
                return True
            try:
                request = self._read.get(block=self._closing or not self._live)
            except queue.Empty:
                return True
            if request is None:
                self._fail_all(PolicyError("the engine was closed"))
                return False
            if isinstance(request, _Wake) or request.future.cancelled():
                continue
            try:
                with boundary(PolicyError, "making room for the reply"):
                    self._rows.add(request.read, request.sampling.max_new_tokens + 1)
            except PolicyError as error:
                request.settle(error)
            else:
                self._live.append(request)
            request.read = []

    def _apply_swaps(self) -> None:
        while not self._swaps.empty():
            swap = self._swaps.get()
            with self._reading:
                self._prefixes.clear()  # the old weights computed them
                try:
                    with boundary(PolicyError, "putting new weights in place"):
                        swap.change()
                        self._packed.refresh()
                except PolicyError as error:
                    swap.settle(error)
                    continue
                self.version = swap.version
            swap.settle()

    def _fail_all(self, error: PolicyError) -> None:
        for request in self._live:
            request.settle(error)
        self._live.clear()
        self._rows = RowCache()

    def _decode(self) -> None:
        """One more token for every live row."""
        for row in reversed(range(len(self._live))):
            if self._live[row].future.cancelled():
                self._drop(row)
        if not self._live:
            return
        self._share_cores(beside=self._reading.locked())
        newest = torch.tensor([[(request.sampled or request.ids)[-1]] for request in self._live])
        positions = torch.tensor(self._rows.lengths)[:, None]
        logits = self._forward(newest, positions, self._rows.mask(), self._rows)
        self._rows.advance()
        temperatures = torch.tensor([request.sampling.temperature or 1.0 for request in self._live])
        logprobs = torch.log_softmax(logits / temperatures[:, None], -1)
        for row in reversed(range(len(self._live))):
            request = self._live[row]
            reply: Completion | PolicyError | None
            try:
                with boundary(PolicyError, "sampling"):
                    reply = self._next_token(request, logprobs[row])
            except PolicyError as error:
                reply = error
            if reply is not None:
                self._drop(row)
                request.settle(reply)

    def _drop(self, row: int) -> None:
        self._rows.remove(row)
        self._live[row] = self._live[-1]
        self._live.pop()

    def _forward(self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor, cache: Any) -> torch.Tensor:
        """Logits of the last position of every row: [B, vocabulary]."""
        output = self._loaded.model(
            input_ids=ids,
            position_ids=positions,
            attention_mask=mask,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        return output.logits[:, -1].float()  # type: ignore[no-any-return]

    def _next_token(self, request: Request, logprobs: torch.Tensor) -> Completion | None:
        """Draw it; returns the reply when that was the last one."""
        token, share = _draw(logprobs, request)
        logprob = float(logprobs[token])
        if not isfinite(logprob):
            raise PolicyError(
                f"the model gives a token the logprob {logprob}: its weights or its inputs are not finite"
            )
        request.sampled.append(token)
        request.logprobs.append(logprob)
        request.drawn_logprobs.append(logprob - log(share))
        stopped = token in self._loaded.tokenizer.end_ids
        if not stopped and len(request.sampled) < request.sampling.max_new_tokens:
            return None
        text = self._loaded.tokenizer.decode(request.sampled[:-1] if stopped else request.sampled)
        finish = Finish.STOP if stopped else Finish.LENGTH
        drawn = tuple(request.drawn_logprobs) if request.sampling.top_p < 1 and request.sampling.temperature else None
        return Completion(text, tuple(request.sampled), tuple(request.logprobs), finish, request.version, drawn)


def _draw(logprobs: torch.Tensor, request: Request) -> tuple[int, float]:
    """A token of one row, and the probability of all that it was drawn among.

    top_p keeps the fewest tokens whose probabilities reach it.
    """
    sampling = request.sampling
    if sampling.temperature == 0:
        return int(logprobs.argmax()), 1.0
    probabilities, share = logprobs.exp(), 1.0
    if sampling.top_p < 1:
        ordered, order = probabilities.sort(descending=True)
        outside = ordered.cumsum(0) - ordered >= sampling.top_p
        probabilities[order[outside]] = 0
        share = float(probabilities.sum())
    return int(torch.multinomial(probabilities, 1, generator=request.generator)), share

"""The in-process engine: any transformers causal LM, token ids in, sampled ids and their logprobs out.

One thread makes one pass of the model after the other. A pass holds whatever is wanted next, packed as one sequence, so
that the products have many rows: the newest token of every reply under way, guesses at the tokens after it
(`drafts.py`), and prompts, chunk by chunk. A reply's token number i is drawn with the i-th number of its own seed from
the logits of its own context, whoever shares the pass and whatever was guessed. Prompts that begin alike share the
computed beginning (`kv.PrefixStore`), so a group pays for its first page once.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite

import numpy as np
import torch

from clickgrad.errors import PolicyError, boundary
from clickgrad.policy.device import give_back_memory, give_back_threads, on_device_of
from clickgrad.policy.drafts import Drafter, Page
from clickgrad.policy.draws import choose
from clickgrad.policy.kv import PassAttention, PrefixStore, Rows, Segment, shared_length
from clickgrad.policy.models import LoadedModel
from clickgrad.policy.packed import PackedLinears, Packing
from clickgrad.policy.protocol import refuse_too_long
from clickgrad.types import Completion, Finish, Prompt, Sampling

logger = logging.getLogger(__name__)
CLOSE_TIMEOUT_S = 30.0
SWAP_TIMEOUT_S = 300.0
PASS_TOKENS = 320  # products are at their best from about thirty rows on, all else costs less the more there are
DRAFT_TOKENS = 64  # of a pass, so that prompts are read on
WORTH_WAITING = 16  # tokens that a prompt which is being read will save another one


@dataclass(slots=True, eq=False)
class Request:
    prompt: tuple[int, ...]
    sampling: Sampling
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Completion]
    page: Page
    rng: random.Random
    lots: list[float] = field(default_factory=list)  # one a token of the reply, uniform in [0, 1), as far as needed
    sampled: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    version: int = 0  # of the weights that began to read its prompt: no token is older
    failed: PolicyError | None = None
    hear: Callable[[str], None] | None = None  # somebody who wants the reply as it grows

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.sampled)

    def tokens(self, start: int, count: int) -> tuple[int, ...]:
        """Of prompt and reply, from position `start`."""
        if start < len(self.prompt):
            return self.prompt[start : start + count]
        return tuple(self.sampled[start - len(self.prompt) :][:count])

    def lot(self, number: int) -> float:
        """The same for the same token of the reply, however often it is asked for."""
        while len(self.lots) <= number:
            self.lots.append(self.rng.random())
        return self.lots[number]

    def settle(self, result: Completion | PolicyError) -> None:
        """Called on the engine's thread; a future that was cancelled or a loop that is gone wants nothing."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(_settle, self.future, result)


@dataclass(frozen=True, slots=True, eq=False)
class _Swap:
    """What is to be done between two passes."""

    change: Callable[[], None]
    version: int | None  # of the weights that it puts in place; None: they stay
    done: Future[None] = field(default_factory=Future)

    def settle(self, error: PolicyError | None = None) -> None:
        if self.done.done():
            return
        if error is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(error)


@dataclass(frozen=True, slots=True)
class _Part:
    """What a pass computes of one request: tokens that stand fast, then guesses."""

    request: Request
    segment: Segment
    ids: tuple[int, ...]
    guesses: int
    draws: int  # tokens that can be drawn after it: none while its prompt is not read to the end


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
        cache_tokens: int = 16_384,
        threads: int = 0,
        drafting: bool = True,
    ) -> None:
        """`threads` of torch for sampling alone, when others compute beside it; 0 leaves them as they are.

        Where the model computes in another type than float32, the logprobs are those of the rounded policy.
        """
        self.name = name or f"torch:{loaded.source}"
        self.version = 0
        self._loaded = loaded
        self._max_rows = max_rows
        self._arrivals: queue.SimpleQueue[Request | _Swap | None] = queue.SimpleQueue()
        self._closing = False
        self._unsettled: set[Request | _Swap] = set()  # that somebody waits for
        self._ended: PolicyError | None = None  # why nothing is taken in any more
        self._ending = threading.Lock()  # held by who begins to wait, and while the waiting are told of an end
        self._threads = threads or torch.get_num_threads()
        self._waiting: deque[Request] = deque()
        self._live: list[Request] = []  # one a row
        self._packed: Packing = loaded.packing or PackedLinears(loaded.model, loaded.compute)
        self._rows = Rows(loaded.model.config, self._packed.cache_dtype or loaded.model.dtype, max_rows)
        self._prefixes = PrefixStore(cache_tokens)
        self._drafter = Drafter() if drafting else None
        self._hearers: dict[str, Callable[[str], None]] = {}
        self._seconds = 0.0
        self._passes = self._replying = self._drawn = 0
        give_back_threads()  # whoever loaded and packed the model computes no more
        self._thread = threading.Thread(target=self._run, name="torch-engine", daemon=True)
        self._thread.start()

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        refuse_too_long(prompt, sampling, self._loaded.context_tokens)
        self._refuse_unreadable(prompt, sampling)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Completion] = loop.create_future()
        request = Request(prompt.ids, sampling, loop, future, Page(prompt.ids), random.Random(sampling.seed))
        request.hear = self._hearers.get(prompt.episode)
        with self._wait_for(request):
            self._arrivals.put(request)
            return await future

    def listen(self, episode: str, hear: Callable[[str], None] | None) -> None:
        if hear is None:
            self._hearers.pop(episode, None)
        else:
            self._hearers[episode] = hear

    def forget(self, episode: str) -> None:
        """Nothing else is kept by episode: prefixes age out by use."""
        self._hearers.pop(episode, None)

    def swap_weights(self, change: Callable[[], None], version: int) -> None:
        """Let `change` put new weights in place, between two passes. Requests under way go on with the new ones.

        Each token's logprob is that of the weights it was drawn with; a completion carries the oldest version.
        """
        self._between_passes(_Swap(change, version))

    def rest(self) -> None:
        """Keys and values go: nobody asks until the next weights come, and those compute their own."""
        self._between_passes(_Swap(self._let_go, None))

    def _between_passes(self, swap: _Swap) -> None:
        with self._wait_for(swap):
            self._arrivals.put(swap)
            try:
                swap.done.result(SWAP_TIMEOUT_S)
            except TimeoutError:
                raise PolicyError(f"the engine took no new weights within {SWAP_TIMEOUT_S:.0f} s") from None

    @property
    def cache_hit_share(self) -> float:
        """Prompt tokens that did not have to be computed."""
        return self._prefixes.hit_tokens / max(1, self._prefixes.asked_tokens)

    @property
    def held_tokens(self) -> int:
        """Whose keys and values are in memory, or have room there."""
        return self._rows.capacity + self._prefixes.tokens

    @property
    def tokens_per_forward(self) -> float:
        """Tokens that a reply gains from a pass it takes part in."""
        return self._drawn / max(1, self._replying)

    def figures(self) -> dict[str, float]:
        """Seconds and passes are since the last call."""
        told = {
            "cache_hit_share": self.cache_hit_share,
            "tokens_per_forward": self.tokens_per_forward,
            "engine_s": self._seconds,
            "passes": float(self._passes),
        }
        self._seconds, self._passes = 0.0, 0
        return told

    def close(self) -> None:
        self._closing = True
        self._arrivals.put(None)
        self._thread.join(CLOSE_TIMEOUT_S)
        self._end(PolicyError("the engine was closed"))
        if not self._loaded.packing and not self._thread.is_alive():
            self._packed.release()

    def _refuse_unreadable(self, prompt: Prompt, sampling: Sampling) -> None:
        """What would fail inside of a pass, with all its neighbours. On a GPU it would be the end of the process."""
        known = self._loaded.model.get_input_embeddings().num_embeddings
        if len(prompt.ids) < 2 or min(prompt.ids) < 0 or max(prompt.ids) >= known:
            raise PolicyError(f"a prompt is two ids or more, all of them below {known}: {prompt.ids[-8:]}")
        if sampling.max_new_tokens < 1:
            raise PolicyError(f"a reply of {sampling.max_new_tokens} tokens cannot be sampled")

    @contextmanager
    def _wait_for(self, what: Request | _Swap) -> Iterator[None]:
        with self._ending:
            if self._ended is not None:
                raise PolicyError(str(self._ended))
            self._unsettled.add(what)
        try:
            yield
        finally:
            self._unsettled.discard(what)

    def _end(self, reason: PolicyError) -> None:
        """Take in nothing more, and tell all that wait. The first reason stays."""
        with self._ending:
            self._ended = self._ended or reason
            for waiting in self._unsettled.copy():
                waiting.settle(self._ended)

    # --- the engine's thread ---

    def _run(self) -> None:
        """However it ends, nobody goes on waiting for it."""
        reason = PolicyError("the engine has ended: its thread is gone")
        try:
            with boundary(PolicyError, "the engine has ended"):
                torch.set_num_threads(self._threads)
                with torch.inference_mode(), on_device_of(self._loaded.model):
                    self._serve()
                reason = PolicyError("the engine was closed")
        except PolicyError as error:
            reason = error
        finally:
            if not self._closing:
                logger.error("%s", reason)
            self._end(reason)

    def _serve(self) -> None:
        while self._take_arrivals():
            started = time.perf_counter()
            self._drop_cancelled()
            parts = list(self._parts())
            try:
                with boundary(PolicyError, "sampling"):
                    self._pass(parts)
            except PolicyError:
                self._pass_one_by_one()
            self._seconds += time.perf_counter() - started

    def _pass_one_by_one(self) -> None:
        """After a pass that failed: whoever made it fail does so alone, and the others go on."""
        for request in list(self._live):
            try:
                with boundary(PolicyError, "sampling"):
                    self._pass([self._part(self._live.index(request), PASS_TOKENS, 0)])
            except PolicyError as error:
                request.settle(error)
                self._drop(self._live.index(request))

    def _take_arrivals(self) -> bool:
        """All that has come; waits when there is nothing else to do. False: closed."""
        while True:
            idle = not self._live and not self._waiting
            if idle and self._arrivals.empty():
                give_back_threads()
            try:
                arrival = self._arrivals.get(block=idle)
            except queue.Empty:
                return True
            if arrival is None or self._closing:
                return False
            if isinstance(arrival, _Swap):
                self._swap(arrival)
            else:
                self._waiting.append(arrival)

    def _swap(self, swap: _Swap) -> None:
        try:
            with boundary(PolicyError, "putting new weights in place"):
                swap.change()
                if swap.version is not None:
                    self._packed.refresh()
        except PolicyError as error:
            swap.settle(error)
            return
        self._prefixes.clear()  # the old weights computed them
        self.version = self.version if swap.version is None else swap.version
        swap.settle()

    def _let_go(self) -> None:
        self._prefixes.clear()
        if not self._live:
            self._rows.clear()
        give_back_memory()

    def _drop_cancelled(self) -> None:
        for row in reversed(range(len(self._live))):
            if self._live[row].future.cancelled():
                self._drop(row)

    def _pass(self, parts: Sequence[_Part]) -> None:
        if not parts:
            return
        attention = PassAttention(self._rows, [part.segment for part in parts])
        kept = _drawing_places(parts)
        output = self._loaded.model(
            input_ids=torch.tensor([[token for part in parts for token in part.ids]]),
            position_ids=attention.positions,
            # Four dimensions: the library takes it for a finished mask and builds none; the pattern decides.
            attention_mask=torch.ones(1, 1, 1, 1, dtype=torch.bool),
            use_cache=False,
            logits_to_keep=torch.tensor(kept or [0]),
            pattern=attention,
        )
        self._passes += 1
        for part in parts:
            self._rows.lengths[part.segment.row] = part.segment.end - part.guesses
        if kept:
            self._draw([part for part in parts if part.draws], output.logits[0].float())

    # --- what a pass holds ---

    def _parts(self) -> Iterator[_Part]:
        """Replies first, each with its newest token; then prompts, in the order they came, as far as there is room."""
        room = PASS_TOKENS
        drafts = DRAFT_TOKENS
        for row, request in enumerate(self._live):
            if request.sampled:
                part = self._part(row, room, drafts)
                room -= part.segment.length
                drafts -= part.guesses
                yield part
        for row, request in enumerate(self._live):
            if not request.sampled and room > 0:
                part = self._part(row, room, drafts)
                room -= part.segment.length
                drafts -= part.guesses
                yield part
        while room > 0 and self._admit_next():
            part = self._part(len(self._live) - 1, room, drafts)
            room -= part.segment.length
            drafts -= part.guesses
            yield part

    def _part(self, row: int, room: int, drafts: int) -> _Part:
        request, known = self._live[row], self._rows.lengths[row]
        certain = min(request.length - known, max(1, room))
        if known + certain < request.length:
            return _Part(request, Segment(row, known, certain), request.tokens(known, certain), 0, 0)
        most = min(drafts, room - certain, request.sampling.max_new_tokens - len(request.sampled) - 1)
        draft: list[int] = []
        if self._drafter and most > 0:
            draft = self._drafter.propose(request.page, request.sampled, most, full=self._is_full())
        ids = (*request.tokens(known, certain), *draft)
        return _Part(request, Segment(row, known, len(ids)), ids, len(draft), 1 + len(draft))

    def _is_full(self) -> bool:
        """Whether there are prompts to read, which leave no room in a pass."""
        return bool(self._waiting) or any(not request.sampled for request in self._live)

    def _admit_next(self) -> bool:
        """Give a row to the first request that waits for nothing which is being read just now."""
        if len(self._live) >= self._max_rows:
            return False
        for request in list(self._waiting):
            if request.future.cancelled():
                self._waiting.remove(request)
            elif not self._is_being_read(request):
                self._waiting.remove(request)
                try:
                    with boundary(PolicyError, "making room for a reply"):
                        self._admit(request)
                except PolicyError as error:
                    request.settle(error)
                    continue
                return True
        return False

    def _admit(self, request: Request) -> None:
        # The last token of a prompt is always computed: its logits choose the first one of the reply.
        beginning = self._prefixes.longest(request.prompt[:-1])
        # Guesses may be written behind the last token of the longest reply.
        self._rows.add(beginning, len(request.prompt) + request.sampling.max_new_tokens)
        request.version = self.version
        self._live.append(request)

    def _is_being_read(self, request: Request) -> bool:
        """Whether a prompt that is not read to its end begins like this one, further than any that is."""
        known = self._prefixes.known_length(request.prompt)
        return any(
            shared_length(np.asarray(other.prompt), np.asarray(request.prompt)) - known > WORTH_WAITING
            for other in self._live
            if not other.sampled
        )

    # --- what comes of it ---

    def _draw(self, parts: list[_Part], logits_MV: torch.Tensor) -> None:
        """One token for every reply, and one more for each guess that was right."""
        places = [(part, number) for part in parts for number in range(part.draws)]
        temperatures = [part.request.sampling.temperature for part, _ in places]
        lots = [part.request.lot(len(part.request.sampled) + number) for part, number in places]
        tokens, logprobs = choose(logits_MV, temperatures, lots)
        told = logprobs.tolist()
        drawn = tokens.tolist()
        at = 0
        for part in parts:
            self._take(part, drawn[at : at + part.draws], told[at : at + part.draws])
            at += part.draws
        for row in reversed(range(len(self._live))):
            request = self._live[row]
            if request.failed:
                request.settle(request.failed)
                self._drop(row)
            elif self._is_complete(request):
                self._finish(request)
                self._drop(row)

    def _take(self, part: _Part, tokens: list[int], logprobs: list[float]) -> None:
        """The tokens up to the first that was guessed wrong: those after it were drawn in a context that never was."""
        request, row = part.request, part.segment.row
        if not request.sampled:
            self._keep_prompt(request, row)
        guesses = part.ids[len(part.ids) - part.guesses :]
        right, known = 0, len(request.sampled)
        for number, (token, logprob) in enumerate(zip(tokens, logprobs, strict=True)):
            if not isfinite(logprob):
                request.failed = PolicyError(
                    f"the model gives a token the logprob {logprob}: its weights are not finite"
                )
                return
            request.sampled.append(token)
            request.logprobs.append(logprob)
            if self._is_complete(request) or number == part.guesses or guesses[number] != token:
                break
            right += 1
        self._rows.lengths[row] += right
        if request.hear and not self._is_complete(request):
            request.hear(self._loaded.tokenizer.decode(request.sampled))
        self._replying += 1
        self._drawn += right + 1
        if self._drafter:
            self._drafter.learn(request.sampled, since=known)
            self._drafter.note(part.guesses, right)

    def _keep_prompt(self, request: Request, row: int) -> None:
        body = request.prompt[:-1]
        if body and not self._prefixes.knows(body):
            self._prefixes.keep(body, self._rows.beginning(row, len(body)))

    def _is_complete(self, request: Request) -> bool:
        full = len(request.sampled) == request.sampling.max_new_tokens
        return full or (bool(request.sampled) and request.sampled[-1] in self._loaded.tokenizer.end_ids)

    def _finish(self, request: Request) -> None:
        stopped = request.sampled[-1] in self._loaded.tokenizer.end_ids
        text = self._loaded.tokenizer.decode(request.sampled[:-1] if stopped else request.sampled)
        finish = Finish.STOP if stopped else Finish.LENGTH
        request.settle(Completion(text, tuple(request.sampled), tuple(request.logprobs), finish, request.version))

    def _drop(self, row: int) -> None:
        self._rows.remove(row)
        self._live[row] = self._live[-1]
        self._live.pop()


def _drawing_places(parts: Sequence[_Part]) -> list[int]:
    """Of the packed tokens, those whose logits choose a token of a reply."""
    places: list[int] = []
    begin = 0
    for part in parts:
        end = begin + part.segment.length
        places += range(end - part.draws, end)
        begin = end
    return places

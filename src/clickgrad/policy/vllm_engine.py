"""The engine on vLLM servers: token ids in, sampled ids and their logprobs out, over HTTP.

An episode stays with one server, whose cache then knows its beginning; when a server dies its episodes move, within a
cap. The connections live on a thread of their own, so that any event loop may ask and none is needed to close.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import urlsplit

import httpx
import torch

from clickgrad.errors import PolicyError, UserError, boundary
from clickgrad.policy.engine_thread import EngineThread
from clickgrad.policy.models import ChatTokenizer, load_tokenizer
from clickgrad.policy.protocol import refuse_too_long
from clickgrad.policy.vllm_channel import OPEN_TIMEOUT_S, Channel, Transport, Weight, make_channel
from clickgrad.policy.vllm_client import START_OPTIONS, Answer, Served, ServerDown, VllmClient
from clickgrad.types import Completion, Prompt, Sampling

MOST_SERVERS_TRIED = 3  # for one reply
NEVER = float("-inf")
AVOIDED_S = 30.0  # after a failure, while others are there
REFUSED_WITHIN_S = 1.0  # by a server that has no way for weights but files; others wait for us

Kind = Literal["full", "adapter"]
logger = logging.getLogger(__name__)


Outlet = Callable[[torch.Tensor], None]


@dataclass(frozen=True, slots=True)
class Wire:
    """Weights that go straight to the servers, where they can take them."""

    transport: Transport
    outline: Callable[[], Sequence[Weight]]
    send: Callable[[Outlet], None]  # all of them, whole, in the order of the outline; the outlet never raises


@dataclass(frozen=True, slots=True)
class Push:
    """How weights get to the servers: by a wire, or written into a folder that all of them can read."""

    kind: Kind
    save: Callable[[Path], None]  # the weights as they are now, as transformers or PEFT writes them
    folder: Path
    wire: Wire | None = None


@dataclass(slots=True)
class _Delivery:
    """One server's share of a push by wire."""

    channel: Channel
    begun: threading.Event = field(default_factory=threading.Event)  # it listens, or will never do
    listens: bool = False
    fault: str = ""

    def listen(self) -> None:
        self.listens = True
        self.begun.set()

    def send(self, tensor: torch.Tensor) -> None:
        """Whoever gathers the weights of several processes must not be interrupted: a fault is kept for later."""
        if self.listens and not self.fault:
            try:
                self.channel.send(tensor)
            except PolicyError as error:
                self.fault = str(error)
                self.channel.close()


@dataclass(slots=True)
class _Server:
    client: VllmClient
    model: str = ""
    adapters: tuple[str, ...] = ()
    version: int | None = 0  # None: it may have other weights than the policy, until the next push
    labelled: bool = False  # it was given weights, and says which ones drew a token
    half_loads: int = 0  # pushes that failed: what it was answering then is nobody's
    failed_at: float = NEVER
    asleep: bool = False
    channel: Channel | None = None  # None: it reads files

    @property
    def avoided(self) -> bool:
        return time.monotonic() - self.failed_at < AVOIDED_S


class VllmEngine:
    def __init__(
        self,
        urls: Sequence[str],
        tokenizer: ChatTokenizer | None = None,
        *,
        name: str | None = None,
        push: Push | None = None,
        most_tokens: int = 0,
        sleeps: bool = False,
    ) -> None:
        """Without a tokenizer, that of the model which the servers say they serve.

        `most_tokens` of a prompt and its reply, where the user wants fewer than the servers can; 0 is all they can.
        `sleeps`: the servers share their GPUs with the learner, and sleep while it learns.
        """
        for url in urls or [""]:
            if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
                raise UserError(f"vllm:{url} names no server: write it as vllm:http://127.0.0.1:8000[,<url>...]")
        self.name = name or f"vllm:{','.join(urls)}"
        self.version = 0
        self._push = push
        self._sleeps = sleeps
        self._servers: list[_Server] = []
        self._http: httpx.AsyncClient | None = None
        self._homes: dict[str, _Server] = {}  # by episode
        self._asked_tokens = self._hit_tokens = 0
        self._thread = EngineThread("vLLM engine")
        try:
            served = self._thread.call(self._connect, urls)
            if most_tokens > served.context_tokens:
                raise UserError(
                    f"model.context_tokens={most_tokens}: {self.name} has a context of {served.context_tokens}"
                )
            self._context_tokens = most_tokens or served.context_tokens
            self.tokenizer = tokenizer or load_tokenizer(served.root)
            for server in self._servers if push and push.wire else ():
                self._open_channel(server)
        except BaseException:
            self.close()
            raise

    async def complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        refuse_too_long(prompt, sampling, self._context_tokens)
        return await self._thread.run(self._reply, prompt, sampling)

    def forget(self, episode: str) -> None:
        self._homes.pop(episode, None)

    def swap_weights(self, change: Callable[[], None], version: int) -> None:
        """Let `change` put new weights in place here, then bring them to every server.

        Requests under way are held meanwhile and go on with the new weights, or with the adapter they began with; a
        completion carries the oldest version. A server that does not take them is left out until the next push.
        """
        if self._push is None:
            raise PolicyError("the vLLM engine was opened without weights to push")
        with boundary(PolicyError, "putting new weights in place"):
            change()
            self._push.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=f"version-{version}-", dir=self._push.folder) as folder:
                if any(server.channel is None for server in self._servers):
                    self._push.save(Path(folder))
                deliveries = {id(one): _Delivery(one.channel) for one in self._servers if one.channel}
                pushed = self._thread.begin(self._push_to_all, self._push, Path(folder), version, deliveries)
                if self._push.wire and deliveries:
                    _deliver(self._push.wire, list(deliveries.values()))
                pushed.result()

    def _open_channel(self, server: _Server) -> None:
        """Where that cannot be done the server is given files."""
        assert self._push
        assert self._push.wire
        try:
            channel = make_channel(self._push.wire.transport)
            joined = self._thread.begin(server.client.join, channel.joining)
            with suppress(TimeoutError):
                joined.result(REFUSED_WITHIN_S)
            channel.open()
            joined.result(OPEN_TIMEOUT_S)
            server.channel = channel
        except (PolicyError, UserError, TimeoutError) as error:
            logger.warning("weights go to %s by files: %s", server.client.url, error)

    def rest(self) -> None:
        """Nobody asks until the next swap: servers that share their GPUs with the learner sleep till then."""
        if self._sleeps:
            self._thread.call(self._sleep_all)

    @property
    def cache_hit_share(self) -> float:
        """Prompt tokens that did not have to be computed. The servers say so with --enable-prompt-tokens-details."""
        return self._hit_tokens / max(1, self._asked_tokens)

    def figures(self) -> dict[str, float]:
        return {"cache_hit_share": self.cache_hit_share}

    def close(self) -> None:
        self._thread.close(self._hang_up)

    # --- the engine's thread ---

    async def _connect(self, urls: Sequence[str]) -> Served:
        key = os.environ.get("VLLM_API_KEY", "")
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            limits=httpx.Limits(max_connections=None),
            trust_env=False,  # these are our own machines: no proxy in between
        )
        self._servers = [_Server(VllmClient(url, self._http)) for url in urls]
        found: list[Served] = []
        for server in self._servers:
            try:
                found.append(await server.client.served())
                server.model = found[-1].model
                await server.client.refuse_raw_logprobs(server.model)
            except PolicyError as error:
                raise UserError(f"no vLLM server to work with: {error}; start it with {START_OPTIONS}") from error
        if len({(served.root, served.context_tokens) for served in found}) > 1:
            raise UserError(f"the servers serve different models: {', '.join(served.root for served in found)}")
        return found[0]

    async def _hang_up(self) -> None:
        for server in self._servers:
            if server.channel:
                server.channel.close()
            if server.client.paused:  # closed in the middle of a push
                with suppress(PolicyError, UserError):
                    await server.client.resume()
        if self._http is not None:
            await self._http.aclose()

    async def _reply(self, prompt: Prompt, sampling: Sampling) -> Completion:
        tried: list[_Server] = []
        failure = PolicyError("every vLLM server has lost the policy's weights")
        while len(tried) < MOST_SERVERS_TRIED and (server := self._home(prompt.episode, tried)):
            tried.append(server)
            sent = replace(server)  # as it is now: it may be given new weights meanwhile
            try:
                answer = await server.client.generate(sent.model, prompt.ids, sampling, self.tokenizer.end_ids)
                version = self._version_of(sent, answer)
            except ServerDown as error:
                failure = error
                self._note_failure(server)
                continue
            if server.half_loads > sent.half_loads:
                failure = ServerDown(f"{server.client.url} failed to load weights while it was answering")
                continue
            self._asked_tokens += answer.prompt_tokens
            self._hit_tokens += answer.cached_tokens
            return self._completion(answer, version)
        raise PolicyError(f"no vLLM server gave an answer ({len(tried)} asked): {failure}")

    def _home(self, episode: str, tried: Sequence[_Server]) -> _Server | None:
        """The episode's server; one with few episodes if it has none yet, or if that one was tried already."""
        home = self._homes.get(episode)
        if home is None or home in tried or home.version is None:
            homes = list(self._homes.values())
            free = [server for server in self._servers if server.version is not None and server not in tried]
            home = min(free, key=lambda server: (server.avoided, sum(one is server for one in homes)), default=None)
            if home is not None:
                self._homes[episode] = home
        return home

    def _note_failure(self, server: _Server) -> None:
        server.failed_at = time.monotonic()
        if server.labelled:
            server.version = None  # if it comes back, then with the weights it was started with

    def _version_of(self, sent: _Server, answer: Answer) -> int:
        """The oldest among the tokens. A server that was started anew in between shows by its label."""
        if not sent.labelled or sent.version is None:
            return 0
        if not answer.labels or not all(label.isdecimal() and int(label) >= sent.version for label in answer.labels):
            raise ServerDown(f"{sent.client.url} has weights {answer.labels} instead of version {sent.version}")
        if sent.adapters:
            return sent.version  # a request keeps the adapter it names, whatever the server's label is when it is drawn
        return min(int(label) for label in answer.labels)

    def _completion(self, answer: Answer, version: int) -> Completion:
        ended = answer.ids[-1] in self.tokenizer.end_ids
        text = self.tokenizer.decode(answer.ids[:-1] if ended else answer.ids)
        return Completion(text, answer.ids, answer.logprobs, answer.finish, version)

    async def _sleep_all(self) -> None:
        await asyncio.gather(*(self._sleep(server) for server in self._servers))

    async def _sleep(self, server: _Server) -> None:
        """One that is down holds no memory; one that stays awake would take the learner's."""
        try:
            await server.client.sleep()
            server.asleep = True
        except ServerDown:
            self._note_failure(server)

    async def _push_to_all(self, push: Push, folder: Path, version: int, deliveries: dict[int, _Delivery]) -> None:
        pushes = (self._push_to(server, push, folder, version, deliveries.get(id(server))) for server in self._servers)
        errors = await asyncio.gather(*pushes)
        failed = [error for error in errors if error]
        if len(failed) == len(self._servers):
            raise PolicyError(f"no vLLM server took the weights of version {version}: {failed[0]}")
        for error in failed:
            logger.warning("a vLLM server is left out until the next push: %s", error)
        self.version = version

    async def _push_to(
        self, server: _Server, push: Push, folder: Path, version: int, delivery: _Delivery | None
    ) -> Exception | None:
        client, name, kind, wire = server.client, folder.name, push.kind, push.wire
        try:
            if server.asleep:
                await client.wake_up()
                server.asleep = False
            if wire and delivery:
                await client.renew(lambda: client.receive(wire.outline(), delivery.listen), version)
            elif kind == "full":
                await client.renew(lambda: client.load_weights(folder), version)
            else:
                await client.renew(lambda: client.load_adapter(name, folder), version)
        except (PolicyError, UserError) as error:
            server.version, server.failed_at = None, time.monotonic()
            server.half_loads += kind == "full"  # an adapter that was not loaded changes no other
            if delivery:
                server.channel = None  # by files from now on, if it lives
                error = ServerDown(f"{error}: {delivery.fault}") if delivery.fault else error
            return error
        finally:
            if delivery:
                delivery.begun.set()
        server.version, server.labelled, server.failed_at = version, True, NEVER
        if kind == "adapter":
            server.model, server.adapters = name, (*server.adapters, name)
            await self._keep_last_two(server)
        return None

    async def _keep_last_two(self, server: _Server) -> None:
        """The one before the newest may still be answering."""
        gone, server.adapters = server.adapters[:-2], server.adapters[-2:]
        for name in gone:
            with suppress(ServerDown):
                await server.client.unload_adapter(name)


def _deliver(wire: Wire, deliveries: Sequence[_Delivery]) -> None:
    """To all servers that listen, as soon as each of them does or has failed."""
    for delivery in deliveries:
        delivery.begun.wait()

    def outlet(tensor: torch.Tensor) -> None:
        for delivery in deliveries:
            delivery.send(tensor)

    wire.send(outlet)

"""vLLM for tests: a real server on a tiny model where vLLM is installed, and a fake one that errs as it is told to."""

from __future__ import annotations

import asyncio
import atexit
import importlib.util
import queue
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from tiny import save, tiny_model, tiny_tokenizer
from torch._C._distributed_c10d import TCPStore

from clickgrad.policy.models import LoadedModel
from clickgrad.policy.vllm_channel import Transport, gloo_pair
from clickgrad.policy.vllm_server import CPU_OPTIONS, VllmServer
from clickgrad.worlds.server import ThreadedServer

CONTEXT_TOKENS = 4096
HELD_S = 30.0  # of a request, at most
HEADS = 2  # of 32 dimensions: vLLM's attention on a CPU has no smaller ones


def served_model() -> LoadedModel:
    """As the servers have it at the start."""
    return tiny_model(tiny_tokenizer(["some text"]), CONTEXT_TOKENS, HEADS)


@cache
def model_folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="clickgrad-vllm-")
    atexit.register(folder.cleanup)
    return save(served_model(), Path(folder.name) / "model")


def start_server(log: Path, lora_rank: int = 0) -> VllmServer:
    """Takes about a minute. Whoever starts one ends it."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed")
    options = [*CPU_OPTIONS, "--max-num-seqs", "16"]
    transport: Transport | None = None if lora_rank else "gloo"
    server = VllmServer(
        str(model_folder()), log, dtype="float32", lora_rank=lora_rank, options=options, transport=transport
    )
    return server.__enter__()


@cache
def shared_server() -> VllmServer:
    """One for all tests; it may have any weights."""
    server = start_server(model_folder().parent / "vllm.log")
    atexit.register(server.end)
    return server


# --- the fake ---

Reply = Callable[["FakeVllm", dict[str, Any]], Response]


def choice(ids: list[int], label: str = "default", finish: str = "length", **other: Any) -> dict[str, Any]:
    tokens = [{"token_id": token, "logprob": -1.0} for token in ids]
    spans = [{"version": label, "start": 0, "end": len(ids)}]
    plain = {"token_ids": ids, "finish_reason": finish, "weight_versions": spans, "logprobs": {"content": tokens}}
    return plain | other


def answer(*choices: dict[str, Any]) -> Response:
    return JSONResponse({"choices": choices, "usage": {"prompt_tokens": 10}})


def properly(fake: FakeVllm, body: dict[str, Any]) -> Response:
    return answer(choice([fake.token] * body["sampling_params"]["max_tokens"], fake.label))


class FakeVllm:
    """Answers every request with its own token."""

    def __init__(self, token: int = 7, reply: Reply = properly) -> None:
        self.token = token
        self.reply = reply
        self.label = "default"
        self.raw_logprobs = False
        self.takes_weights = True
        self.resumes = True
        self.resumed, self.free = threading.Event(), threading.Event()  # without either of them requests are held
        self.resumed.set()
        self.free.set()
        self.queued: queue.SimpleQueue[None] = queue.SimpleQueue()  # requests that came while it was not free
        self.asked = 0
        self.calls: list[str] = []
        self.url = ""
        self.joins = False  # weights can be sent straight to it
        self.breaks_after = 1000  # weights of a push; then its end of the channel is gone
        self.received: list[torch.Tensor] = []
        self._pair: Any = None

    @property
    def paused(self) -> bool:
        return not self.resumed.is_set()

    def _join(self, port: int) -> None:
        self._pair = gloo_pair(TCPStore("127.0.0.1", port, 2, False), 1)

    def _receive(self, told: dict[str, Any]) -> bool:
        self.received = []
        for dtype, shape in zip(told["dtype_names"], told["shapes"], strict=True):
            if len(self.received) == self.breaks_after:
                self._pair = None
                return False
            self.received.append(torch.empty(shape, dtype=getattr(torch, dtype)))
            self._pair.recv([self.received[-1]], 0, 0).wait()
        return True

    async def models(self, request: Request) -> Response:
        model = {"id": "policy", "root": str(model_folder()), "max_model_len": CONTEXT_TOKENS}
        return JSONResponse({"data": [model]})

    async def generate(self, request: Request) -> Response:
        body = await request.json()
        wanted = body["sampling_params"]
        if wanted["logprobs"] == 2:  # the engine looks how logprobs are meant
            top = -1.0 if self.raw_logprobs or not wanted["temperature"] else -0.1
            content = {"token_id": 7, "logprob": top, "top_logprobs": [{"token_id": 7, "logprob": top}]}
            return answer(choice([7], logprobs={"content": [content]}))
        self.asked += 1
        if not self.free.is_set():
            self.queued.put(None)
        for held in (self.free, self.resumed):
            await asyncio.to_thread(held.wait, HELD_S)
        return self.reply(self, body)

    async def control(self, request: Request) -> Response:
        self.calls.append(request.url.path)
        match request.url.path:
            case "/init_weight_transfer_engine" if self.joins:
                await asyncio.to_thread(self._join, (await request.json())["init_info"]["master_port"])
            case "/init_weight_transfer_engine":
                return PlainTextResponse("no such engine", 500)
            case "/update_weights":
                if not await asyncio.to_thread(self._receive, (await request.json())["update_info"]):
                    return PlainTextResponse("connection lost", 500)
            case "/resume" if not self.resumes:
                return PlainTextResponse("hung", 500)
            case "/pause" | "/resume" as path:
                (self.resumed.clear if path == "/pause" else self.resumed.set)()
            case "/collective_rpc" | "/v1/load_lora_adapter" if not self.takes_weights:
                return PlainTextResponse("out of memory", 500)
            case "/update_weight_version":
                self.label = (await request.json())["new_version"]
            case "/sleep" | "/wake_up":
                return Response()  # as vLLM answers: nothing
        return JSONResponse({"success": True})


STRAIGHT = ("/init_weight_transfer_engine", "/start_weight_update", "/update_weights", "/finish_weight_update")
PUSHING = ("/pause", "/collective_rpc", "/reset_prefix_cache", "/update_weight_version", "/resume")
SLEEPING = ("/sleep", "/wake_up")
ADAPTERS = ("/v1/load_lora_adapter", "/v1/unload_lora_adapter")


@contextmanager
def serving(*fakes: FakeVllm) -> Iterator[list[str]]:
    servers = []
    for fake in fakes:
        routes = [Route("/v1/models", fake.models), Route("/inference/v1/generate", fake.generate, methods=["POST"])]
        routes += [Route(path, fake.control, methods=["POST"]) for path in PUSHING + ADAPTERS + SLEEPING + STRAIGHT]
        servers.append(ThreadedServer(Starlette(routes=routes)))
        servers[-1].start()
        fake.url = f"http://{servers[-1].address}"
    try:
        yield [fake.url for fake in fakes]
    finally:
        for server in servers:
            server.stop()

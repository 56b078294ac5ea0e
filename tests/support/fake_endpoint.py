"""An OpenAI-compatible endpoint on the loopback address that answers as it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from clickgrad.worlds.server import ThreadedServer

KEY = "sk-test-0123456789abcdef"
Answer = Callable[[dict[str, Any]], Response]


def reply(text: str | None, finish: str = "stop", usage: dict[str, int] | None = None) -> Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return JSONResponse({"choices": [choice], "usage": usage or {"prompt_tokens": 100, "completion_tokens": 10}})


def failure(status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": {"message": message, "code": code}}, status, headers)


def echo(body: dict[str, Any]) -> Response:
    """The last line of the last message, word by word as often as there are tokens to spend."""
    words = str(body["messages"][-1]["content"]).splitlines()[-1].split()
    most = body.get("max_tokens") or body["max_completion_tokens"]
    return reply(" ".join(words[:most]), "stop" if len(words) <= most else "length")


def torn(body: dict[str, Any]) -> Response:
    """Hangs up in the middle of its answer."""

    async def chunks() -> AsyncIterator[str]:
        yield '{"choices": [{"mess'
        raise ConnectionResetError

    return StreamingResponse(chunks(), media_type="application/json")


class FakeEndpoint:
    """Gives `answers` in order, the last one for ever; keeps what it was asked."""

    def __init__(self, *answers: Answer | Response) -> None:
        self.answers = list(answers) or [echo]
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.at_once = self.most_at_once = 0
        self.hanging = threading.Event()  # set when a request waits for ever
        self.gone = threading.Event()  # set when one that waited has left
        self.url = ""

    def hang(self, body: dict[str, Any]) -> Response:
        raise NotImplementedError("never called: recognised by identity")

    async def serve(self, request: Request) -> Response:
        body = json.loads(await request.body())
        answer = self.answers[min(len(self.bodies), len(self.answers) - 1)]
        self.bodies.append(body)
        self.keys.append(request.headers.get("authorization", ""))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if answer == self.hang or "hang" in str(body["messages"][-1]["content"]):
                await self._hang(request)
            await anyio.sleep(0.01)
            return answer if isinstance(answer, Response) else answer(body)
        finally:
            self.at_once -= 1

    async def _hang(self, request: Request) -> None:
        self.hanging.set()
        with anyio.move_on_after(30):
            while (await request.receive())["type"] != "http.disconnect":
                pass
        self.gone.set()


@contextmanager
def serving(endpoint: FakeEndpoint) -> Iterator[FakeEndpoint]:
    app = Starlette(routes=[Route("/v1/chat/completions", endpoint.serve, methods=["POST"])])
    server = ThreadedServer(app)
    server.start()
    endpoint.url = f"http://{server.address}/v1"
    try:
        yield endpoint
    finally:
        server.stop()

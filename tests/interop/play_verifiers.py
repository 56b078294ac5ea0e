"""The episodes of ours.py through `vf-eval` and its null harness; an endpoint on this machine calls the tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playing import main
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from clickgrad.tasks.suites import load_tasks
from clickgrad.worlds.server import ThreadedServer

REPO = Path(__file__).parents[2]
GIVE_UP = 'exit(message="")'


class Endpoint:
    """Says by turns what was said in the episode whose task is asked about; the second to begin may give up."""

    def __init__(self, episodes: list[dict[str, Any]], second_gives_up: bool = False) -> None:
        intents = {task.id: task.intent for task in load_tasks(episodes[0]["suite"], "test")}
        self._said = {intents[one["task"]]: [turn["reply"] for turn in one["turns"]] for one in episodes}
        self._second_gives_up = second_gives_up
        self._begun = 0

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        asked = next(str(message["content"]) for message in body["messages"] if message["role"] == "user")
        replies = next(replies for intent, replies in self._said.items() if f"Task: {intent}\n" in asked)
        self._begun += turn == 0
        if self._second_gives_up and turn == 0 and self._begun == 2:
            replies = [GIVE_UP]
        return streamed(replies[turn] if turn < len(replies) else None, turn)


def streamed(reply: str | None, turn: int) -> Response:
    """A call of the tool, or the end, as the harness asks for it."""
    delta: dict[str, Any] = {"role": "assistant", "content": "I am done."}
    if reply is not None:
        call = {"name": "web_act", "arguments": json.dumps({"reply": reply})}
        delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": f"call-{turn}", "type": "function"}]}
        delta["tool_calls"][0]["function"] = call
    whole = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "told"}
    ended = "stop" if reply is None else "tool_calls"
    chunks = [
        whole | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        whole | {"choices": [{"index": 0, "delta": {}, "finish_reason": ended}]},
        whole | {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
    ]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return StreamingResponse(iter([*lines, "data: [DONE]\n\n"]), media_type="text/event-stream")


def evaluate(episodes: list[dict[str, Any]], rollouts: int = 1) -> list[tuple[str, float]]:
    """Task and reward of every trace."""
    endpoint = Endpoint(episodes, second_gives_up=rollouts == 2)
    server = ThreadedServer(Starlette(routes=[Route("/v1/chat/completions", endpoint.answer, methods=["POST"])]))
    server.start()
    with tempfile.TemporaryDirectory() as out:
        command = [str(Path(sys.executable).parent / "vf-eval"), "clickgrad-web", "-m", "told", "-o", out, "-c", "2"]
        command += [
            "--env.agent.harness.id",
            "null",
            "--env.agent.runtime.type",
            "subprocess",
            "--no-push",
            "--no-rich",
        ]
        command += ["--env.taskset.suite", episodes[0]["suite"], "--env.taskset.split", "test"]
        command += ["--client.base-url", f"http://{server.address}/v1", "--num-rollouts", str(rollouts)]
        command += ["--select.include.ids", json.dumps([episode["task"] for episode in episodes])]
        paths = [str(REPO / "src"), str(REPO / "examples" / "interop")]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
        (file,) = Path(out).rglob("traces.jsonl")
        episodes_told = [json.loads(line) for line in file.read_text().splitlines()]
    server.stop()
    return [told(one) for one in episodes_told]


def told(one: dict[str, Any]) -> tuple[str, float]:
    trace = one["traces"][0] if "traces" in one else one
    assert not trace["errors"], trace["errors"]
    return trace["task"]["data"]["id"], trace["rewards"]["success"]["score"]


def play(episodes: list[dict[str, Any]]) -> list[float | None]:
    found = dict(evaluate(episodes))
    return [found[episode["task"]] for episode in episodes]


def two_at_once(episode: dict[str, Any]) -> list[float | None]:
    return sorted((reward for _, reward in evaluate([episode], rollouts=2)), reverse=True)


if __name__ == "__main__":
    main(play, two_at_once)

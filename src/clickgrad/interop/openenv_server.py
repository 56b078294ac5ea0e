"""OpenEnv, the server's side: any suite as an environment, a session for every connection.

    python -m clickgrad.interop.openenv_server --suite pocket --split train --port 8000

Sessions share sites and browser, and each has a world and a browser context of its own. It listens on this machine only
unless told otherwise, and answers no page of another site that a browser here has open.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, cast

import uvicorn
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

try:
    from openenv.core.env_server import Environment, create_app
    from openenv.core.env_server.types import State
except ModuleNotFoundError as missing:
    raise ImportError("clickgrad.interop.openenv_server needs OpenEnv: pip install 'clickgrad[openenv]'") from missing

from clickgrad.backends.tasks import chosen_tasks
from clickgrad.errors import UserError
from clickgrad.interop.openenv_client import WebAction, WebObservation
from clickgrad.interop.room import Episode, Room, interop_config, reasons
from clickgrad.types import Split, Task


class WebEnvironment(Environment[WebAction, WebObservation, State]):
    """One session: an episode at a time. `reset(task=...)` names a task, else the seed draws one."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, room: Room, tasks: Mapping[str, Task]) -> None:
        super().__init__()
        self._room = room
        self._tasks = tasks
        self._episode: Episode | None = None
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, task: str | None = None, **other: Any
    ) -> WebObservation:
        if task is not None and task not in self._tasks:
            raise UserError(f"there is no task {task!r} in this split")
        self.close()
        chosen = task or random.Random(seed).choice(list(self._tasks))
        self._episode = self._room.begin(self._tasks[chosen])
        self._state = State(episode_id=episode_id, step_count=0)
        return self._seen(self._episode)

    def step(self, action: WebAction, timeout_s: float | None = None, **other: Any) -> WebObservation:
        if self._episode is None:
            raise UserError("the episode is over or has not begun: call reset()")
        try:
            self._episode.step(action.reply)
        except BaseException:
            self._episode = None
            raise
        self._state.step_count += 1
        seen = self._seen(self._episode)
        if seen.done:
            self._episode = None
        return seen

    @property
    def state(self) -> State:
        return self._state

    def close(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.end()

    def _seen(self, episode: Episode) -> WebObservation:
        last = episode.last
        return WebObservation(
            task=episode.task.id,
            intent=episode.task.intent,
            url=last.page.url,
            page=last.text,
            truncated=last.truncated,
            standing=last.reward,
            checks=reasons(last.verdict) if last.verdict else "",
            reward=last.reward if last.over else None,
            done=last.over,
        )


@contextmanager
def web_app(
    suite: str = "pocket",
    split: Split | Literal["all"] = "train",
    *,
    max_turns: int = 8,
    world_seed: int = 0,
    sessions: int = 64,
    only_loopback: bool = True,
) -> Iterator[ASGIApp]:
    """An app for any ASGI server; sites and browser end with the block."""
    config = interop_config(suite, max_turns=max_turns, world_seed=world_seed)
    tasks = {task.id: task for task in chosen_tasks(config, split)}
    with Room(config) as room:
        app = create_app(
            lambda: WebEnvironment(room, tasks),
            WebAction,
            WebObservation,
            env_name=f"clickgrad-{suite}",
            max_concurrent_envs=sessions,
        )
        yield _without_other_sites(app, only_loopback)


def _without_other_sites(app: ASGIApp, only_loopback: bool) -> ASGIApp:
    """Programs send no Origin, a page in somebody's browser does; a foreign name in Host is one rebound to us."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            name = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
            foreign = headers.get("origin") not in (None, f"http://{headers.get('host')}")
            if foreign or (only_loopback and name not in ("127.0.0.1", "localhost", "[::1]")):
                refusal = {"type": "websocket.close", "code": 1008}
                if scope["type"] == "http":
                    await send({"type": "http.response.start", "status": 403, "headers": []})
                    refusal = {"type": "http.response.body", "body": b"Only programs on this machine may ask"}
                await send(refusal)
                return
        await app(scope, receive, send)

    return serve


def main() -> None:
    parser = argparse.ArgumentParser(description="any suite as an OpenEnv environment")
    parser.add_argument("--suite", default="pocket")
    parser.add_argument("--split", default="train", choices=["train", "test", "demo", "all"])
    parser.add_argument("--max-turns", type=int, default=8)
    parser.add_argument("--world-seed", type=int, default=0)
    parser.add_argument("--sessions", type=int, default=64, help="how many at once (default: 64)")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    with web_app(
        options.suite,
        cast("Split", options.split),
        max_turns=options.max_turns,
        world_seed=options.world_seed,
        sessions=options.sessions,
        only_loopback=options.host in ("127.0.0.1", "localhost", "::1"),
    ) as app:
        uvicorn.run(app, host=options.host, port=options.port, log_level="warning")


if __name__ == "__main__":
    main()

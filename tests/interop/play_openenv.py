"""The episodes of ours.py through an OpenEnv server: once by its client, once by the tools that TRL would call."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from playing import main

from clickgrad.agent.lenient import Grammar
from clickgrad.interop.openenv_client import WebAction, WebClient
from clickgrad.interop.trl_tools import WebTools, web_tools
from clickgrad.types import Click, Exit, Search, Select, Type

GIVE_UP = 'exit(message="")'
servers = ExitStack()
urls: dict[str, str] = {}


@contextmanager
def serving(suite: str, split: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    module = ["-m", "clickgrad.interop.openenv_server", "--suite", suite, "--split", split, "--port", str(port)]
    process = subprocess.Popen([sys.executable, *module])
    try:
        await_health(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def await_health(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            assert process.poll() is None, "the server has ended"
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server did not come up")


def url_of(suite: str, split: str = "test") -> str:
    if suite not in urls:
        urls[suite] = servers.enter_context(serving(suite, split))
    return urls[suite]


def play(episodes: list[dict[str, Any]]) -> list[float | None]:
    url = url_of(episodes[0]["suite"])
    by_client = [by_messages(url, episode) for episode in episodes]
    tools = web_tools(url)()
    by_tools = [by_calls(tools, episode) for episode in episodes]
    assert by_tools == by_client, (by_tools, by_client)
    return by_client


def by_messages(url: str, episode: dict[str, Any]) -> float | None:
    with WebClient(base_url=url).sync() as env:
        result = env.reset(task=episode["task"])
        assert (result.reward, result.done) == (None, False)
        for turn in episode["turns"]:
            result = env.step(WebAction(reply=turn["reply"]))
        assert result.done
        return result.reward


def by_calls(tools: WebTools, episode: dict[str, Any]) -> float | None:
    tools.reset(task=episode["task"], prompt="as TRL hands over the whole row")
    for turn in episode["turns"]:
        match Grammar("plain").read(turn["reply"], ())[0]:
            case Click(element):
                tools.click(element)
            case Type(element, text):
                tools.type_text(element, text)
            case Search(element, text):
                tools.search(element, text)
            case Select(element, option):
                tools.select_option(element, option)
            case Exit(message):
                tools.finish(message)
            case other:
                raise AssertionError(f"no tool for {other}")
    return tools.get_reward()


def two_at_once(episode: dict[str, Any]) -> list[float | None]:
    url = url_of(episode["suite"])
    with WebClient(base_url=url).sync() as one, WebClient(base_url=url).sync() as other:
        before = other.reset(task=episode["task"])
        result = one.reset(task=episode["task"])
        for turn in episode["turns"]:
            result = one.step(WebAction(reply=turn["reply"]))
        after = other.step(WebAction(reply='do(action="Wait")'))
        assert before.observation.page == after.observation.page
        return [result.reward, other.step(WebAction(reply=GIVE_UP)).reward]


if __name__ == "__main__":
    main(play, two_at_once, servers.close)

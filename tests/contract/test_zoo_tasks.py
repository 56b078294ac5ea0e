"""Tasks on pages of the zoo, done by scripted replies through the full action grammar."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from npm_cache import is_fetched
from zoo import PAGES, read_page

from clickgrad.agent.lenient import Grammar
from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import Browser
from clickgrad.browser.hands import Abilities
from clickgrad.policy.scripted import FixedPolicy
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.rollout.plain_venue import PlainVenue
from clickgrad.types import PageCheck, Task, Trajectory, Unparsable

pytestmark = pytest.mark.anyio
TASKS: list[dict[str, Any]] = tomllib.loads((PAGES / "tasks.toml").read_text("utf-8"))["task"]
AT_ONCE = 4


@pytest.fixture(scope="module")
async def able_browser(
    anyio_backend: str, zoo_hosts: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Browser]:
    folder = tmp_path_factory.mktemp("files")
    (folder / "notes.txt").write_text("notes")
    async with Browser(zoo_hosts, abilities=Abilities(full=True, files=folder)) as opened:
        yield opened


async def play(given: dict[str, Any], browser: Browser) -> Trajectory:
    page, url = given["page"], f"http://zoo.localhost/{given['page']}"
    task = Task(page, "zoo", "test", ("zoo",), page, given["goal"], url, (PageCheck((given["shows"],)),))
    builder = PromptBuilder(None, "plain", "full", grammar=Grammar("plain", "full"))
    policy = FixedPolicy("replies", [*given["replies"], 'exit(message="done")'])
    return await run_episode(page, task, 0, Agent(policy, builder, Limits(12, 64)), PlainVenue(browser))


def is_playable(given: dict[str, Any]) -> bool:
    return all(map(is_fetched, read_page(PAGES / f"{given['page']}.html").libraries))


def failure(given: dict[str, Any], played: Trajectory) -> str:
    lost = [turn.action.reason for turn in played.turns if isinstance(turn.action, Unparsable)]
    seen = played.turns[-1].observation if played.turns else None
    return f"{given['goal']} {played.error or ''} {lost} {seen.notice if seen else ''} {seen.lines if seen else ''}"


async def test_twenty_tasks_of_the_zoo_are_done_through_the_full_grammar(able_browser: Browser) -> None:
    room = asyncio.Semaphore(AT_ONCE)

    async def fails(given: dict[str, Any]) -> str:
        async with room:
            played = await play(given, able_browser)
        return "" if played.reward == 1.0 else failure(given, played)

    playable = [given for given in TASKS if is_playable(given)]
    assert len(playable) >= 20
    assert [found for found in await asyncio.gather(*map(fails, playable)) if found] == []


async def test_a_file_outside_the_folder_is_not_given(able_browser: Browser) -> None:
    given = {
        "page": "like-antd-upload",
        "goal": "Upload it.",
        "replies": ['do(action="Upload", argument="../../etc/passwd", element="0")'],
        "shows": "No file yet",
    }
    played = await play(given, able_browser)
    assert played.reward == 1.0
    assert played.turns[1].observation.notice == 'There is no file "../../etc/passwd". There are: notes.txt.'

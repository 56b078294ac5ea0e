"""A person who does tasks in the viewer, by clicking and by keys: a verdict, and a demonstration like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from looking import watched_page
from showing import Player, Show, showing, with_keys, with_mouse

from clickgrad.config import load_config
from clickgrad.recipes.clone import clone
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.tasks.suites import load_tasks
from clickgrad.tools.prove import prove
from clickgrad.tools.replay import replay
from clickgrad.types import End, Exit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

T = TypeVar("T")
TASKS = {task.id: task for task in load_tasks("pocket", "all")}
BY_MOUSE = [
    "shop.add_to_cart.0010",
    "admin.order_status.0009",
    "code.create_issue.0009",  # types a title
    "forum.vote_post.0007",
    "map.save_places.0010",  # chooses from a list
]
BY_KEYS = ["shop.contact.0009", "forum.vote_post.0008", "code.create_issue.0010"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("record")


@pytest.fixture(scope="module")
def show(folder: Path) -> Iterator[Show]:
    with showing(["record", "--suite", "pocket", "--out", "own/demos.jsonl.zst"], folder) as show:
        yield show


@pytest.fixture
def page(chromium: Browser, show: Show) -> Iterator[Page]:
    with watched_page(chromium, show.address) as page:
        page.goto(f"{show.address}/#/live")
        page.wait_for_selector("#play")
        yield page


def choose(page: Page, task: str) -> None:
    page.fill("#stage-task", task)
    page.click("#play")
    page.wait_for_function("intent => document.querySelector('h1').textContent === intent", arg=TASKS[task].intent)


def recorded(folder: Path) -> list[tuple[str, float | None]]:
    return [(one.task.id, one.reward) for one in TrajectoryFile(folder / "own" / "demos.jsonl.zst").read()]


@pytest.mark.timeout(400)
def test_a_task_on_each_of_five_sites_is_done_by_clicking(page: Page, folder: Path) -> None:
    player = Player(page, folder / "own" / "live", with_mouse)
    for task in BY_MOUSE:
        choose(page, task)
        player.play(TASKS[task])
        assert page.inner_text("section[data-person] .verdict strong") == "Passed"
    assert recorded(folder) == [(task, 1.0) for task in BY_MOUSE]


@pytest.mark.timeout(400)
def test_a_task_on_each_of_three_sites_is_done_with_the_keyboard_alone(page: Page, folder: Path) -> None:
    player = Player(page, folder / "own" / "live", with_keys)
    for task in BY_KEYS:
        choose(page, task)
        player.play(TASKS[task])
    assert recorded(folder)[-len(BY_KEYS) :] == [(task, 1.0) for task in BY_KEYS]


def test_what_an_agent_could_not_say_is_told_at_once_and_costs_no_turn(page: Page, folder: Path) -> None:
    task = "forum.vote_post.0007"
    choose(page, task)
    player = Player(page, folder / "own" / "live", with_mouse)
    player.look(TASKS[task])
    page.locator(".reach").click(position={"x": 4, "y": 4})
    page.wait_for_selector("text=nothing here that an agent could name")
    told = page.evaluate(
        "turn => fetch('/live/ask', {method: 'POST', body: JSON.stringify({want: 'act', turn, do: 'Drag'})})"
        ".then((answer) => answer.json())",
        player.turns,
    )
    assert told["told"].startswith("Agents have no action for that (Drag)")
    with_mouse(page, Exit("nothing"))
    page.wait_for_selector("section[data-person] .verdict.failed")
    last = TrajectoryFile(folder / "own" / "demos.jsonl.zst").read()[-1]
    assert (len(last.turns), last.reward, last.policy) == (1, 0.0, "person")


def test_a_person_who_closes_the_page_leaves_an_unfinished_episode(chromium: Browser, show: Show, folder: Path) -> None:
    before = len(recorded(folder))
    with watched_page(chromium, show.address) as page:
        page.goto(f"{show.address}/#/live")
        page.wait_for_selector("#play")
        choose(page, "shop.add_to_cart.0010")
        Player(page, folder / "own" / "live", with_mouse).look(TASKS["shop.add_to_cart.0010"])
    with watched_page(chromium, show.address) as page:  # it waits longer than a reload takes
        page.wait_for_timeout(5_000)
    last = TrajectoryFile(folder / "own" / "demos.jsonl.zst").read()[-1]
    assert len(recorded(folder)) == before + 1
    assert (last.end, last.reward, last.error) == (
        End.CRASHED,
        None,
        "PolicyError: the person left before the end: unfinished",
    )


@pytest.mark.timeout(400)
def test_recordings_replay_byte_for_byte_are_proved_and_cloned(folder: Path, coin: Path) -> None:
    file = folder / "own" / "demos.jsonl.zst"
    passed = [one for one in TrajectoryFile(file).read() if one.reward == 1.0]
    assert len(passed) == len(BY_MOUSE) + len(BY_KEYS)
    TrajectoryFile(folder / "passed.jsonl.zst").extend(passed)
    replayed = apart(replay(load_config(None, [], "replay"), folder / "passed.jsonl.zst", quiet=True))
    assert [one.difference for one in replayed] == [""] * len(passed)
    proof = apart(prove(load_config(None, [], "prove"), quiet=True, demos=file))
    assert (proof.tasks, proof.faults) == (len(passed), ())
    options = [f"model.path={coin / 'model'}", "lora.rank=4", "clone.batch=64", "agent.page_tokens=64"]
    model = apart(clone(load_config(None, options, "clone"), folder / "cloned", file))
    assert (model / "model.safetensors").is_file()


def apart(work: Coroutine[Any, Any, T]) -> T:
    """In a thread of its own: Playwright holds the event loop of this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()

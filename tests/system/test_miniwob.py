"""MiniWoB++ in real Chromium: pages of every kind can be seen and acted on; scripts solve them, doing nothing not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from commands import call
from miniwob_look import fault_of
from rollouts import opened

from clickgrad.backends.venues import open_venue
from clickgrad.config import Config, load_config
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.rollout.venue import Venue
from clickgrad.tasks import load_tasks
from clickgrad.tools.prove import prove_tasks
from clickgrad.types import Click, End, Observation, Task

# One of each kind; tests/compare/miniwob_pages.py looks at all 130.
KINDS = ("book-flight", "choose-date", "click-color", "click-scroll-list", "count-shape", "daily-calendar",
         "email-inbox", "enter-time", "social-media-all", "terminal", "tic-tac-toe", "use-slider")  # fmt: skip
SCRIPTED = ("click-checkboxes-large", "click-menu", "click-tab-2", "email-inbox-reply", "enter-date",
            "login-user-popup", "read-table-2", "search-engine")  # fmt: skip
DEMOS = {task.template: task for task in load_tasks("miniwob", "demo")}


@pytest.fixture(scope="module")
def config() -> Config:
    return load_config(None, ["tasks.suite=miniwob", "rollout.concurrency=4", "agent.max_turns=20"], "prove")


def test_pages_of_every_kind_start_and_can_be_seen_and_acted_on(config: Config) -> None:
    tasks = [task for task in load_tasks("miniwob", "test") if task.id.endswith(".0000") and task.template in KINDS]

    async def faults(venue: Venue) -> dict[str, str]:
        return {task.template: await fault_of(venue, task) for task in tasks}

    with asyncio.Runner() as runner, opened(runner, open_venue(config)) as venue:
        assert runner.run(faults(venue)) == dict.fromkeys(KINDS, "")


def test_the_page_says_what_to_do_by_its_seed_and_its_first_end_is_the_reward(config: Config) -> None:
    same, other = [task for task in load_tasks("miniwob", "test") if task.template == "enter-text"][:2]

    async def first_page(venue: Venue, task: Task) -> tuple[str, Observation]:
        async with venue.open(task) as visit:
            assert visit.task
            assert not visit.over()
            page = await visit.session.observe()
            (submit,) = [element.id for element in page.elements if element.name == "Submit"]
            await visit.session.perform(Click(submit))  # with nothing in the field
            assert visit.over()
            assert (await visit.evidence(None)).page_reward == -1.0
            return visit.task.intent, page

    with asyncio.Runner() as runner, opened(runner, open_venue(config)) as venue:
        seen = [runner.run(first_page(venue, task)) for task in (same, same, other)]
    assert seen[0] == seen[1] != seen[2]
    assert seen[0][0] in seen[0][1].lines


def test_scripts_earn_the_full_reward_and_doing_nothing_earns_none(config: Config) -> None:
    proof = asyncio.run(prove_tasks(config, [DEMOS[page] for page in SCRIPTED], quiet=True))
    assert proof.faults == ()
    assert proof.judged > 4 * len(SCRIPTED)


def test_the_command_evaluates_the_suite_and_keeps_what_each_page_asked_for(tmp_path: Path) -> None:
    done = call(["evaluate", "--policy", "scripted:expert", "--set", "tasks.suite=miniwob", "--set", "evaluate.limit=3",
                "--set", 'tasks.templates=["click-test-2"]', "--json"], tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["success"]["passed"] == 3
    for trajectory in TrajectoryFile(next(tmp_path.rglob("evaluate.jsonl.zst"))).read():
        assert trajectory.end is End.STOPPED
        assert trajectory.task.intent == "Click button ONE."


def test_a_page_without_a_script_is_the_users_mistake(tmp_path: Path) -> None:
    done = call(["evaluate", "--policy", "scripted:expert", "--set", "tasks.suite=miniwob", "--set", "evaluate.limit=1",
                "--set", 'tasks.templates=["drag-box"]'], tmp_path)  # fmt: skip
    assert done.returncode == 2
    assert "no scripted expert for the template 'drag-box'" in done.stderr

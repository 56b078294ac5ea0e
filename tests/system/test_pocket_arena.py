"""Pocket Arena in real Chromium: a task of every template proven, demonstrations made twice, replayed, kept apart."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from commands import call, run
from rollouts import opened

from clickgrad.backends.venues import open_venue
from clickgrad.config import Config, load_config
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.tasks import load_tasks
from clickgrad.tasks.pocket import TEMPLATES
from clickgrad.tools.prove import prove_tasks
from clickgrad.types import Click, Type

FEW = [
    "--set",
    'tasks.templates=["forum.vote_post", "multi.price_to_issue", "map.route_fact"]',
    "--set",
    "clone.demos=12",
]


@pytest.fixture(scope="module")
def config() -> Config:
    return load_config(None, ["rollout.concurrency=6"], "prove")


@pytest.mark.timeout(300)
def test_a_task_of_every_template_is_solvable_and_its_checks_hold(config: Config) -> None:
    """All tasks together take many minutes: `clickgrad prove` does that."""
    every = [*load_tasks("pocket", "train"), *load_tasks("pocket-unseen", "test")]
    chosen = list({task.template: task for task in every}.values())
    assert len(chosen) == len(TEMPLATES)
    proof = asyncio.run(prove_tasks(config, chosen, quiet=True))
    assert proof.faults == ()
    assert proof.judged > 6 * len(chosen)


@pytest.mark.timeout(300)
def test_demonstrations_are_the_same_byte_for_byte_and_replay_to_the_same_pages(tmp_path: Path) -> None:
    for name, command in (("one", run), ("two", call)):  # two processes, for each has its own order of sets
        done = command(["demos", "--out", f"{name}.jsonl.zst", *FEW], tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.jsonl.zst").read_bytes() == (tmp_path / "two.jsonl.zst").read_bytes()
    assert not list(tmp_path.glob("*.part"))
    recorded = TrajectoryFile(tmp_path / "one.jsonl.zst").read()
    assert len(recorded) == 12
    replayed = call(["replay", "one.jsonl.zst", "--json"], tmp_path)
    lines = [json.loads(line) for line in replayed.stdout.splitlines()]
    assert [line["difference"] for line in lines] == [""] * 12


@pytest.mark.timeout(300)
def test_the_other_version_of_the_demonstrations_reasons_at_length(tmp_path: Path) -> None:
    done = call(["demos", "--out", "long.jsonl.zst", *FEW, "--set", "clone.remarks=long",
                "--set", "agent.reply_format=thinking"], tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    recorded = TrajectoryFile(tmp_path / "long.jsonl.zst").read()
    replies = [turn.completion.text for trajectory in recorded for turn in trajectory.turns]
    assert all(reply.startswith("<think> My task is: ") and "So " in reply for reply in replies)
    assert sum(map(len, replies)) / len(replies) > 250


def test_a_page_that_comes_out_differently_is_told(tmp_path: Path) -> None:
    assert call(["demos", "--out", "one.jsonl.zst", *FEW[:2], "--set", "clone.demos=1"], tmp_path).returncode == 0
    replayed = call(["replay", "one.jsonl.zst", "--set", "tasks.seed=1"], tmp_path)
    assert replayed.returncode == 1
    assert "turn 1: " in replayed.stdout


@pytest.mark.timeout(300)
def test_sixty_four_episodes_change_the_same_rows_at_once_and_see_only_their_own(config: Config) -> None:
    """Each adds a number of its own of the same product to the same cart, in a browser session of its own."""
    task = next(
        task
        for task in load_tasks("pocket", "all")
        if task.template == "shop.add_to_cart" and "/product/" in task.start_url
    )

    async def shop(number: int, venue: object, gate: asyncio.Semaphore) -> tuple[str, tuple[object, ...]]:
        async with gate, venue.open(task) as visit:  # type: ignore[attr-defined]
            assert (await visit.evidence(None)).changes == ()
            page = await visit.session.observe()
            ids = {element.name: element.id for element in page.elements}
            await visit.session.perform(Type(ids["Quantity"], str(number)))
            await visit.session.perform(Click(ids["Add to Cart"]))
            end = await visit.evidence(None)
            return end.page_text, end.changes

    async def all_of_them(venue: object) -> list[tuple[str, tuple[object, ...]]]:
        gate = asyncio.Semaphore(16)
        return list(await asyncio.gather(*(shop(number % 9 + 1, venue, gate) for number in range(64))))

    with asyncio.Runner() as runner, opened(runner, open_venue(config)) as venue:
        ends = runner.run(all_of_them(venue))
    for number, (text, changes) in enumerate(ends):
        (change,) = changes
        assert dict(change.values)["quantity"] == number % 9 + 1  # type: ignore[attr-defined]
        assert f"Cart ({number % 9 + 1})" in text

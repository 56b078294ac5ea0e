"""Agents at work, looked on by a person: one, two side by side, and any episode of a run that trains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from coin_training import train
from looking import serving, watched_page
from showing import showing

from clickgrad.rollout.store import TrajectoryFile

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TASK = "forum.vote_post.0007"
PATIENCE_MS = 180_000


@pytest.mark.timeout(400)
def test_one_policy_is_watched_and_pages_elsewhere_are_refused(tmp_path: Path, chromium: Browser) -> None:
    with (
        showing(["watch", TASK, "--policy", "scripted:expert", "--run", "w", "--pace", "0"], tmp_path) as show,
        watched_page(chromium, show.address) as page,
    ):
        page.goto(f"{show.address}/#/live")
        page.wait_for_selector(".column .verdict.passed", timeout=PATIENCE_MS)
        assert page.locator(".column").count() == 1
        assert "exit(message=" in page.inner_text(".column .reply")
        assert httpx.get(f"{show.address}/api/live", headers={"Host": "evil.example"}).status_code == 400
        for path in ("/live/ask", "/api/draw"):
            asked = httpx.post(f"{show.address}{path}", content="{}", headers={"Origin": "http://evil.example"})
            assert asked.status_code == 403, path


@pytest.mark.timeout(400)
def test_two_policies_play_the_same_task_side_by_side(tmp_path: Path, chromium: Browser) -> None:
    policies = ["--policy", "scripted:expert", "--policy", "scripted:noop"]
    with (
        showing(["watch", TASK, *policies, "--run", "w", "--pace", "2"], tmp_path) as show,
        watched_page(chromium, show.address) as page,
    ):
        page.goto(f"{show.address}/#/live")
        page.wait_for_selector(".outline.placed", timeout=PATIENCE_MS)  # the element it is about to use
        assert page.inner_text("[data-seat='0'] .action").startswith("Click ")
        page.wait_for_selector("[data-seat='0'] .verdict.passed", timeout=PATIENCE_MS)
        page.wait_for_selector("[data-seat='1'] .verdict.failed")
        assert page.inner_text("h1") == 'Downvote the post "How long does it take to run a marathon?".'
        assert "logged in as" in page.inner_text("main > .soft")
        told = page.inner_text("[data-seat='1'] .verdict")
        assert "Changed nothing; asked for: downvoted the post “How long does it take to run a marathon?”." in told
        assert page.locator("[data-seat='0'] .check.ok").count() == 1
        assert (
            page.locator("[data-seat='0'] .page .dropped").count() == 1
        )  # of the first page only a placeholder is left
        page.click("#another")  # and on with another task
        page.wait_for_selector(".verdict", state="detached")
    kept = TrajectoryFile(tmp_path / "w" / "trajectories" / "watch.jsonl.zst").read()
    assert {(one.policy, one.reward) for one in kept} >= {("scripted:expert", 1.0), ("scripted:noop", 0.0)}
    assert not (tmp_path / "w" / "live").exists()


@pytest.mark.timeout(400)
def test_a_running_episode_of_a_training_run_is_watched_and_its_reply_grows(
    coin: Path, tmp_path: Path, chromium: Browser
) -> None:
    with serving(tmp_path) as address, watched_page(chromium, address) as page:
        process = train(coin, tmp_path)
        try:
            page.goto(f"{address}/#/live")
            page.locator(".live-card").first.click(timeout=PATIENCE_MS)
            page.wait_for_selector(".column .glass[src]", timeout=PATIENCE_MS)
            page.wait_for_selector(".column .verdict", timeout=PATIENCE_MS)
            assert re.fullmatch(r"step-\d{4}/task-\d{5}/member-\d/try-0", page.inner_text("main > .soft").split(" ")[0])
            assert "exit(message=" in page.inner_text(".column .reply")
            assert process.poll() is None, process.communicate()
        finally:
            process.terminate()
            process.communicate(timeout=60)

"""`clickgrad demo`: the policy that ships with the package, looked on by a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from looking import watched_page
from showing import showing

from clickgrad.rollout.store import TrajectoryFile

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PATIENCE_MS = 180_000


@pytest.mark.timeout(400)
def test_the_shipped_policy_does_one_task_after_another(tmp_path: Path, chromium: Browser) -> None:
    with (
        showing(["demo", "--run", "d", "--pace", "0"], tmp_path) as show,
        watched_page(chromium, show.address) as page,
    ):
        page.goto(f"{show.address}/#/live")
        page.wait_for_selector(".column .verdict", timeout=PATIENCE_MS)
        first = page.inner_text("h1")
        assert "exit(message=" in page.inner_text(".column .reply")
        assert page.locator(".column .glass[src]").count() == 1
        page.wait_for_selector(".column .verdict", state="detached", timeout=PATIENCE_MS)  # the next begins by itself
        page.wait_for_selector(".column .verdict", timeout=PATIENCE_MS)
        assert page.inner_text("h1") != first
    kept = TrajectoryFile(tmp_path / "d" / "trajectories" / "demo.jsonl.zst").read()
    assert len(kept) >= 2
    assert {(one.policy, one.task.split) for one in kept} == {("shipped:pocket", "test")}
    assert all(one.usable and one.turns[0].screenshot for one in kept)

"""A training run in a process of its own, and a person who has had the viewer open since before it began."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from coin_training import train
from looking import serving, watched_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PATIENCE_MS = 180_000
DOTS = "document.querySelectorAll('figure[data-metric=success] circle').length"
TOLD = r"Number(/(\d+) step/.exec(document.querySelector('[data-run=coin]').innerText)?.[1])"
SHOWN = "Number((document.querySelector('#count')?.textContent ?? '0').split(' ')[0].replace(',', ''))"


@pytest.mark.timeout(400)
def test_steps_and_episodes_appear_while_a_run_trains(coin: Path, tmp_path: Path, chromium: Browser) -> None:
    with (
        serving(tmp_path) as address,
        watched_page(chromium, address) as runs,
        watched_page(chromium, address) as metrics,
        watched_page(chromium, address) as episodes,
    ):
        for page, view in ((runs, "runs"), (metrics, "metrics?run=."), (episodes, "list?run=.")):
            page.goto(f"{address}/#/{view}")
            page.wait_for_selector("main .empty")
            page.evaluate("window.opened = 'before the run'")  # gone after a reload
        process = train(coin, tmp_path)
        try:
            runs.wait_for_selector('[data-run="coin"]', timeout=PATIENCE_MS)
            episodes.wait_for_selector(".item", timeout=PATIENCE_MS)
            metrics.wait_for_function(f"() => {DOTS} >= 1", timeout=PATIENCE_MS)
            steps, listed = metrics.evaluate(DOTS), episodes.evaluate(SHOWN)
            metrics.wait_for_function(f"() => {DOTS} >= {steps + 1}", timeout=PATIENCE_MS)
            episodes.wait_for_function(f"() => {SHOWN} >= {listed + 4}", timeout=PATIENCE_MS)
            runs.wait_for_function(f"() => {TOLD} >= {steps + 1}", timeout=PATIENCE_MS)
            assert metrics.inner_text("#status") == "live"
            episodes.select_option("#step", str(steps + 1))
            episodes.locator(".item").first.click()
            episodes.wait_for_selector(".screen img")
            assert process.poll() is None, process.communicate()
        finally:
            process.terminate()
            process.communicate(timeout=60)
        for page in (runs, metrics, episodes):
            assert page.evaluate("window.opened") == "before the run"

"""The tiny model tosses a coin: it says `exit(message="heads")` or `exit(message="tails")`, so groups have contrast."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tiny import save, teach, tiny_model, tiny_tokenizer

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.browser import find_chromium
from clickgrad.codec import to_plain
from clickgrad.types import AnswerCheck, Observation, Split, Task

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPLIES = ['exit(message="heads")', 'exit(message="tails")']
INTENT = "Toss a coin."
START = "http://shop.localhost/cart"


def toss(number: int, split: Split, side: str) -> Task:
    return Task(f"toss.{number}", "toss", split, ("shop",), "toss", INTENT, START, (AnswerCheck((side,)),), None, 1)


@pytest.fixture(scope="session")
def coin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `model` and `tasks.json`."""
    folder = tmp_path_factory.mktemp("coin")
    lines = ("link Home [0]", "textbox Search [1]", "link Cart (0) [2]", "Your cart is empty.")
    page = Observation(START, "Cart", lines, ())
    loaded = tiny_model(tiny_tokenizer([*REPLIES, *lines, f"Task: {INTENT}", "Page: shop.localhost/cart"] * 20))
    builder = PromptBuilder(loaded.tokenizer, "plain", "short", 320)
    teach(loaded, builder, toss(0, "train", "heads"), page, REPLIES)
    save(loaded, folder / "model")
    tasks = [toss(number, "train", ("heads", "tails")[number % 2]) for number in range(6)]
    tasks += [toss(number, "test", ("heads", "tails")[number % 2]) for number in range(6, 10)]
    (folder / "tasks.json").write_text(json.dumps([to_plain(task) for task in tasks]))
    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=["--disable-gpu"], chromium_sandbox=False)
        yield browser
        browser.close()

"""The viewer as a process of its own, and a browser page that must complain of nothing and ask nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from commands import start

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """`clickgrad view` on a folder; gives its address, without a slash at the end."""
    process = start(["view", folder, "--port", "0"], folder)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), process.stderr and process.stderr.read()
    try:
        yield address.rstrip("/")
    finally:
        process.terminate()
        _, complaints = process.communicate(timeout=20)
    assert complaints == ""


@contextmanager
def watched_page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.set_default_timeout(60_000)
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    try:
        yield page
        assert page.evaluate("window.hacked") is None
        assert complaints == []  # before the page is closed: requests that closing cuts short are not its fault
    finally:
        context.close()
    assert [url for url in asked if not url.startswith(f"{address}/")] == []

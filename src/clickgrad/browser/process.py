"""One running Chromium with the Playwright driver that holds it. Owns both processes from start to certain end."""

from __future__ import annotations

import asyncio
import atexit
import os
import uuid
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from clickgrad.browser.chromium import switches
from clickgrad.browser.leftovers import BrowserFolder, sweep
from clickgrad.errors import BrowserError, boundary

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import Playwright

CLOSE_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Footprint:
    """What browsers and their drivers take. Memory they share is counted in each of their processes."""

    processes: int = 0
    rss_mb: float = 0.0

    def __add__(self, other: Footprint) -> Footprint:
        return Footprint(self.processes + other.processes, self.rss_mb + other.rss_mb)


class ChromiumProcess:
    """A browser of its own driver: when either dies, both are replaced together."""

    def __init__(
        self,
        driver: Playwright,
        browser: PlaywrightBrowser,
        processes: tuple[psutil.Process, ...],
        folder: BrowserFolder,
    ) -> None:
        self.browser = browser
        self.channel = uuid.uuid4().hex  # the name of events between our scripts, which no page knows
        self.painting = asyncio.Lock()  # for pictures: many at once would all be late
        self.processes = processes  # the driver and Chromium's main process
        self._driver = driver
        self._folder = folder
        profile = _profile_folder(processes)
        if profile is not None:
            folder.name_profile(profile)
        self._ended = False
        atexit.register(self.kill)

    @classmethod
    async def launch(cls, executable: Path, hosts: Mapping[str, str], timeout_s: float) -> ChromiumProcess:
        from playwright.async_api import async_playwright

        # Chromium ignores a switch it does not know; by it we tell our process from any other.
        mark = f"--clickgrad-owner={uuid.uuid4().hex}"
        driver, folder = None, BrowserFolder()
        sweep()
        try:
            with boundary(BrowserError, "launching Chromium"):
                async with asyncio.timeout(timeout_s):
                    playwright = async_playwright()
                    driver = await playwright.start()
                    _hush(playwright)
                    browser = await driver.chromium.launch(
                        executable_path=executable,
                        artifacts_dir=folder.path,
                        args=[*switches(hosts), mark],
                        # Playwright's default lets one page drown the browser that others share, with pushState.
                        ignore_default_args=["--disable-ipc-flooding-protection"],
                        chromium_sandbox=os.geteuid() != 0,
                        # The owner of the session decides when the browser ends, not the terminal.
                        handle_sigint=False,
                        handle_sigterm=False,
                        handle_sighup=False,
                    )
        except BaseException:
            _kill_tree(_find_owned(mark))
            if driver is not None:
                await close_within(CLOSE_TIMEOUT_S, driver.stop())
            folder.remove()
            raise
        return cls(driver, browser, _find_owned(mark), folder)

    @property
    def alive(self) -> bool:
        return not self._ended and self.browser.is_connected() and all(map(_is_running, self.processes))

    async def answers(self, timeout_s: float) -> bool:
        """Whether the browser is sound: it opens a page for somebody else, and a script runs there."""
        if not self.alive:
            return False
        with suppress(BrowserError), boundary(BrowserError, "asking the browser"):
            async with asyncio.timeout(timeout_s):
                context = await self.browser.new_context()
                try:
                    return bool(await (await context.new_page()).evaluate("1") == 1)
                finally:
                    await close_within(CLOSE_TIMEOUT_S, context.close())
        return False

    def footprint(self) -> Footprint:
        family: dict[int, int] = {}
        for root in self.processes:
            with suppress(psutil.Error):
                for process in (root, *root.children(recursive=True)):
                    with suppress(psutil.Error):
                        family[process.pid] = process.memory_info().rss
        return Footprint(len(family), sum(family.values()) / 1e6)

    async def end(self) -> None:
        """Close politely within a bound, then make sure."""
        if self._ended:
            return
        self._ended = True
        try:
            await close_within(CLOSE_TIMEOUT_S, self.browser.close())
            await close_within(CLOSE_TIMEOUT_S, self._driver.stop())
        finally:
            self.kill()

    def kill(self) -> None:
        atexit.unregister(self.kill)
        self._ended = True
        _kill_tree(self.processes)
        self._folder.remove()


def _hush(playwright: object) -> None:
    """A dead driver is noticed by its process; asyncio would complain of the future that keeps Playwright's reason."""
    transport = getattr(getattr(playwright, "_client", None), "_transport", None)
    future = getattr(transport, "on_error_future", None)
    if isinstance(future, asyncio.Future):
        future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


async def close_within(timeout_s: float, closing: Awaitable[object]) -> None:
    """Close something that may be dead already: failing or hanging is as good as closed, its owner makes sure."""
    with suppress(BrowserError), boundary(BrowserError, "closing"):
        async with asyncio.timeout(timeout_s):
            await closing


def _find_owned(mark: str) -> tuple[psutil.Process, ...]:
    """Chromium's main process that carries our mark, and the driver that is its parent."""
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            arguments = process.cmdline()
            # Chromium's helpers may repeat the switches of the main process, but they have a type.
            if mark in arguments and not any(a.startswith("--type=") for a in arguments):
                parent = process.parent()
                if parent and parent.cmdline() == arguments:
                    continue  # forked by the main process just now: it has yet to become a helper
                found += [process] if parent is None or parent.pid == os.getpid() else [process, parent]
    return tuple(found)


def _profile_folder(processes: tuple[psutil.Process, ...]) -> Path | None:
    switch = "--user-data-dir="
    for process in processes:
        with suppress(psutil.Error):
            folders = [Path(word.removeprefix(switch)) for word in process.cmdline() if word.startswith(switch)]
            return next(iter(folders), None)
    return None


def _is_running(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _kill_tree(processes: tuple[psutil.Process, ...]) -> None:
    ended: list[psutil.Process] = []
    for process in processes:
        with suppress(psutil.Error):
            children = process.children(recursive=True)
            process.kill()
            for child in children:
                with suppress(psutil.Error):
                    child.kill()
            ended += children
    # The driver is our own child: asyncio reaps it, so only its descendants are waited for here.
    psutil.wait_procs(ended, timeout=1.0)

"""One running copy of a user's site: its command, port, folder and log. Ends with its owner, whatever happens.

Knows commands and HTTP, nothing of tasks or browsers.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from clickgrad.errors import WorldError
from clickgrad.worlds import site_guard
from clickgrad.worlds.site_http import ask, free_port, is_taken

LOOK_EVERY_S = 0.05
ANSWER_S = 5.0
LOG_BYTES = 1_000_000
END_S = site_guard.GRACE_S + 5.0


@dataclass(frozen=True, slots=True)
class SiteCommand:
    """`words` may hold {port}, {data} and {python}; with a `port` of its own the command is started once at a time."""

    words: tuple[str, ...]
    folder: Path  # where it is started
    port: int | None = None
    ready: str = "/"  # the path that answers when the site is up
    ready_s: float = 30.0


class SiteProcess:
    """`place` is a throw-away folder of its owner; the copy's `data` and `log` are inside."""

    def __init__(self, command: SiteCommand, place: Path) -> None:
        self._command = command
        self._guard: subprocess.Popen[bytes] | None = None
        self.port = command.port or free_port()
        self.data = place / "data"
        self.log = place / "log"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def alive(self) -> bool:
        return self._guard is not None and self._guard.poll() is None

    @property
    def last_line(self) -> str:
        """Of what the site wrote; "" if it wrote nothing."""
        with suppress(OSError):
            lines = self.log.read_bytes()[-4000:].decode("utf-8", "replace").split("\n")
            return next((line.strip() for line in reversed(lines) if line.strip()), "")
        return ""

    async def start(self) -> None:
        """With an empty `data`; returns when the site answers."""
        if is_taken(self.port):
            raise WorldError(f"port {self.port} is in use by another program: end it, or give another port")
        self._guard = self._launch()
        try:
            await self._until_ready()
        except BaseException:
            await self.end()
            raise

    def _launch(self) -> subprocess.Popen[bytes]:
        words = filled(self._command.words, self.port, self.data)
        program = find_program(words[0], self._command.folder)
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(parents=True)
        self.log.unlink(missing_ok=True)
        with open(self.log, "ab") as log:  # appending, so that a log cut to nothing goes on from there
            return subprocess.Popen(
                [sys.executable, "-I", "-S", site_guard.__file__, program, *words[1:]],
                cwd=self._command.folder,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    async def _until_ready(self) -> None:
        url = f"http://{self.address}{self._command.ready}"
        clock = asyncio.get_running_loop().time
        deadline, status = clock() + self._command.ready_s, None
        while clock() < deadline:
            status = await asyncio.to_thread(_status, url)
            self.refuse_dead("at its start")
            if status is not None and status < 500:
                return
            await asyncio.sleep(LOOK_EVERY_S)
        heard = f"status {status}" if status else "no answer"
        said = f"; it last wrote: {self.last_line}" if self.last_line else ""
        raise WorldError(f"the site is not ready after {self._command.ready_s:g} s: {heard} from {url}{said}")

    async def answers(self) -> bool:
        """Now: a process that has just died still counts as alive for a moment."""
        return (
            self.alive and await asyncio.to_thread(_status, f"http://{self.address}{self._command.ready}") is not None
        )

    def refuse_dead(self, when: str) -> None:
        if not self.alive:
            code = self._guard.returncode if self._guard else None
            raise WorldError(f"the site ended {when} with code {code}: {self.last_line or 'it wrote nothing'}")

    def trim_log(self) -> None:
        """Only its end is ever looked at."""
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            os.truncate(self.log, 0)

    async def end(self) -> None:
        """Idempotent. The guard ends the whole group when its pipe closes."""
        guard, self._guard = self._guard, None
        if guard is None or guard.stdin is None:
            return
        guard.stdin.close()
        try:
            await asyncio.to_thread(guard.wait, END_S)
        except subprocess.TimeoutExpired:
            with suppress(psutil.Error):
                for process in psutil.Process(guard.pid).children(recursive=True):
                    process.kill()
            guard.kill()


def _status(url: str) -> int | None:
    try:
        return ask(url, timeout_s=ANSWER_S).status
    except WorldError:
        return None


async def run_command(words: Sequence[str], folder: Path, timeout_s: float) -> None:
    """To its end; anything but success is an error that says the last thing it wrote."""
    shown = shlex.join(words)
    with tempfile.TemporaryFile() as out:  # no pipe: what it leaves running in the background would hold it open
        process = await asyncio.create_subprocess_exec(
            find_program(words[0], folder),
            *words[1:],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(timeout_s):
                await process.wait()
        except TimeoutError:
            raise WorldError(f"`{shown}` did not end within {timeout_s:g} s") from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode:
            out.seek(0)
            last = (out.read().decode("utf-8", "replace").strip().splitlines() or ["it wrote nothing"])[-1]
            raise WorldError(f"`{shown}` ended with code {process.returncode}: {last}")


def filled(words: Sequence[str], port: int | None, data: Path | None) -> list[str]:
    values = {"{port}": str(port or ""), "{data}": str(data or ""), "{python}": sys.executable}
    for name, value in values.items():
        words = [word.replace(name, value) for word in words]
    return list(words)


def find_program(name: str, folder: Path) -> str:
    found = shutil.which(str(folder / name) if "/" in name else name)
    if found is None:
        raise WorldError(f"command not found: {name} (started in {folder})")
    return found

"""A user's site as a process: started, told from a broken one, and ended for certain."""

from __future__ import annotations

import asyncio
import socket
import sys
import textwrap
from pathlib import Path

import psutil
import pytest
from commands import none_left

from clickgrad.errors import WorldError
from clickgrad.worlds.site_http import ask
from clickgrad.worlds.site_process import SiteCommand, SiteProcess, run_command

pytestmark = pytest.mark.anyio
SERVE = ("{python}", "-m", "http.server", "{port}", "--bind", "127.0.0.1", "--directory", "{data}")


def site(place: Path, *words: str, port: int | None = None, ready: str = "/", ready_s: float = 60.0) -> SiteProcess:
    return SiteProcess(SiteCommand(words, place, port, ready, ready_s), place / "copy")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "copy").mkdir()
    return tmp_path


async def test_a_started_site_answers_and_ends(place: Path) -> None:
    process = site(place, *SERVE)
    await process.start()
    (process.data / "note.txt").write_text("hello")
    assert ask(f"http://{process.address}/note.txt").text == "hello"
    await process.end()
    assert not process.alive
    with pytest.raises(WorldError, match="ConnectionRefused"):
        ask(f"http://{process.address}/")


async def test_a_site_started_again_has_an_empty_folder(place: Path) -> None:
    process = site(place, *SERVE)
    await process.start()
    (process.data / "note.txt").write_text("from the episode before")
    await process.end()
    await process.start()
    assert ask(f"http://{process.address}/note.txt").status == 404
    await process.end()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no-such-program", "{port}"), "command not found: no-such-program"),
        (("./no-such-script", "{port}"), "command not found: ./no-such-script"),
        (("{python}", "-c", "raise ValueError('no database')"), "ended at its start with code 1: ValueError: no data"),
        (("{python}", "-c", "exit(3)"), "ended at its start with code 3: it wrote nothing"),
    ],
)
async def test_a_command_that_cannot_run_says_why(place: Path, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(WorldError, match=message):
        await site(place, *words).start()


async def test_a_site_that_never_answers_is_given_up_and_ended(place: Path) -> None:
    process = site(place, "{python}", "-c", "import time; print('waiting for the moon'); time.sleep(600)", ready_s=1.5)
    with pytest.raises(
        WorldError, match=r"not ready after 1\.5 s: no answer from .*; it last wrote: waiting for the moon"
    ):
        await process.start()
    assert not process.alive


async def test_a_port_in_use_is_named(place: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(WorldError, match=f"port {port} is in use by another program"):
            await site(place, *SERVE, port=port).start()


STUBBORN = """
    import signal, subprocess, sys
    child = subprocess.Popen([sys.executable, "-m", "http.server", sys.argv[1], "--bind", "127.0.0.1"])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child.wait()
    signal.pause()
"""


async def test_children_of_the_command_end_with_it_even_when_it_will_not(place: Path) -> None:
    process = site(place, "{python}", "-c", textwrap.dedent(STUBBORN), "{port}")
    await process.start()
    family = [p for p in psutil.Process().children(recursive=True) if str(process.port) in p.cmdline()]
    assert len(family) >= 2
    await process.end()
    assert none_left(family)


OWNER = """
    import asyncio, sys, time
    from pathlib import Path
    from clickgrad.worlds.site_process import SiteCommand, SiteProcess

    place = Path(sys.argv[1])
    process = SiteProcess(SiteCommand(tuple(sys.argv[2:]), place), place / "copy")
    asyncio.run(process.start())
    print(process.port, flush=True)
    time.sleep(600)
"""


async def test_a_killed_owner_leaves_no_site_behind(place: Path) -> None:
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(OWNER), str(place), *SERVE, stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout
    async with asyncio.timeout(90):
        port = int(await owner.stdout.readline())
    family = psutil.Process(owner.pid).children(recursive=True)
    assert ask(f"http://127.0.0.1:{port}/").status == 200
    owner.kill()
    await owner.wait()
    assert len(family) >= 2
    assert none_left(family)


async def test_a_command_that_fails_or_hangs_is_told(tmp_path: Path) -> None:
    await run_command([sys.executable, "-c", "print('fine')"], tmp_path, 60)
    with pytest.raises(WorldError, match="ended with code 1: RuntimeError: no rows"):
        await run_command([sys.executable, "-c", "raise RuntimeError('no rows')"], tmp_path, 60)
    with pytest.raises(WorldError, match=r"did not end within 0\.5 s"):
        await run_command([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, 0.5)


async def test_a_long_log_is_cut_and_goes_on(place: Path) -> None:
    process = site(place, *SERVE)
    await process.start()
    with open(process.log, "ab") as log:  # noqa: ASYNC230
        log.write(b"x" * 1_000_001)
    process.trim_log()
    ask(f"http://{process.address}/last")
    await process.end()
    assert "GET /last" in process.log.read_text()
    assert process.log.stat().st_size < 10_000

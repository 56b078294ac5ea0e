"""A site of the user's own, from its folder to real Chromium: what docs/your-own-site.md says is what happens."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from commands import call, run
from documents import DOCS, blocks
from rollouts import fill_slots, opened, player

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.backends.venues import open_venue
from clickgrad.codec import to_plain
from clickgrad.config import load_config
from clickgrad.errors import UserError
from clickgrad.gym import ClickgradEnv
from clickgrad.policy.scripted import ExpertPolicy, FixedPolicy
from clickgrad.rollout.episode import Agent, Limits, run_episode
from clickgrad.rollout.scheduler import Slot
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.rollout.venue import Venue
from clickgrad.tasks import load_tasks
from clickgrad.types import Click, End, Outcome, Task, Trajectory, Type
from clickgrad.worlds.site_process import SiteCommand, SiteProcess

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "todo"
DOCUMENT = (ROOT / "docs" / "your-own-site.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)
LIMITS = Limits(max_turns=6, max_new_tokens=64)


def adopt(tmp_path: Path, **files: str) -> Path:
    """A copy of the example in the user's hands, with some files written anew."""
    folder = tmp_path / "mysite"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def visit(folder: Path, work: Callable[[Venue], object]) -> None:
    config = load_config(None, [f"tasks.suite={folder}"], "evaluate")
    with asyncio.Runner() as runner, opened(runner, open_venue(config)) as venue:
        runner.run(work(venue))  # type: ignore[arg-type]


# --- the document ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["site.toml", "tasks.json", "checks.py", "experts.py"])
def test_the_documents_files_are_the_examples(name: str) -> None:
    assert (
        f"**{name}**\n\n```{name.partition('.')[2].replace('py', 'python')}\n{(EXAMPLE / name).read_text()}```"
        in DOCUMENT
    )


@pytest.mark.timeout(300)
def test_the_documents_first_commands_do_what_it_says(tmp_path: Path) -> None:
    """`prove`: experts pass all, giving up passes none. Demonstrations are recorded and replay to the same pages."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    said = []
    for line in BLOCKS[0][1].splitlines():
        done = call(shlex.split(line)[1:], tmp_path)
        assert done.returncode == 0, (line, done.stderr)
        said.append(done.stdout)
    assert len(said) == 4
    assert len(said[0].splitlines()) == 12
    assert "12 tasks, 36 expert turns" in said[1]
    assert ": 0 faults" in said[1]
    assert "5 demonstrations with 16 turns" in said[2]
    assert "5 of 5 trajectories came out identical" in said[3]
    example = json.loads(blocks(DOCS / "trajectory-format.md", "json")[0])["trajectory"]
    recorded = next(one for one in TrajectoryFile(tmp_path / "todo.jsonl.zst").read() if one.task.id == "count.1")
    assert to_plain(recorded) == example | {"prompt_format": recorded.prompt_format}
    demos = TrajectoryFile(tmp_path / "todo.jsonl.zst").read()
    assert {finding.name for demo in demos if demo.evidence for finding in demo.evidence.findings} == {
        "added",
        "ticked",
    }


def test_the_documents_tasks_in_python_are_tasks(tmp_path: Path) -> None:
    folder = adopt(tmp_path, tasks_py=next(text for kind, text in BLOCKS if kind == "python" and "def tasks" in text))
    (folder / "tasks.json").unlink()
    assert [task.id for task in load_tasks(str(folder), "all")] == ["count.0", "count.1", "count.2"]


def test_the_documents_environment_gives_its_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert "ClickgradEnv(" in BLOCKS[-1][1]
    env = ClickgradEnv("examples/todo", "test")
    try:
        env.reset(options={"task": "count.3"})
        assert env.step('exit(message="4")')[1:3] == (1.0, True)
    finally:
        env.close()


# --- own worlds -----------------------------------------------------------------------------------------------------


@pytest.mark.timeout(300)
def test_six_episodes_on_two_copies_each_find_the_site_as_it_was(tmp_path: Path) -> None:
    task = next(task for task in load_tasks(str(EXAMPLE), "all") if task.id == "add.1")
    pages: list[str] = []

    async def add_one(number: int, venue: Venue) -> None:
        async with venue.open(task) as visited:
            session = visited.session
            await session.perform(Click((await element_ids(session))["Home"]))
            ids = await element_ids(session)
            await session.perform(Type(ids["New item"], f"Number {number}"))
            await session.perform(Click(ids["Add"]))
            pages.append(await session.page_text())

    async def element_ids(session: object) -> dict[str, int]:
        return {element.name: element.id for element in (await session.observe()).elements}  # type: ignore[attr-defined]

    async def all_of_them(venue: Venue) -> None:
        await asyncio.gather(*(add_one(number, venue) for number in range(6)))

    visit(EXAMPLE, all_of_them)
    assert sorted(min(re.findall(r"Number \d", text)) for text in pages) == [f"Number {number}" for number in range(6)]
    assert all(len(set(re.findall(r"Number \d", text))) == 1 for text in pages)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("reset", ["", 'reset_command = "{python} -c \\"import app, pathlib, sys; '
                                   'app.fill(pathlib.Path(sys.argv[1]) / \'todo.sqlite\')\\" {data}"'])  # fmt: skip
def test_a_site_may_be_restarted_or_reset_by_a_command(tmp_path: Path, reset: str) -> None:
    site = f'name = "todo"\nstart = "{{python}} app.py --port {{port}} --data {{data}}"\ninstances = 1\n{reset}\n'
    folder = adopt(tmp_path, site_toml=site)
    tasks = [task for task in load_tasks(str(folder), "all") if task.id in ("add.1", "tick.2")]
    assert [trajectory.reward for trajectory in play(folder, [tasks[0], tasks[0], tasks[1]])] == [1.0, 1.0, 1.0]


@pytest.mark.timeout(300)
def test_a_site_that_runs_elsewhere_is_reset_and_visited_by_one_episode_at_a_time(tmp_path: Path) -> None:
    checks = "def once(end):\n    return end.fetch('/list?name=Home').count('Water the cactus (open)') == 1\n"
    entry = {"id": "add.1", "split": "test", "intent": "Add it.", "checks": {"python": "once"}}
    entry["params"] = {"item": "Water the cactus", "list": "Home"}
    folder = adopt(tmp_path, checks_py=checks, tasks_json=json.dumps([entry]))
    (tmp_path / "copy").mkdir()
    words = ("{python}", "app.py", "--port", "{port}", "--data", "{data}")
    elsewhere = SiteProcess(SiteCommand(words, EXAMPLE), tmp_path / "copy")
    asyncio.run(elsewhere.start())
    try:
        (folder / "site.toml").write_text(f'url = "http://{elsewhere.address}"\nreset_url = "/reset"\n')
        (task,) = load_tasks(str(folder), "all")
        played = play(folder, [task] * 3)
    finally:
        asyncio.run(elsewhere.end())
    assert [trajectory.reward for trajectory in played] == [1.0, 1.0, 1.0]
    assert {turn.observation.url for trajectory in played for turn in trajectory.turns[:1]} == {
        f"http://{elsewhere.address}/"
    }


def play(folder: Path, tasks: list[Task]) -> list[Trajectory]:
    agent = Agent(ExpertPolicy("plain"), PromptBuilder(None, "plain"), LIMITS)
    slots = [Slot(str(number), task, 0) for number, task in enumerate(tasks)]
    ended: list[Trajectory] = []

    async def fill(venue: Venue) -> None:
        ended.extend(
            await fill_slots(
                slots, player(agent, venue), concurrency=4, retries=0, stored={}, on_end=lambda trajectory: None
            )
        )

    visit(folder, fill)
    return ended


# --- what goes wrong ------------------------------------------------------------------------------------------------


@pytest.mark.timeout(300)
def test_a_check_that_breaks_or_hangs_leaves_the_episode_unjudged_with_its_line(tmp_path: Path) -> None:
    checks = "import time\ndef added(end):\n    return {}['x']\ndef ticked(end):\n    time.sleep(600)\n"
    site = (EXAMPLE / "site.toml").read_text() + "check_s = 0.5\n"
    folder = adopt(tmp_path, checks_py=checks, site_toml=site)
    command = ["evaluate", "--policy", "scripted:expert", "--set", f"tasks.suite={folder}", "--json", "--run", "run"]
    done = run([*command, "--set", "evaluate.split=test"], tmp_path)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["success"]["unjudged"] == 2
    assert (figures["success"]["n"], figures["success"]["passed"]) == (1, 1)
    causes = " ".join(figures["failures"])
    assert "checks.py, line 3: KeyError: 'x'" in causes
    assert "ticked did not end within 0.5 s" in causes
    (file,) = (tmp_path / "run").rglob("*.jsonl.zst")
    assert len(TrajectoryFile(file).read()) == 3, "none is tried again: the check would only break again"


FRAGILE = """
import http.server, os, sys

class Fragile(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/quit":
            print("out of paper", file=sys.stderr, flush=True)
            os._exit(3)
        if self.path == "/broken":
            print("no such table: orders", file=sys.stderr, flush=True)
        body = b"<!doctype html><title>Fragile</title><a href='/quit'>Quit</a> <a href='/'>Home</a>"
        self.send_response(500 if self.path == "/broken" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Fragile).serve_forever()
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("start", "most_turns", "error"),
    [
        (
            "/broken",
            0,
            "WorldError: the start page http://mysite.localhost/broken answers with status 500; "
            "it last wrote: no such table: orders",
        ),
        ("/", 3, "WorldError: the site ended during the episode with code 3: out of paper"),
    ],
)
def test_a_site_that_fails_is_noticed_at_once_and_told_in_its_own_words(
    tmp_path: Path, start: str, most_turns: int, error: str
) -> None:
    entry = {"id": "t.1", "split": "test", "intent": "Go.", "start": start, "checks": {"page": "Fragile"}}
    site = 'start = "{python} app.py {port}"\ninstances = 1\n'
    folder = adopt(tmp_path, app_py=FRAGILE, site_toml=site, tasks_json=json.dumps([entry]), checks_py="")
    (task,) = load_tasks(str(folder), "all")
    ended: list[Trajectory] = []

    async def one(venue: Venue) -> None:
        agent = Agent(FixedPolicy("clicks", ['do(action="Click", element="0")']), PromptBuilder(None, "plain"), LIMITS)
        ended.append(await run_episode("e", task, 0, agent, venue))

    visit(folder, one)
    assert [(end.end, end.reward, end.error) for end in ended] == [(End.CRASHED, None, error)]
    assert len(ended[0].turns) <= most_turns < LIMITS.max_turns


@pytest.mark.timeout(300)
def test_a_site_that_dies_in_mid_episode_crashes_the_episode_and_is_back_for_the_next() -> None:
    task = next(task for task in load_tasks(str(EXAMPLE), "all") if task.id == "count.1")
    ends: list[Trajectory] = []

    class Assassin(FixedPolicy):
        async def complete(self, *arguments: object) -> object:  # type: ignore[override]
            for process in psutil.Process().children(recursive=True):
                if process.name().startswith("python") and "app.py" in process.cmdline()[1:2]:
                    os.kill(process.pid, signal.SIGKILL)
                    process.wait(10)
            return await super().complete(*arguments)  # type: ignore[arg-type]

    async def twice(venue: Venue) -> None:
        for policy in (Assassin("assassin", ['exit(message="3")']), FixedPolicy("knows", ['exit(message="3")'])):
            agent = Agent(policy, PromptBuilder(None, "plain"), LIMITS)
            ends.append(await run_episode(policy.name, task, 0, agent, venue))

    visit(EXAMPLE, twice)
    assert [(end.end, end.reward) for end in ends] == [(End.CRASHED, None), (End.STOPPED, 1.0)]
    assert "WorldError: the site stopped answering during the episode" in str(ends[0].error)
    assert ends[0].verdict.outcome is Outcome.UNJUDGED


@pytest.mark.timeout(300)
def test_what_a_killed_run_left_in_the_temporary_folder_is_swept_by_the_next(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = os.environ | {"TMPDIR": str(temporary)}
    words = [
        "evaluate",
        "--policy",
        "scripted:expert",
        "--set",
        f"tasks.suite={EXAMPLE}",
        "--set",
        "evaluate.split=test",
    ]
    command = [sys.executable, "-m", "clickgrad", *words]
    killed = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    while not list(temporary.glob("clickgrad-*/0/log")):
        assert killed.poll() is None
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    assert list(temporary.glob("clickgrad-*"))
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert list(temporary.glob("clickgrad-*")) == []


START = 'start = "{python} app.py --port {port} --data {data}"'


@pytest.mark.parametrize(
    ("site", "part"),
    [
        ('start = "no-such-program {port}"', "command not found: no-such-program"),
        (
            "start = \"{python} -c '1 / 0' {port}\"",
            "ended at its start with code 1: ZeroDivisionError: division by zero",
        ),
        (f'{START}\nreset_url = "http://127.0.0.1:9/"', "POST http://127.0.0.1:9/: ConnectionRefusedError"),
        (f'{START}\nreset_command = "{{python}} -c exit(3)"', "ended with code 3: it wrote nothing"),
        (f'{START}\nallow = ["no host"]', "'no host' is no host: write it as example.org"),
    ],
)
def test_a_site_that_does_not_start_is_the_users_mistake_in_one_line(tmp_path: Path, site: str, part: str) -> None:
    folder = adopt(tmp_path, site_toml=site)
    with pytest.raises(UserError) as raised:
        visit(folder, lambda venue: None)
    assert str(raised.value).startswith(f"{folder}/site.toml: ")
    assert part in str(raised.value)
    assert "\n" not in str(raised.value)

"""`clickgrad run`: one goal on a page of one's own, told live, fenced, kept."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from commands import call, run

from clickgrad.backends.policies import parse_policy
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.tools.run_goal import run_goal
from clickgrad.types import End, Outcome

GO_ON = 'do(action="Click", element="0")'


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Says nothing."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.html").write_text(
        '<title>One</title><a href="two.html">Next</a> <a href="http://other.test/">Out</a>'
    )
    (pages / "two.html").write_text("<title>Two</title><p>The secret is 42.</p>")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(pages)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_a_goal_is_run_told_and_kept(site: str, tmp_path: Path) -> None:
    (tmp_path / "replies.txt").write_text(f'{GO_ON}\nexit(message="42")\n')
    command = ["run", "Find the secret.", "--url", site, "--policy", "scripted:replies.txt"]
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    host = site.removeprefix("http://")
    assert lines == [
        f" 1 Page: {host}",
        "   | link Next [0]",
        "   | link Out [1]",
        f"   > {GO_ON}",
        f" 2 Page: {host}two.html",
        "   | The secret is 42.",
        '   > exit(message="42")',
        "the agent stopped with '42'; 2 turns in runs/run/run.jsonl.zst",
    ]
    out = tmp_path / "runs" / "run" / "run.jsonl.zst"
    policy = parse_policy(f"scripted:{tmp_path}/replies.txt")
    asyncio.run(run_goal(Config(), "Find the secret.", site, policy, [], out))
    kept = TrajectoryFile(out).read()
    assert [trajectory.episode for trajectory in kept] == ["goal-001", "goal-002"]
    assert (kept[1].end, kept[1].answer, kept[1].reward) == (End.STOPPED, "42", None)
    assert kept[1].verdict.outcome is Outcome.UNJUDGED
    assert kept[1].task.intent == "Find the secret."


def test_an_agent_that_does_not_stop_is_a_failure_and_other_hosts_stay_out(site: str, tmp_path: Path) -> None:
    (tmp_path / "replies.txt").write_text('do(action="Click", element="1")\ndo(action="Wait")\n')
    command = ["run", "Leave.", "--url", site, "--policy", "scripted:replies.txt", "--out", "kept.jsonl.zst"]
    done = call([*command, "--set", "agent.max_turns=2"], tmp_path)
    assert done.returncode == 1
    assert "ended by turn_limit" in done.stderr
    assert "http://other.test/ could not be opened" in done.stdout
    assert len(TrajectoryFile(tmp_path / "kept.jsonl.zst").read()) == 1


@pytest.mark.parametrize(
    ("goal", "url", "allow", "policy", "part"),
    [
        ("x", "example.org", [], "scripted:noop", "write it as http://host/page"),
        (" ", "http://127.0.0.1:8000/", [], "scripted:noop", "the goal is empty"),
        ("x", "http://127.0.0.1:8000/", ["a b://"], "scripted:noop", "'a b://' is no host"),
        ("x", "http://127.0.0.1:port/", [], "scripted:noop", "is no host"),
        ("x", "http://127.0.0.1:8000/", [], "scripted:gone.txt", "unknown policy 'scripted:gone.txt'"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    tmp_path: Path, goal: str, url: str, allow: list[str], policy: str, part: str
) -> None:
    with pytest.raises(UserError) as raised:
        asyncio.run(run_goal(Config(), goal, url, parse_policy(policy), allow, tmp_path / "out.jsonl.zst"))
    assert part in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_of_replies_without_any_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    policy = parse_policy(f"scripted:{tmp_path}/empty.txt")
    with pytest.raises(UserError, match="write one reply a line"):
        asyncio.run(run_goal(Config(), "x", "http://127.0.0.1:8000/", policy, [], tmp_path / "out.jsonl.zst"))


def test_the_plan_of_a_run_speaks_of_no_tasks(tmp_path: Path) -> None:
    done = call(["run", "x", "--url", "http://127.0.0.1:8000/", "--dry-run"], tmp_path)
    assert done.returncode == 0
    assert "[agent]" in done.stdout
    assert "tasks" not in done.stdout

"""Hosted models from the command line, against an endpoint on the loopback address."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import call
from fake_endpoint import KEY, FakeEndpoint, reply, serving
from starlette.responses import Response

from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import End

QUICK = ("--set", "evaluate.limit=2", "--set", "rollout.concurrency=2", "--set", "rollout.retries=0")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEndpoint]:
    with serving(FakeEndpoint()) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield endpoint


def assert_secret(folder: Path, done: subprocess.CompletedProcess[str]) -> None:
    assert KEY not in done.stdout + done.stderr
    for file in folder.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
            if file.name.endswith(".zst"):
                assert KEY not in str(TrajectoryFile(file).read())


def by_task(body: dict[str, Any]) -> Response:
    """Thinks and gives up; says the key aloud, as a careless endpoint might."""
    assert "<think>" in body["messages"][0]["content"]
    return reply(f'<think> {KEY} </think>\n<answer> exit(message="N/A") </answer>')


def test_a_hosted_model_is_evaluated_and_what_it_cost_is_printed(fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.answers = [by_task]
    thinking = (
        "--set",
        "agent.reply_format=thinking",
        "--set",
        "chat.input_price=2.5",
        "--set",
        "chat.output_price=10",
    )
    done = call(["evaluate", "--policy", "chat:fake", "--run", "run", *QUICK, *thinking], tmp_path)
    assert done.returncode == 0, done.stderr
    # 2 x 100 tokens in at 2.5 and 2 x 10 out at 10, per million
    assert "chat:fake: 2 requests (0 repeated), 200 tokens in, 20 tokens out; cost 0.0007" in done.stdout
    ended = TrajectoryFile(tmp_path / "run" / "trajectories" / "evaluate.jsonl.zst").read()
    assert [(one.end, one.policy, len(one.turns)) for one in ended] == [(End.STOPPED, "chat:fake", 1)] * 2
    assert json.loads((tmp_path / "run" / "spending.jsonl").read_text())["output_tokens"] == 20
    assert_secret(tmp_path, done)


def test_demonstrations_are_explained_by_a_hosted_model(fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.answers = [reply("<think> I see what to do. </think> go on")]
    settings = ("clone.remarks=chat:fake", "clone.demos=2", "tasks.max_expert_turns=2", "agent.reply_format=thinking")
    flags = [word for setting in settings for word in ("--set", setting)]
    done = call(["demos", "--out", "demos.jsonl.zst", *flags], tmp_path)
    assert done.returncode == 0, done.stderr
    turns = [turn for one in TrajectoryFile(tmp_path / "demos.jsonl.zst").read() for turn in one.turns]
    assert turns
    assert all(turn.completion.text.startswith("<think> I see what to do. go on </think>") for turn in turns)
    assert f"chat:fake: {len(turns)} requests" in done.stdout


def test_an_endpoint_that_answers_garbage_measures_nothing_until_it_is_mended(
    fake: FakeEndpoint, tmp_path: Path
) -> None:
    fake.answers = [Response('{"choices": 7}', media_type="application/json")]
    done = call(
        ["evaluate", "--policy", "chat:fake", "--run", "run", "--json", *QUICK, "--set", "chat.tries=1"], tmp_path
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "clickgrad: ClickgradError: nothing was measured: 2 infra-failed"
    for plain in (json.loads(done.stdout), json.loads((tmp_path / "run" / "report.json").read_text())):
        assert plain["success"] == {
            "rate": None, "passed": 0, "n": 0, "low": None, "high": None, "infra_failed": 2, "unjudged": 0,
        }  # fmt: skip
    told = call(["evaluate", "--policy", "chat:fake", "--run", "run", *QUICK, "--set", "chat.tries=1"], tmp_path)
    assert told.returncode == 1
    assert "not measured (n=0, 2 infra-failed)" in told.stdout

    fake.answers = [reply('exit(message="N/A")')]
    again = ["evaluate", "--policy", "chat:fake", "--run", "run", "--json", *QUICK, "--set", "chat.tries=1"]
    mended = call(again, tmp_path)
    assert mended.returncode == 0, mended.stderr
    asked = len(fake.bodies)
    assert (json.loads(mended.stdout)["success"]["n"], json.loads(mended.stdout)["success"]["infra_failed"]) == (2, 0)
    names = [one.episode for one in TrajectoryFile(tmp_path / "run" / "trajectories" / "evaluate.jsonl.zst").read()]
    assert sorted(name.rpartition("/")[2] for name in names) == ["try-0"] * 2 + ["try-1"] * 2 + ["try-2"] * 2
    assert call(again, tmp_path).stdout == mended.stdout  # measured: nothing is left to try
    assert len(fake.bodies) == asked

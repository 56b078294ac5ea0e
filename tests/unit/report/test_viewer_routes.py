"""Whatever a route is asked and whatever lies in the folder: an answer, and never one from outside of it."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard
from tiny import make_task, make_trajectory, make_turn

from clickgrad.codec import to_plain
from clickgrad.report.metrics import Metrics
from clickgrad.report.viewer.library import Library
from clickgrad.report.viewer.server import make_app
from clickgrad.rollout.store import FORMAT, TrajectoryFile

EPISODE = make_trajectory([make_turn([1, 2], [3], text="reply")], 1.0, make_task("buy"), "buy/attempt-0/try-0")
FILE = "run/trajectories/evaluate.jsonl.zst"
SECRET = 7.25  # a figure that lies outside
ROUTES = {
    "/api/runs": (),
    "/api/metrics": ("run",),
    "/api/episodes": ("run", "start", "site", "reward", "end", "step", "task", "text"),
    "/api/episode": ("id",),
    "/screenshot": ("run", "name"),
    "/report": ("run",),
    "/static/app.js": ("v",),
}
VALUES = (
    "", ".", "..", "/", "run", "run/..", "run/trajectories", "//", "\0", "a\0b.png", "²", "٣", "-1", "0", "1e9",
    "9" * 9, "9" * 5000, "x" * 300, "x" * 300 + ".png", "x" * 5000 + ".jpg", "%", "%C2%B2", "\udcff",
    "\U0001f600" * 70 + ".png",
    f"{FILE}@0", f"{FILE}@1", f"{FILE}@²", f"{FILE}@{'9' * 5000}", f"{FILE}@-0", f"{FILE}@", "@@", "\r\n", "<b>",
    "loop.png", "NaN", "null", "circle", "pipe.png", "0x1", "1_0", " 1", "+1",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "runs"
    TrajectoryFile(root / FILE).append(EPISODE)
    Metrics(root / "run" / "metrics.jsonl").append({"step": 1, "loss": 0.5})
    (root / "run" / "config.toml").write_text('command = "evaluate"\n')
    (root / "run" / "screenshots").mkdir()
    (root / "run" / "screenshots" / "loop.png").symlink_to("loop.png")
    return root


def ask(root: Path, questions: Sequence[tuple[str, dict[str, str]]]) -> list[httpx.Response]:
    """An exception in a handler is raised here."""

    async def all_of_them() -> list[httpx.Response]:
        transport = httpx.ASGITransport(make_app(root))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return [await client.get(url(route, asked)) for route, asked in questions]

    return asyncio.run(all_of_them())


def url(route: str, asked: dict[str, str]) -> httpx.URL:
    """Bytes as they are: what is no UTF-8 too."""
    pairs = (f"{name}={quoted(value)}" for name, value in asked.items())
    return httpx.URL(f"http://127.0.0.1{route}?{'&'.join(pairs)}")


def quoted(value: str) -> str:
    return "".join(f"%{byte:02X}" for byte in value.encode("utf-8", "surrogateescape"))


def check(answers: Sequence[httpx.Response]) -> None:
    for answer in answers:
        assert answer.status_code in (200, 400, 404), answer.url
        if answer.headers["content-type"] == "application/json":
            json.loads(answer.content, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_every_route_answers_every_value_of_every_parameter(root: Path) -> None:
    questions = [(route, {name: value}) for route, names in ROUTES.items() for name in names for value in VALUES]
    questions += [("/screenshot", {"run": "run", "name": value}) for value in VALUES]
    check(ask(root, questions))


def test_random_questions_are_answered(root: Path) -> None:
    rng = random.Random(17)
    questions = []
    for _ in range(500):
        route = rng.choice(list(ROUTES))
        noise = bytes(rng.randrange(256) for _ in range(rng.randrange(40))).decode("utf-8", "surrogateescape")
        questions.append((route, {name: rng.choice((*VALUES, noise)) for name in (*ROUTES[route], "more")}))
    check(ask(root, questions))


@pytest.mark.parametrize("start", ["²", "9" * 5000, "-1", "x", ""])
def test_a_start_that_is_no_number_is_a_bad_question(root: Path, start: str) -> None:
    (answer,) = ask(root, [("/api/episodes", {"start": start})])
    assert (answer.status_code, answer.json()) == (400, {"error": "start is no number"})


def test_a_screenshot_with_a_name_that_no_file_can_have_is_not_there(root: Path) -> None:
    (answer,) = ask(root, [("/screenshot", {"run": "run", "name": "x" * 300 + ".png"})])
    assert answer.status_code == 404


def everything(root: Path, runs: Sequence[str] = ("run",)) -> list[httpx.Response]:
    """All that can be asked about a run without knowing more than its name."""
    questions: list[tuple[str, dict[str, str]]] = [("/api/runs", {}), ("/api/episodes", {"run": "."})]
    for run in runs:
        questions += [(route, {"run": run}) for route in ("/api/metrics", "/api/episodes", "/report")]
        questions += [("/api/episode", {"id": f"{run}/trajectories/evaluate.jsonl.zst@{n}"}) for n in range(3)]
    return ask(root, questions)


@pytest.mark.parametrize(
    "link",
    [
        "run/metrics.jsonl",
        "run/times.jsonl",
        "run/cluster.jsonl",
        "run/config.toml",
        "run/clone",
        "run/reinforce",
        "run/evaluate-secret",
        "run/trajectories/evaluate.rejudged-1.json",
        "run/trajectories/evaluate.index.json",
        "run/trajectories/other.jsonl.zst",
    ],
)
def test_nothing_that_links_out_of_a_run_is_followed(root: Path, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    marked = make_trajectory([], 1.0, make_task("secret"), "secret/attempt-0/try-0")
    TrajectoryFile(outside / "trajectories" / "evaluate.jsonl.zst").append(marked)
    row = {"step": 1, "part": "secret", "kind": "secret", "loss": SECRET, "success": SECRET, "seconds": SECRET}
    Metrics(outside / "metrics.jsonl").append(row)
    (outside / "config.toml").write_text('start = "secret"\ncommand = "evaluate"\n')
    (outside / "rejudged.json").write_text(json.dumps({EPISODE.episode: {"before": "secret"}}))
    kinds = {".jsonl": "metrics.jsonl", ".toml": "config.toml", ".json": "rejudged.json"}
    kinds |= {".zst": "trajectories/evaluate.jsonl.zst", "": ""}
    (root / link).unlink(missing_ok=True)
    (root / link).symlink_to(outside / kinds[Path(link).suffix])
    answers = everything(root)
    check(answers)
    for answer in answers:
        told = answer.text.replace(Path(link).name, "")
        assert "secret" not in told, answer.url
        assert str(SECRET) not in told, answer.url


def test_pipes_and_links_in_a_circle_are_not_waited_for(root: Path) -> None:
    for name in ("metrics.jsonl", "config.toml"):
        (root / "run" / name).unlink()
        os.mkfifo(root / "run" / name)
    os.mkfifo(root / "run" / "trajectories" / "pipe.jsonl.zst")
    (root / "circle" / "trajectories").mkdir(parents=True)
    for name in ("metrics.jsonl", "config.toml", "trajectories/evaluate.jsonl.zst"):
        (root / "circle" / name).symlink_to(Path(name).name)
    answers = everything(root, ("run", "circle"))
    check(answers)
    assert answers[0].json()["runs"][-1]["episodes"] == 1


def record(**change: Any) -> bytes:
    plain = to_plain(EPISODE) | change
    return zstandard.compress(json.dumps({"format": FORMAT, "trajectory": plain}).encode())


def test_records_that_no_page_could_show_are_shown_or_named(root: Path) -> None:
    turn = to_plain(EPISODE)["turns"][0]
    hostile = [
        record(error="\ud800 half a character", policy="\udfff"),
        record(seconds=10**400),
        record(reward=10**400),
        record(turns=[turn | {"policy_s": 10**400, "screenshot": "x" * 300 + ".png"}]),
        record(turns=[turn | {"screenshot": "a\0b.png"}]),
        record(turns=[turn | {"observation": {"tab": 10**400, "first": "9" * 5000}}]),
        record(evidence={"answer": "yes", "page_reward": 1e308}).replace(b"1e+308", b"1e+999"),
    ]
    path = root / "run" / "trajectories" / "evaluate.jsonl.zst"
    path.write_bytes(b"".join(hostile))
    second = path.with_name("evaluate.rejudged-1.json")
    second.write_text('{"buy/attempt-0/try-0": {"before": NaN, "after": 1e999}}')
    names = [f"{FILE}@{number}" for number in range(len(hostile))]
    answers = everything(root) + ask(root, [("/api/episode", {"id": name}) for name in names])
    check(answers)
    assert (root / "run" / "trajectories" / "evaluate.index.json").exists()


def test_a_bomb_is_named_and_the_rest_is_shown(root: Path) -> None:
    packed = zstandard.ZstdCompressor().compressobj()
    bomb = b"".join(packed.compress(bytes(1 << 20)) for _ in range(200)) + packed.flush()
    with open(root / FILE, "ab") as file:
        file.write(bomb)
    TrajectoryFile(root / "other").append(EPISODE)
    with open(root / FILE, "ab") as file:
        file.write((root / "other").read_bytes())
    library = Library(root)
    library.refresh(60.0)
    (run,) = library.runs()
    assert run["episodes"] == 2
    assert "bytes" in run["skipped"][0]

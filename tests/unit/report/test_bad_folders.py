"""Half-written, truncated, newer and foreign files in a run folder: what can be read is shown, the rest is named.

Every file of a whole run is spoilt in every way, one at a time. Nothing may raise, every answer of the viewer must be
JSON, and what could not be read must be named, unless nobody can know that something is missing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tiny import make_task, make_trajectory, make_turn

from clickgrad.codec import to_plain
from clickgrad.report.cuts import Cut, write_cuts
from clickgrad.report.metrics import Metrics
from clickgrad.report.page import read_report
from clickgrad.report.studies import read_study
from clickgrad.report.viewer.errors import NotHere
from clickgrad.report.viewer.library import Filter, Library
from clickgrad.rollout.store import FORMAT, TrajectoryFile
from clickgrad.types import CheckResult, Evidence, Outcome, Trajectory, Verdict

ACT = {"is": "Click", "element": 7}
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4


def episode(name: str, reward: float) -> Trajectory:
    verdict = Verdict(Outcome.PASSED if reward else Outcome.FAILED, (CheckResult("answer", bool(reward), "why"),))
    made = make_trajectory(
        [make_turn([1, 2], [3, 4], text="reply")], reward, make_task(name), f"{name}/attempt-0/try-0"
    )
    return replace(made, verdict=verdict, evidence=Evidence("yes", "http://toy/", "text", ()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of the turn limit whose folder also holds what training leaves."""
    run = tmp_path_factory.mktemp("whole") / "run"
    for stage in ("evaluate-start", "01-torch-tiny"):
        file = TrajectoryFile(run / stage / "trajectories" / "evaluate.jsonl.zst")
        file.extend([episode(f"task-{number}", float(number % 2)) for number in range(4)])
        (run / stage / "config.toml").write_text('command = "evaluate"\nstart = "torch:tiny"\n')
    write_cuts(run / "01-torch-tiny", [Cut("task-0", 2, 2, 1.0, "kept"), Cut("task-1", 2, 2, 0.0, "rule")])
    members = [replace(episode("task", m % 2), episode=f"step-0001/task-0/member-{m}/try-0") for m in range(2)]
    TrajectoryFile(run / "reinforce" / "trajectories" / "step-0001.jsonl.zst").extend(members)
    for step in range(1, 15):
        row = {"step": step, "success": step / 20, "mean_turns": 2.0, "groups_mixed": 1, "rollout_s": 1.0}
        Metrics(run / "reinforce" / "metrics.jsonl").append(row)
    Metrics(run / "times.jsonl").append({"part": "evaluation", "seconds": 3.0})
    (run / "config.toml").write_text('command = "study turns"\nstart = "torch:tiny"\n')
    return run


def look(run: Path) -> list[str]:
    """All that report and viewer ever show of a folder; returns what they say they skipped."""
    named: list[str] = []
    report, study = read_report(run), read_study(run)
    report.html("run")
    report.save(run)
    named += report.skipped
    if study:
        study.html("run")
        study.text()
        study.save(run)
        named += study.skipped
    library = Library(run)
    library.refresh(60.0)
    for shown in answered(library.runs()):
        named += shown["skipped"]
        named += answered(library.metrics(shown["name"]))["skipped"]
    for row in answered(library.episodes(".", Filter(text="reply"), 0) | library.episodes(".", Filter(), 0))["rows"]:
        named += [row["note"]] if row["note"] else []
        try:
            answered(library.episode(row["id"]))
        except NotHere as told:
            named.append(str(told))
    return named


def answered(value: Any) -> Any:
    """As the server would send it, which refuses infinities."""
    return json.loads(json.dumps(value, allow_nan=False))


FILES = (
    "config.toml",
    "times.jsonl",
    "evaluate-start/config.toml",
    "evaluate-start/trajectories/evaluate.jsonl.zst",
    "evaluate-start/trajectories/evaluate.index.json",
    "01-torch-tiny/trajectories/evaluate.jsonl.zst",
    "01-torch-tiny/cuts.json",
    "reinforce/metrics.jsonl",
    "reinforce/trajectories/step-0001.jsonl.zst",
)
WAYS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "halved": lambda content: content[: len(content) // 2],
    "short of a byte": lambda content: content[:-1],
    "with rubbish at the end": lambda content: content + b"\x00\xffrubbish\n",
    "with a byte flipped": lambda content: content[: len(content) // 2] + b"\xff" + content[len(content) // 2 + 1 :],
    "a picture": lambda _: PICTURE,
    "other JSON": lambda _: b'{"step": "one", "version": 99, "part": [], "seconds": "x"}\n',
    "deep JSON": lambda _: b"[" * 100_000 + b"\n",
    "deep TOML": lambda _: b"a = " + b"[" * 100_000,
}


@pytest.mark.parametrize("way", WAYS)
def test_whatever_happened_to_a_file_the_rest_is_shown(whole: Path, tmp_path: Path, way: str) -> None:
    assert look(whole) == []
    for number, name in enumerate(FILES):
        run = tmp_path / str(number)
        shutil.copytree(whole, run)
        (run / name).write_bytes(WAYS[way]((whole / name).read_bytes()))
        named = look(run)
        if way == "a picture" and not name.endswith((".index.json", "times.jsonl")):
            assert any(Path(name).name in what for what in named), name


def test_a_folder_a_dead_link_and_a_missing_file_in_the_place_of_each(whole: Path, tmp_path: Path) -> None:
    for number, name in enumerate(FILES):
        for spoil in (Path.mkdir, lambda path: path.symlink_to("/nowhere/at/all"), lambda path: None):
            run = tmp_path / f"{number}-{spoil}"
            shutil.copytree(whole, run)
            (run / name).unlink()
            spoil(run / name)
            look(run)


def newer(change: dict[str, Any]) -> bytes:
    plain = to_plain(episode("newer", 1.0))
    return zstandard.compress(json.dumps({"format": FORMAT + 1, "trajectory": plain | change}).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"mood": "good"},
        {"reward": {"total": 1}},
        {"reward": "1"},
        {"seconds": "long"},
        {"evidence": {"answer": 42, "more": [1]}},
        {"evidence": "none"},
        {"error": {"code": 3}},
        {"verdict": {"outcome": "PASSED", "results": [{"check": "a", "passed": True}, "b"]}},
        {"turns": [{"completion": {"ids": [1], "logprobs": "?"}, "prompt_ids": [1], "action": {"is": "Fly"}}]},
        {"turns": [{"completion": {"ids": [1]}, "prompt_ids": [], "observation": [1], "action": {}}]},
        {"turns": [{"completion": {"ids": []}, "prompt_ids": [], "observation": {"elements": [7]}, "action": ACT}]},
        {"task": {"id": 7, "sites": "shop"}},
        {"task": "shop.buy"},
        {"episode": None},
    ],
    ids=lambda change: json.dumps(change)[:40],
)  # fmt: skip
def test_records_of_a_newer_version_are_shown_as_far_as_they_are_understood(
    whole: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    file = run / "evaluate-start" / "trajectories" / "evaluate.jsonl.zst"
    file.write_bytes(file.read_bytes() + newer(change))
    named = look(run)
    assert any(f"format {FORMAT + 1}" in what or "the record at byte" in what for what in named)
    (_, shown), *_ = read_report(run).evaluations
    assert shown.success.n >= 4


def test_figures_that_are_none_are_left_out_of_every_picture(tmp_path: Path) -> None:
    odd = [
        '{"step": 1, "success": "high", "mean_turns": [2]}',
        '{"step": 1e999}',
        '{"step": true}',
        '{"step": 3}',
        '{"step": 4, "success": 1e999, "groups_mixed": NaN, "loss": 1' + "0" * 400 + "}",
        '{"step": null, "success": 0.5}',
        '{"step": 2, "success": 0.5}',
    ]
    (tmp_path / "metrics.jsonl").write_text("\n".join(odd) + "\n")
    (tmp_path / "config.toml").write_text("started = 2026-01-01\nlr = inf\n[tasks]\nseed = 3\n")
    assert look(tmp_path).count("metrics.jsonl: line 2 is no row of figures") >= 1
    assert read_report(tmp_path).html("run").count("<circle") == 1

"""The quickstart in small: every stage, real Chromium, the shop's own experts, a tiny model."""

from __future__ import annotations

import json
from pathlib import Path

from commands import call, run
from tiny import save, tiny_model, tiny_tokenizer

SETTINGS = {
    "model.path": "tiny",
    "model.threads": 1,
    "agent.page_tokens": 300,
    "agent.max_turns": 2,
    "agent.max_new_tokens": 8,
    "rollout.screenshots": "true",
    "lora.rank": 4,
    "clone.demos": 6,
    "clone.epochs": 1,
    "reinforce.steps": 1,
    "reinforce.groups": 1,
    "reinforce.group_size": 2,
    "reinforce.max_refills": 1,
    "evaluate.limit": 4,
}


def train_command() -> list[str]:
    return [
        "train",
        "--run",
        "run",
        *(part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")),
    ]


def test_train_goes_through_all_stages_and_a_second_time_skips_them(tmp_path: Path) -> None:
    texts = ["Page: shop.localhost/", "link Home [0]", "textbox Search [1]", "What is the price of", "$12.50, 4 stars"]
    save(tiny_model(tiny_tokenizer(texts * 20), context_tokens=2048), tmp_path / "tiny")
    first = run(train_command(), tmp_path)
    assert first.returncode == 0, first.stderr
    for name in ("before cloning", "after cloning", "after reinforcement"):
        assert f"\n{name}" in first.stdout
    assert "n=4, 95 % CI" in first.stdout

    folder = tmp_path / "run"
    report = json.loads((folder / "report.json").read_text())
    assert [evaluation["success"]["n"] for evaluation in report["evaluations"].values()] == [4, 4, 4]
    assert "<svg" in (folder / "report.html").read_text()
    assert len(list((folder / "evaluate-clone" / "screenshots").glob("*.jpg"))) >= 4
    assert (folder / "config.toml").exists()

    stamps = {path: path.stat().st_mtime_ns for path in folder.rglob("*.zst")}
    model = (folder / "reinforce" / "model" / "model.safetensors").stat().st_mtime_ns
    second = call(train_command(), tmp_path)
    assert second.returncode == 0, second.stderr
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.zst")} == stamps
    assert (folder / "reinforce" / "model" / "model.safetensors").stat().st_mtime_ns == model


def test_a_step_is_told_apart(tmp_path: Path) -> None:
    """The quick preset's own step, in small."""
    save(
        tiny_model(tiny_tokenizer(["Page: shop.localhost/", "link Home [0]"] * 20), context_tokens=2048),
        tmp_path / "tiny",
    )
    read = {name: value for name, value in SETTINGS.items() if not name.startswith(("clone.", "evaluate."))}
    small = [part for name, value in read.items() for part in ("--set", f"{name}={value}")]
    told = call(["bench", "step", "--json", "--start", "tiny", *small], tmp_path)
    assert told.returncode == 0, told.stderr
    figures = json.loads(told.stdout)
    assert figures["episodes"] == 4  # a group and a refill, two members each
    assert figures["turns"] >= 4
    assert (
        min(
            figures[name]
            for name in ("engine_s", "update_s", "peak_rss_mb", "browser_core_s", "site_core_s", "own_core_s")
        )
        > 0
    )
    assert figures["engine_s"] <= figures["rollout_s"]
    assert figures["tokens_per_forward"] >= 1


def test_the_expert_passes_and_giving_up_fails(tmp_path: Path) -> None:
    common = ["--set", "evaluate.limit=6", "--set", "rollout.concurrency=2", "--set", "agent.max_turns=20"]
    common.append("--json")
    expert = call(["evaluate", "--policy", "scripted:expert", "--run", "expert", *common], tmp_path)
    noop = call(["evaluate", "--policy", "scripted:noop", "--run", "noop", *common], tmp_path)
    assert json.loads(expert.stdout)["success"]["passed"] == 6, expert.stderr
    assert json.loads(noop.stdout)["success"] == {
        "rate": 0.0, "passed": 0, "n": 6, "low": 0.0, "high": 0.3903, "infra_failed": 0, "unjudged": 0,
    }  # fmt: skip

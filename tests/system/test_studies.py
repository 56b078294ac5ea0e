"""The paper's four studies in small, end to end: a tiny model, real Chromium, and the tables they leave behind."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from commands import call, run
from tiny import save, tiny_model, tiny_tokenizer

from clickgrad.report.paper import CAVEAT
from clickgrad.rollout.store import TrajectoryFile

pytestmark = pytest.mark.timeout(600)  # eleven browsers one after the other, on a machine that may be busy
MODEL = {"model.path": "tiny"}
SMALL = {
    "model.threads": 1,
    "tasks.max_expert_turns": 2,
    "agent.page_tokens": 200,
    "agent.max_turns": 2,
    "agent.max_new_tokens": 6,
    "evaluate.limit": 2,
}
LEARNING = {
    "thinking.max_new_tokens": 9,
    "lora.rank": 4,
    "clone.demos": 3,
    "reinforce.steps": 1,
    "reinforce.groups": 1,
    "reinforce.group_size": 2,
    "reinforce.max_refills": 0,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model in `tiny`."""
    folder = tmp_path_factory.mktemp("studies")
    texts = ["Page: shop.localhost/", "link Home [0]", "textbox Search [1]", "What is the price of", "$12.50, 4 stars"]
    save(tiny_model(tiny_tokenizer(texts * 20), context_tokens=4096), folder / "tiny")
    return folder


def study(place: Path, name: str, settings: dict[str, Any], *more: str) -> tuple[str, dict[str, Any]]:
    """What the terminal shows, and report.json."""
    sets = [part for option, value in settings.items() for part in ("--set", f"{option}={value}")]
    done = call(["study", name, "--run", name, *sets, *more], place)
    assert done.returncode == 0, done.stderr
    assert CAVEAT in done.stdout
    assert CAVEAT in (place / name / "report.md").read_text()
    assert CAVEAT in unescape((place / name / "report.html").read_text())
    return done.stdout, json.loads((place / name / "report.json").read_text())


def stamps(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix in (".zst", ".safetensors")}


def test_rl_starts_from_three_places_and_goes_on_where_it_stopped(place: Path) -> None:
    told, figures = study(place, "start", MODEL | SMALL | LEARNING)
    assert list(figures["ours"]) == ["zero", "r1", "cot"]
    for arm in figures["ours"].values():
        assert arm["before"]["success"]["n"] == arm["after"]["success"]["n"] == arm["change"]["pairs"] == 2
    # A reply never ends by itself here, so each arm samples as many tokens as it may: thinking arms more.
    assert figures["ours"]["r1"]["before"]["mean_reply_tokens"] <= 6
    assert figures["ours"]["cot"]["before"]["mean_reply_tokens"] > 6
    assert figures["paper"]["r1"] == {"success": [20.0, 33.9], "tokens_per_turn": [48, 42], "turns": [9, 8]}
    assert "R1-CoT, cloned long reasoning: paper" in told
    demos = {arm: TrajectoryFile(place / "start" / arm / "clone" / "trajectories" / "demos.jsonl.zst").read()
             for arm in ("r1", "cot")}  # fmt: skip
    assert all(turn.completion.text.startswith("# ") for one in demos["r1"] for turn in one.turns)
    assert all("<think> My task is" in turn.completion.text for one in demos["cot"] for turn in one.turns)

    before = stamps(place / "start")
    again, _ = study(place, "start", MODEL | SMALL | LEARNING)
    assert stamps(place / "start") == before
    assert again == told.replace(told.partition("\nWhat RL starts from")[0], "")


def test_two_reply_formats_are_compared_task_by_task(place: Path) -> None:
    told, figures = study(place, "format", MODEL | SMALL | {"thinking.max_new_tokens": 9})
    (ours,) = figures["ours"]
    assert (ours["policy"], ours["change"]["pairs"], ours["change"]["unpaired"]) == ("torch:tiny", 2, {})
    assert ours["thinking"]["mean_reply_tokens"] > ours["plain"]["mean_reply_tokens"]
    assert {"policy": "o4-mini", "plain": 15.9, "thinking": 36.9} in figures["paper"]
    assert "torch:tiny: ours" in told


def test_policies_are_compared_by_site(place: Path) -> None:
    told, figures = study(
        place,
        "prompting",
        SMALL | {"tasks.sites": '["shop"]'},
        "--policy",
        "scripted:expert",
        "--policy",
        "scripted:noop",
    )
    expert, noop = figures["ours"]
    assert (expert["by_site"]["shop"]["passed"], noop["by_site"]["shop"]["passed"]) == (2, 0)
    assert "shop / Shopping" in told
    assert "100.0 (2/2)" in told


def test_cuts_are_what_a_run_at_the_smaller_limit_comes_to(place: Path) -> None:
    """The expert at a limit of 5, cut at 1 to 4, against the expert run at 2: reward by reward."""
    common = {"tasks.max_expert_turns": 4, "tasks.sites": '["map", "forum"]', "evaluate.limit": 12}
    expert = ("--policy", "scripted:expert")
    limits = {"agent.max_turns": 5, "turns.limits": "[1, 2, 3, 4]"}
    told, figures = study(place, "turns", common | limits, *expert)
    cuts = json.loads(next((place / "turns").glob("01-*/cuts.json")).read_text())
    at_two = {cut["episode"]: cut["reward"] for cut in cuts if cut["limit"] == 2}

    sets = [part for option, value in common.items() for part in ("--set", f"{option}={value}")]
    direct = call(["evaluate", *expert, "--run", "direct", "--set", "agent.max_turns=2", *sets], place)
    assert direct.returncode == 0, direct.stderr
    played = TrajectoryFile(place / "direct" / "trajectories" / "evaluate.jsonl.zst").read()
    assert at_two == {trajectory.episode: trajectory.reward for trajectory in played}

    (ours,) = figures["ours"]
    decided = {one["limit"]: one["decided"] for one in ours["limits"]}
    assert decided[2]["rule"] > 0
    assert decided[2]["replay"] > 0
    assert all(one["lost"] == 0 for one in decided.values())
    passed = [one["success"]["passed"] for one in ours["limits"]]
    assert passed[-1] == len(played)
    assert 0 < passed[1] < passed[-1]
    assert "R1: paper" in told
    assert "<svg" in (place / "turns" / "report.html").read_text()


def test_a_limit_that_was_not_sampled_is_refused(place: Path) -> None:
    refused = run(["study", "turns", "--set", "agent.max_turns=5", "--set", "turns.limits=[2, 5]"], place)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "turns.limits: 5 is not below agent.max_turns=5" in refused.stderr


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["start", "format", "turns", "prompting"])
def test_the_small_size_runs_with_the_embedded_model(tmp_path: Path, name: str) -> None:
    """As a person would start it, with fewer tasks and steps."""
    fewer = {"evaluate.limit": 6, "model.threads": 2}
    if name == "start":
        fewer |= {"clone.demos": 8, "reinforce.steps": 1, "reinforce.groups": 1, "reinforce.group_size": 4}
    _, figures = study(tmp_path, name, fewer)
    plain = json.dumps(figures["ours"])
    assert '"n": 6' in plain
    assert '"infra_failed": 0' in plain


FORKS = {
    "tasks.seed": 0,
    "tasks.each": "{train = 4, test = 1, demo = 2}",
    "tasks.max_expert_turns": 4,
    "tasks.templates": '["shop.account_edit", "forum.message"]',
    "agent.max_turns": 4,
    "clone.epochs": 1,
    "reinforce.groups": 2,
    "reinforce.group_size": 6,
    "reinforce.max_refills": 0,
    "forks.minutes": 0.01,
    "forks.seeds": "[3]",
}


@pytest.mark.slow
def test_arms_get_the_same_minutes_after_the_same_clone_and_go_on_where_they_stopped(place: Path) -> None:
    settings = MODEL | SMALL | {"lora.rank": 4} | FORKS
    sets = [part for option, value in settings.items() for part in ("--set", f"{option}={value}")]
    settled = ["study", "forks", "--run", "forks", *sets]
    done = call(settled, place)
    assert done.returncode == 0, done.stderr
    figures = json.loads((place / "forks" / "report.json").read_text())
    assert list(figures["arms"]) == ["cloning", "paper", "evidence", "starts", "branches", "replay", "all"]
    for key, arm in figures["arms"].items():
        assert arm["success"]["n"] == arm["over_clone"]["pairs"] == 2, key
        assert arm["minutes"] >= 0.01 or key == "cloning"
    stored = TrajectoryFile(place / "forks" / "seed-3" / "all" / "reinforce" / "trajectories" / "step-0001.jsonl.zst")
    given = {one.given.source for one in stored.read() if one.given}
    assert given == {"demo", "branch"}
    assert all(one.usable for one in stored.read()), "what was given was performed again"
    before = stamps(place / "forks")
    assert call(settled, place).returncode == 0
    assert stamps(place / "forks") == before


BASELINES = FORKS | {"baselines.seeds": "[3]", "baselines.rollouts": 4, "reinforce.clock": "wall", "lora.rank": 4}
del BASELINES["forks.minutes"], BASELINES["forks.seeds"]
FEW = {
    "baselines.arms": '["awr-offline", "webrl-code"]',
    "baselines.minutes": 0,
    "baselines.episodes": 1,
    "baselines.rollouts": 2,
    "reinforce.groups": 1,
    "reinforce.group_size": 2,
    "tasks.each": "{train = 2, test = 1, demo = 1}",
    "agent.max_turns": 3,
    "tasks.max_expert_turns": 3,
}
EVERY = {"baselines.minutes": 0.01, "baselines.episodes": 12}


@pytest.mark.parametrize("settings", [FEW, pytest.param(EVERY, marks=pytest.mark.slow)], ids=["few", "every"])
def test_baselines_start_from_the_same_clone_and_stand_beside_the_papers_rows(
    place: Path, settings: dict[str, Any]
) -> None:
    told, figures = study(place, "baselines", MODEL | SMALL | BASELINES | settings)
    online = ["filtered-bc", "awr", "digirl", "webrl-paper", "webrl-code", "m-grpo"]
    if settings is EVERY:
        assert list(figures["minutes"]) == ["cloning", *online]
        assert list(figures["episodes"]) == ["filtered-bc-offline", "awr-offline", *online]
    else:
        assert list(figures["episodes"]) == ["awr-offline", "webrl-code"]
        assert "minutes" not in figures
    for arm in (*figures.get("minutes", {}).values(), *figures["episodes"].values()):
        assert arm["success"]["n"] == arm["over_clone"]["pairs"] == 2
    assert {"name": "WebRL", "success": 42.4, "how": "online, with new tasks in every phase"} in figures["paper"]
    assert "WebRL's own measurements" in told
    if settings is EVERY:
        before = stamps(place / "baselines")
        study(place, "baselines", MODEL | SMALL | BASELINES | settings)
        assert stamps(place / "baselines") == before

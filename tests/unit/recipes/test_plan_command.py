"""`clickgrad plan` as a person uses it: what it says, what it refuses, what it takes from a run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from commands import call
from tiny import make_task, make_trajectory, make_turn

from clickgrad.planning.likeness import in_rounds, read_likeness
from clickgrad.planning.options import Options
from clickgrad.report.metrics import Metrics
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Click, Trajectory

LLAMA = ("--model", "llama-3.1-8b", "--device", "a100-80gb", "--gpus", "8", "--cores", "64")


def planned(*words: str) -> dict[str, Any]:
    done = call(["plan", *words, "--json"], Path.cwd())
    assert (done.returncode, done.stderr) == (0, "")
    plain: dict[str, Any] = json.loads(done.stdout)
    return plain


# --- what it says ---------------------------------------------------------------------------------------------------


def test_a_plan_says_what_a_step_takes_and_what_holds_it_up() -> None:
    done = call(["plan", *LLAMA], Path.cwd())
    assert done.returncode == 0
    for part in ("rollout", "update", "weights to engines", "an engine", "a learner", "bottleneck: ", "browsers: "):
        assert f"\n{part}" in done.stdout
    assert "ASSUMED from its data sheet, not measured" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 110


def test_the_parts_of_a_step_add_up() -> None:
    plan = planned(*LLAMA)
    assert plan["step_s"] == pytest.approx(plan["rollout_s"] + plan["update_s"] + plan["push_s"])
    assert plan["rollout_episodes_per_min"] == pytest.approx(60 * 64 / plan["rollout_s"])
    assert plan["episodes_per_min"] == pytest.approx(60 * 64 / plan["step_s"])
    ahead = planned(*LLAMA, "--ahead")
    assert ahead["step_s"] == pytest.approx(max(plan["rollout_s"], plan["update_s"]) + plan["push_s"])


@pytest.mark.parametrize(
    ("words", "figure", "sign"),
    [
        (("--page-tokens", "6000"), "rollout_s", 1),
        (("--page-tokens", "6000"), "update_s", 1),
        (("--turns", "16"), "rollout_s", 1),
        (("--reply-tokens", "400"), "rollout_s", 1),
        (("--site-wait-s", "5"), "rollout_s", 1),
        (("--refills", "8"), "rollout_s", 1),
        (("--browsers", "8"), "rollout_s", 1),
        (("--learners", "2"), "rollout_s", -1),  # leaves more engines
        (("--learners", "2"), "update_s", 1),
        (("--reference",), "update_s", 1),
        (("--lora-rank", "16"), "update_s", -1),
        (("--lora-rank", "16"), "push_s", -1),
        (("--device", "h100-80gb"), "step_s", -1),
        (("--model", "qwen2.5-3b"), "step_s", -1),
        (("--groups", "32"), "episodes", 1),
    ],
)
def test_more_work_takes_longer_and_more_hands_less(words: tuple[str, ...], figure: str, sign: int) -> None:
    assert (planned(*LLAMA, *words)[figure] - planned(*LLAMA)[figure]) * sign > 0


def test_more_cores_help_only_where_browsers_are_short_of_them() -> None:
    many = ("--model", "smollm2", "--device", "h100-80gb", "--gpus", "8", "--groups", "64")
    scarce, plenty, more = (planned(*many, "--cores", cores)["rollout_s"] for cores in ("2", "300", "600"))
    assert scarce > 2 * plenty
    assert plenty == pytest.approx(more)
    assert planned(*many, "--cores", "2")["bottleneck"] == "the processor cores, under the browsers"


def test_enough_browsers_come_near_the_best_rate() -> None:
    plan = planned(*LLAMA, "--site-wait-s", "3")
    rates = {crowd["browsers"]: crowd["episodes_per_min"] for crowd in plan["crowds"]}
    assert rates[plan["enough_browsers"]] >= 0.95 * max(rates.values())
    assert all(rate < 0.95 * max(rates.values()) for size, rate in rates.items() if size < plan["enough_browsers"])
    assert max(rates) == 64  # more than episodes of a step would idle


def test_your_own_measurements_replace_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "here.jsonl").write_text('{"tokens_comb": 1000, "s_comb": 1000.0}\n')
    plan = planned("--model", "smollm2", "--lora-rank", "16", "--measured", str(tmp_path / "here.jsonl"))
    assert plan["trained_tokens_per_s"] == pytest.approx(1.0)
    assert plan["sources"].startswith(f"speeds: learn measured in {tmp_path / 'here.jsonl'}; the rest measured on")


def test_neither_torch_nor_ray_nor_a_browser_is_loaded() -> None:
    code = "import sys; from clickgrad.cli import main; main(['plan', '--model', 'smollm2']); print(*sys.modules)"
    listing = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = {name.partition(".")[0] for name in listing.stdout.splitlines()[-1].split()}
    assert not loaded & {"torch", "transformers", "ray", "playwright", "vllm", "rich", "pydantic", "starlette"}


# --- what it refuses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say --model NAME, or take a run as the pattern: --like RUN"),
        (("--model", "gpt"), "--model gpt: unknown; give a folder with a config.json, or one of smollm2, "),
        (("--model", "smollm2", "--device", "tpu"), "--device tpu: unknown; known are cpu-2core, a100-80gb"),
        (("--model", "smollm2", "--gpus", "2"), "--gpus: cpu-2core is no GPU"),
        (("--model", "smollm2", "--learners", "2"), "--learners: cpu-2core is no GPU"),
        (("--model", "smollm2", "--device", "a100-80gb"), "--gpus: how many a100-80gb are there?"),
        (("--model", "smollm2", "--device", "a100-80gb", "--gpus", "2"), "--cores: how many processor cores"),
        ((*LLAMA, "--learners", "8"), "--learners 8 of --gpus 8: none is left to sample"),
        ((*LLAMA, "--gpus", "1"), "--learners 1 of --gpus 1: none is left to sample"),
        ((*LLAMA, "--browsers", "0"), "--browsers 0: give a number from 1 to 1000000"),
        ((*LLAMA, "--turns", "nan"), "--turns nan: give a number from 1"),
        ((*LLAMA, "--page-tokens", "-3"), "--page-tokens -3: give a number from 1"),
        ((*LLAMA, "--site-wait-s", "-1"), "--site-wait-s -1.0: give a number from 0"),
        ((*LLAMA, "--groups", "2", "--refills", "3"), "--refills 3: there are only 2 groups"),
        ((*LLAMA, "--groups", "10000"), "320000 turns in all episodes of a step: plan at most 50000"),
        (("--model", "smollm2", "--measured", "nowhere"), "--measured nowhere: No such file or directory"),
        (("--like", "nowhere"), "--like nowhere: no trajectories there"),
        (("--like", "nowhere", "--turns", "3"), "--turns: --like takes it from the run"),
    ],
)
def test_nonsense_is_refused_in_one_line(words: tuple[str, ...], said: str) -> None:
    done = call(["plan", *words], Path.cwd())
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(f"clickgrad: {said}")
    assert done.stderr.count("\n") == 1


# --- what it takes from a run ---------------------------------------------------------------------------------------


def member(task: int, number: int, reward: float | None) -> Trajectory:
    """Two turns; the second page is the member's own."""
    begin, page = [1, 2, 3, 100 + task], [200 + number] * 6
    first = replace(make_turn([*begin, 9], [7, 8]), action=Click(1), policy_s=2.0, browser_s=0.5)
    second = replace(make_turn([*begin, 5, 7, 8, *page], [7, 8, 8]), policy_s=4.0)
    name = f"step-0001/task-{task:05d}/member-{number}/try-0"
    return make_trajectory([first, second], reward, make_task(f"task-{task}"), name)


MEMBERS = [
    *(member(0, 0, 1.0), member(0, 1, 0.0)),  # contrast
    *(member(1, 0, 0.0), member(1, 1, 0.0)),  # none: refilled
    *(member(2, 0, 1.0), member(2, 1, None)),  # none either, and no refill is left
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "reinforce"
    TrajectoryFile(folder / "trajectories" / "step-0001.jsonl.zst").extend(list(reversed(MEMBERS)))
    options = {
        "reinforce": {"groups": 2, "max_refills": 1, "micro_tokens": 512, "kl_beta": 0.0},
        "rollout": {"concurrency": 3},
        "lora": {"rank": 16},
    }
    (folder / "config.toml").write_text(tomli_w.dumps(options))
    Metrics(folder / "metrics.jsonl").append({"kind": "reinforce", "step": 1, "rollout_s": 12.0, "update_s": 5.0})
    return tmp_path


def test_a_run_of_train_lends_the_shape_of_its_reinforcement(run: Path) -> None:
    options, workload, _ = read_likeness(Options(), run)
    assert len(workload.steps) == 1
    assert [len(episodes) for episodes in workload.rounds] == [4, 2]
    assert (options.browsers, options.lora_rank, options.micro_tokens, options.reference) == (3, 16, 512, False)
    first, second = workload.rounds[0][0]
    # The first of all reads 5 tokens; its second turn shares the 4 that it begins with: 5 7 8 and six of the page.
    assert (first.fresh, first.context, first.reply, first.acts) == (5, 5, 2, True)
    assert (second.fresh, second.context, second.reply, second.acts) == (9, 13, 3, False)
    # Its fellow says and sees the same first turn, and shares seven tokens of the second.
    assert [turn.fresh for turn in workload.rounds[0][1]] == [0, 6]
    # The next group shares 1 2 3.
    assert workload.rounds[0][2][0].fresh == 2
    # Only the group with contrast is trained: 7 tokens of the first turn, 12 after the beginning of one second turn,
    # 9 after seven tokens of the other.
    assert workload.trained_tokens == 7 + 12 + 9


def test_seconds_of_the_run_are_for_the_comparison_alone(run: Path) -> None:
    before = planned("--like", str(run))
    assert before["seen"] == {"episodes": 6, "rollout_s": 12.0, "update_s": 5.0, "policy_s": 3.0, "browser_s": 0.25}
    Metrics(run / "reinforce" / "metrics.jsonl").rewind(0)
    Metrics(run / "reinforce" / "metrics.jsonl").append(
        {"kind": "reinforce", "step": 1, "rollout_s": 99.0, "update_s": 99.0}
    )
    after = planned("--like", str(run))
    assert {**after, "seen": None} == {**before, "seen": None}
    told = call(["plan", "--like", run], Path.cwd()).stdout
    assert re.search(r"\nrollout s +\d+\.\d+ +99\.00 +-\d+%\n", told)


def test_with_other_browsers_there_is_nothing_to_compare_with(run: Path) -> None:
    plan = planned("--like", str(run), "--browsers", "1")
    assert plan["seen"] is None
    assert plan["browsers"] == 1


def test_a_step_that_is_under_way_is_not_compared_with(run: Path) -> None:
    (run / "reinforce" / "metrics.jsonl").write_text("")
    assert planned("--like", str(run))["seen"] is None


def test_a_scripted_evaluation_needs_no_engine(tmp_path: Path) -> None:
    scripted = [
        replace(one, policy="scripted:expert", episode=f"{at}/attempt-0/try-0") for at, one in enumerate(MEMBERS)
    ]
    TrajectoryFile(tmp_path / "trajectories" / "evaluate.jsonl.zst").extend(scripted)
    (tmp_path / "config.toml").write_text(tomli_w.dumps({"rollout": {"concurrency": 2}}))
    Metrics(tmp_path / "times.jsonl").append({"part": "evaluation", "seconds": 3.0})
    plan = planned("--like", str(tmp_path))
    assert (plan["browsers"], plan["bottleneck"]) == (2, "the processor cores, under the browsers")
    assert (plan["engines"], plan["learners"], plan["update_s"], plan["engine_busy"]) == (0, 0, 0, 0)
    assert plan["seen"]["rollout_s"] == 3.0
    done = call(["plan", "--like", tmp_path], Path.cwd())
    assert "an engine" not in done.stdout
    assert "a learner" not in done.stdout


def test_demonstrations_of_a_clone_have_four_sessions_at_most(tmp_path: Path) -> None:
    scripted = [replace(one, policy="scripted:expert", episode=f"demo-{at}/try-0") for at, one in enumerate(MEMBERS)]
    TrajectoryFile(tmp_path / "trajectories" / "demos.jsonl.zst").extend(scripted)
    (tmp_path / "config.toml").write_text(tomli_w.dumps({"command": "clone", "rollout": {"concurrency": 32}}))
    options, workload, _ = read_likeness(Options(), tmp_path)
    assert (options.browsers, workload.scripted) == (4, True)


def test_refilled_groups_are_told_from_the_first_ones() -> None:
    assert [len(episodes) for episodes in in_rounds(MEMBERS, {"groups": 2, "max_refills": 1})] == [4, 2]
    assert [len(episodes) for episodes in in_rounds(MEMBERS[:4], {"groups": 2})] == [4]
    assert [len(episodes) for episodes in in_rounds(MEMBERS, {})] == [6]

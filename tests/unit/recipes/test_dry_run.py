"""`--dry-run`: the options, the tasks by number and hash, what it will take; and nothing heavy is loaded for it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from clickgrad.backends.placement import planned_name
from clickgrad.backends.tasks import chosen_tasks
from clickgrad.config import load_config, presets
from clickgrad.planning.dry_run import fingerprint, resolved
from clickgrad.planning.estimate import Estimate, estimate
from clickgrad.planning.likeness import DEMO_SESSIONS
from clickgrad.recipes import demos
from clickgrad.tasks.suites import load_tasks


def of(command: str, *settings: str, preset: str | None = "quick") -> Estimate:
    config = load_config(preset, settings, command)
    return estimate(config, command, chosen_tasks(config, "all"))


def seconds(made: Estimate) -> float:
    return sum(spent for _, spent in made.parts)


@pytest.mark.parametrize("preset", presets())
def test_every_preset_has_an_estimate_of_time_and_memory(preset: str) -> None:
    config = load_config(preset, [], "train")
    text = resolved(config, "train")
    assert re.search(r"^# estimate for \S+ on .+: [\d.]+ (min|h)$", text, re.MULTILINE), text
    assert re.search(r"^# memory: an engine [\d.]+ GB, a learner [\d.]+ GB, browsers [\d.]+ GB$", text, re.MULTILINE)
    assert re.search(r"^# assumed: pages of \d+ tokens", text, re.MULTILINE)
    assert tomllib.loads(text)["reinforce"]["steps"] == config.reinforce.steps


def test_the_default_run_is_reckoned_at_about_half_an_hour_and_the_whole_arena_at_about_two_hours() -> None:
    assert 20 * 60 < seconds(of("train")) < 33 * 60
    assert 80 * 60 < seconds(of("train", preset="pocket-cpu")) < 150 * 60


def test_groups_without_contrast_cost_no_learning_where_none_is_replaced() -> None:
    once = {refills: of("reinforce", f"reinforce.max_refills={refills}") for refills in (0, 1)}
    twice = {refills: of("reinforce", f"reinforce.max_refills={refills}", "reinforce.updates=2") for refills in (0, 1)}
    learning = {refills: seconds(twice[refills]) - seconds(once[refills]) for refills in (0, 1)}
    assert learning[0] == pytest.approx(0.6 * learning[1], rel=0.01)


def test_a_run_of_several_parts_takes_as_long_as_they_do() -> None:
    names = [name for name, _ in of("train").parts]
    assert len(names) == 6
    assert names[3] == names[5] == "evaluate 105 episodes"
    clone, reinforce, evaluate = (seconds(of(command)) for command in ("clone", "reinforce", "evaluate"))
    _, start = of("train").parts[0]
    assert seconds(of("train")) == pytest.approx(start + clone + reinforce + 2 * evaluate)


@pytest.mark.parametrize(
    ("command", "setting"),
    [
        ("reinforce", "reinforce.steps=50"),
        ("reinforce", "reinforce.group_size=16"),
        ("reinforce", "reinforce.kl_beta=0.1"),
        ("clone", "clone.epochs=3"),
        ("evaluate", "evaluate.attempts=2"),
        ("train", "train.start_limit=0"),
    ],
)
def test_more_work_takes_longer(command: str, setting: str) -> None:
    assert seconds(of(command, setting)) > seconds(of(command))


def test_only_what_a_command_uses_takes_memory() -> None:
    assert of("evaluate").memory.learner == 0
    assert of("clone").memory.engine == 0
    both = of("reinforce").memory
    assert both.host == pytest.approx(both.engine + both.learner + both.browsers)


def test_a_large_model_is_reckoned_on_gpus_and_may_not_fit() -> None:
    large = of("reinforce", "model.path=meta-llama/Llama-3.1-8B-Instruct", "lora.rank=0")
    assert large.setup.options.device == "a100-80gb"
    assert any("ASSUMED" in line for line in large.lines())
    tight = of("reinforce", "model.path=meta-llama/Llama-3.1-8B-Instruct", "reinforce.micro_tokens=900000")
    assert any(line.startswith("does not fit: a learner needs") for line in tight.lines())


@pytest.mark.parametrize("preset", ["qwen2.5-3b", "llama3.1-8b"])
def test_the_presets_of_the_paper_fit_its_gpus(preset: str) -> None:
    reckoned = estimate(load_config(preset, [], "train"), "train", ())
    assert reckoned.setup.options.device == "a100-80gb"
    assert reckoned.memory.too_small() == []


def test_a_model_nobody_has_figures_of_has_no_estimate_and_the_plan_is_told_all_the_same() -> None:
    text = resolved(load_config("quick", ["model.path=somebody/else-7b"], "train"), "train")
    assert "# no estimate: --model else-7b: unknown" in text
    assert tomllib.loads(text)["model"]["path"] == "somebody/else-7b"


def test_an_evaluation_of_somebody_else_is_not_reckoned() -> None:
    config = load_config("quick", [], "evaluate")
    assert "estimate for smollm2" in resolved(config, "evaluate")
    assert "estimate" not in resolved(config, "evaluate", "chat:some-model")


def test_names_of_a_hub_are_those_of_the_figures() -> None:
    assert planned_name("Qwen/Qwen2.5-3B-Instruct") == "qwen2.5-3b"
    assert planned_name("smollm2") == "smollm2"


def test_recording_is_reckoned_with_the_sessions_it_has() -> None:
    assert DEMO_SESSIONS == demos.SESSIONS


def test_the_hash_follows_the_tasks_and_their_order() -> None:
    tasks = load_tasks("pocket", "test")
    assert fingerprint(tasks) == fingerprint(list(tasks))
    assert len({fingerprint(tasks), fingerprint(tasks[::-1]), fingerprint(tasks[:-1])}) == 3
    config = load_config(None, [], "evaluate")
    assert f"# test tasks to choose from: 165, sha256 {fingerprint(tasks)}\n" in resolved(config, "evaluate")


def test_a_dry_run_loads_neither_torch_nor_a_browser() -> None:
    code = "from clickgrad.cli import main; main(['train', '--dry-run'])\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=110)
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert not loaded & {"torch", "transformers", "playwright", "ray", "rich", "httpx"}

"""A policy brings the prompt format it was trained with; what the user set wins, and is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from clickgrad.backends.agents import as_trained
from clickgrad.backends.policies import parse_policy
from clickgrad.config import load_config
from clickgrad.run_folder import open_run
from clickgrad.studies.folders import settled

TRAINED = ["agent.page_tokens=400", "agent.max_turns=2", "agent.max_new_tokens=56"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run as `reinforce` leaves it: its options, and a model below them."""
    with open_run(tmp_path / "run", load_config(None, TRAINED, "reinforce"), "reinforce", "torch:smollm2") as folder:
        (folder / "model").mkdir()
    return folder


@pytest.mark.parametrize("spec", ["{run}", "torch:{run}", "{run}/model"])
def test_a_policy_brings_what_it_was_trained_with(run: Path, spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    spec = spec.format(run=run)
    agent = as_trained(load_config(None, [], "evaluate"), parse_policy(spec)).agent
    assert (agent.page_tokens, agent.max_turns, agent.max_new_tokens) == (400, 2, 56)
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"clickgrad: as {spec} was trained: agent.page_tokens = 400")


def test_a_setting_of_the_users_wins_and_the_line_names_both(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = as_trained(load_config(None, ["agent.max_turns=6"], "evaluate"), parse_policy(str(run))).agent
    assert (agent.page_tokens, agent.max_turns) == (400, 6)
    assert f"agent.max_turns = 6, but {run} was trained with 2" in capsys.readouterr().err


def test_a_preset_that_the_user_named_wins_too_but_not_the_one_of_those_who_name_none(run: Path) -> None:
    named = as_trained(load_config("study", [], "study turns"), parse_policy(str(run))).agent
    unnamed = as_trained(load_config(None, [], "study turns", default="study"), parse_policy(str(run))).agent
    assert (named.page_tokens, unnamed.page_tokens) == (320, 400)


def test_a_study_keeps_the_options_that_it_is_about(run: Path) -> None:
    config = load_config(None, [], "study turns", default="study")
    assert as_trained(settled(config, "max_turns"), parse_policy(str(run))).agent.max_turns == 8


def test_a_model_that_was_moved_away_still_knows(run: Path, tmp_path: Path) -> None:
    (run / "config.toml").rename(run / "model" / "clickgrad.toml")
    (run / "model").rename(tmp_path / "elsewhere")
    assert (
        as_trained(load_config(None, [], "evaluate"), parse_policy(f"torch:{tmp_path / 'elsewhere'}")).agent.page_tokens
        == 400
    )


@pytest.mark.parametrize("spec", ["scripted:expert", "torch:smollm2", "chat:m", "vllm:http://127.0.0.1:1"])
def test_whoever_was_trained_by_no_run_brings_nothing(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text("[agent]\npage_tokens = 400\n")
    monkeypatch.chdir(tmp_path)
    config = load_config(None, [], "evaluate")
    assert as_trained(config, parse_policy(spec)) == config


def test_options_that_cannot_be_read_are_named_and_passed_over(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "config.toml").write_bytes(b"\xff\xfe")
    config = load_config(None, [], "evaluate")
    assert as_trained(config, parse_policy(str(run))) == config
    assert f"{run / 'config.toml'} cannot be read" in capsys.readouterr().err

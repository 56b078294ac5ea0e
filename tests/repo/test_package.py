from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout, suppress
from importlib import resources

import pytest

import clickgrad
from clickgrad.cli.parser import build_parser
from clickgrad.config import READ_BY, load_config, presets

HEAVY = ("torch", "transformers", "playwright", "vllm", "ray", "rich", "pydantic", "starlette")


def loaded_by(code: str) -> set[str]:
    listing = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in listing.stdout.split()}


def test_the_public_names_are_those_listed() -> None:
    assert clickgrad.__all__ == [
        "ClickgradError",
        "Config",
        "InfraError",
        "LearnError",
        "Task",
        "Trajectory",
        "UserError",
        "__version__",
        "clone",
        "compare",
        "demos",
        "evaluate",
        "load_config",
        "load_tasks",
        "parse_policy",
        "play",
        "presets",
        "prove",
        "read_run",
        "read_trajectories",
        "reinforce",
        "train",
    ]
    assert dir(clickgrad) == sorted(clickgrad.__all__)
    for name in clickgrad.__all__:
        assert getattr(clickgrad, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'fit'"):
        clickgrad.fit  # noqa: B018
    assert re.fullmatch(r"\d+\.\d+\.\d+", clickgrad.__version__)


@pytest.mark.parametrize("code", ["import clickgrad", "from clickgrad.cli.parser import build_parser; build_parser()"])
def test_nothing_heavy_is_loaded_before_it_is_needed(code: str) -> None:
    assert not loaded_by(code) & set(HEAVY)


@pytest.mark.parametrize(
    "module", ["clickgrad.browser", "clickgrad.tasks", "clickgrad.agent.prompt", "clickgrad.report.page"]
)
def test_only_the_model_needs_torch_and_only_the_browser_playwright(module: str) -> None:
    assert not loaded_by(f"import {module}") & {"torch", "transformers", "playwright"}


@pytest.mark.parametrize("preset", presets())
def test_every_preset_is_taken_at_its_word_and_no_section_of_it_is_idle(preset: str) -> None:
    said = tomllib.loads((resources.files("clickgrad") / "presets" / f"{preset}.toml").read_text())
    taken = load_config(preset, [], "train").model_dump(exclude_unset=True)
    assert taken == said
    own = {"study-forks": "study forks", "study-baselines": "study baselines"}
    command = own.get(preset, "study start" if preset.startswith("study") else "train")
    assert said.keys() <= READ_BY[command] | READ_BY["study turns"]


def test_every_command_with_options_is_one_of_the_command_line_and_the_other_way_round() -> None:
    """Asked of the parser: `--set` is what tells them."""
    takes = set()
    for words in commands_of(build_parser()):
        with suppress(SystemExit), redirect_stdout(io.StringIO()) as told:
            build_parser().parse_args([*words, "--help"])
        if "--set" in told.getvalue() and words[0] != "bench":
            takes.add(" ".join(words))
    assert takes == READ_BY.keys()


def commands_of(parser: argparse.ArgumentParser) -> list[list[str]]:
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                found += [[name, *words] for words in commands_of(below)] or [[name]]
    return found

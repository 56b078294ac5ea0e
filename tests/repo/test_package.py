from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import clickgrad
from clickgrad.cli import build_parser
from clickgrad.config import READ_BY, Config, load_config, presets

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "transformers", "playwright", "vllm", "ray", "rich", "pydantic", "starlette")


def loaded_by(code: str) -> set[str]:
    listing = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in listing.stdout.split()}


def test_the_public_names_are_those_listed() -> None:
    assert clickgrad.__all__ == ["__version__"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", clickgrad.__version__)


@pytest.mark.parametrize("code", ["import clickgrad", "from clickgrad.cli import build_parser; build_parser()"])
def test_nothing_heavy_is_loaded_before_it_is_needed(code: str) -> None:
    assert not loaded_by(code) & set(HEAVY)


@pytest.mark.parametrize(
    "module", ["clickgrad.browser", "clickgrad.tasks", "clickgrad.agent.prompt", "clickgrad.report.page"]
)
def test_only_the_model_needs_torch_and_only_the_browser_playwright(module: str) -> None:
    assert not loaded_by(f"import {module}") & {"torch", "transformers", "playwright"}


@pytest.mark.parametrize("preset", presets())
def test_every_preset_loads_and_says_nothing_twice(preset: str) -> None:
    config = load_config(preset, [], "train")
    assert isinstance(config, Config)


def test_every_command_that_takes_options_knows_its_sections() -> None:
    known = set(Config.model_fields)
    assert all(set(sections) <= known for sections in READ_BY.values())


def commands_in(document: Path) -> list[str]:
    blocks = re.findall(r"```(?:bash|sh|console)\n(.*?)```", document.read_text(), re.DOTALL)
    lines = [line.removeprefix("$ ").strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize(
    "document", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_the_documented_commands_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in commands_in(document):
        words = shlex.split(line, comments=True)
        if words[0] == "make":
            assert words[1] in targets, line
        elif words[0].endswith("clickgrad"):
            build_parser().parse_args(words[1:])
        else:
            assert words[0] in ("git", "cd", "pip", "export", "python"), line

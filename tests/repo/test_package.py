from __future__ import annotations

import re
import subprocess
import sys

import pytest

import clickgrad
from clickgrad.config import READ_BY, Config, load_config, presets

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

from __future__ import annotations

from pathlib import Path

from clickgrad.config import load_config
from clickgrad.planning.dry_run import resolved
from clickgrad.tools.doctor import PEAK_GB, short_of_memory


def test_a_machine_with_less_memory_than_the_default_run_takes_has_a_problem() -> None:
    problems, warnings = short_of_memory(4 * 2**30, 4 * 2**30)
    assert problems == [f"4.3 GB of memory in all; the default run peaks at {PEAK_GB} GB"]
    assert warnings == []


def test_memory_that_is_only_taken_at_the_moment_is_a_warning() -> None:
    problems, warnings = short_of_memory(32e9, 4e9)
    assert problems == []
    assert warnings == [f"4.0 GB of memory are available; the default run peaks at {PEAK_GB} GB"]
    assert short_of_memory(32e9, PEAK_GB * 1e9) == ([], [])


def test_the_dry_run_of_the_default_run_says_what_it_takes() -> None:
    assert f"peaks at {PEAK_GB} GB of memory" in resolved(load_config("quick", [], "train"), "train")


def test_the_readme_says_the_same_figure() -> None:
    assert f"{PEAK_GB} GB of memory" in (Path(__file__).parents[3] / "README.md").read_text()

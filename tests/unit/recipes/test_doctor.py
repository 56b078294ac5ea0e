from __future__ import annotations

from pathlib import Path

import pytest

from clickgrad.cli import main
from clickgrad.config import load_config
from clickgrad.planning.dry_run import resolved
from clickgrad.tools.doctor import PEAK_GB, short_of_memory
from clickgrad.tools.gpu_doctor import examine_gpus


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


def test_gpus_are_examined_where_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = examine_gpus(tmp_path)
    assert (found.gpus, found.placements, found.problems) == ([], {}, [])
    assert any("no GPU: nvidia-smi is missing" in warning for warning in found.warnings)
    assert "torch" in found.text()


def test_a_driver_with_gpus_that_torch_does_not_see_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho '0, GPU-0, NVIDIA A100-SXM4-80GB, 81920'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    found = examine_gpus(tmp_path)
    assert found.problems[0].startswith("the driver lists 1 GPUs, torch sees 0: install a build of torch for CUDA")
    assert found.placements["qwen2.5-3b"] == "1 in turn 71.1"
    assert "does not fit on 1 GPU of 86 GB" in found.placements["llama3.1-8b"]


def test_a_smoke_without_gpu_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--smoke"]) == 2
    assert "clickgrad doctor --gpu --smoke" in capsys.readouterr().err

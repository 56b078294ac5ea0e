"""Who samples and who learns on which GPU: by arithmetic, on machines that only a table knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from clickgrad.backends.gpus import gpus_here
from clickgrad.backends.placement import (
    Load,
    Machine,
    Placement,
    assumed_machine,
    fitting,
    load_of,
    place,
    placement_here,
)
from clickgrad.config import Config, load_config
from clickgrad.errors import UserError
from clickgrad.planning.dry_run import resolved
from clickgrad.planning.placement import placement_table


def of(preset: str, *settings: str) -> Config:
    return load_config(preset, settings, "train")


def load(preset: str, *settings: str) -> Load:
    config = of(preset, *settings)
    return load_of(config, config.model.path)


def put_driver(folder: Path, monkeypatch: pytest.MonkeyPatch, *gpus: tuple[str, int]) -> None:
    """A driver's tool that lists these GPUs, by name and MiB."""
    lines = "\n".join(f"{number}, GPU-{number}, {name}, {mib}" for number, (name, mib) in enumerate(gpus))
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{lines}\nEND\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


A100 = ("NVIDIA A100-SXM4-80GB", 81920)


def test_qwen_on_eight_gpus_of_80_gb() -> None:
    placement = place(load("qwen2.5-3b"), Machine(1, 8, 80))
    assert (placement.mode, placement.learners, placement.engines) == ("separate", 4, 4)
    # 3.0857e9 parameters: four numbers of four bytes and the start policy in two, over four: 18 x 3.0857 / 4.
    assert placement.learner.state == pytest.approx(13.886, abs=0.01)
    # Inputs of 36 layers of 2048 and 1.5 times what one layer keeps, 60,928; 16,384 tokens in two bytes.
    assert placement.learner.activations == pytest.approx(16_384 * 2 * (36 * 2048 + 1.5 * 60_928) / 1e9, rel=1e-3)
    # Keys and values of 36 layers of 256: 36,864 bytes a token; 16,384 of them a reply of full length.
    assert placement.engine.row == pytest.approx(0.604, abs=0.001)
    assert placement.memory_share == 0.9
    assert placement.rows == int((72 - 6.171 - 2) / 0.604)


@pytest.mark.parametrize(
    ("preset", "machine", "mode", "learners"),
    [
        ("qwen2.5-3b", Machine(1, 1, 80), "shared", 1),
        ("qwen2.5-3b", Machine(1, 8, 24), "separate", 5),
        ("qwen2.5-3b", Machine(2, 8, 24), "separate", 8),
        ("llama3.1-8b", Machine(1, 4, 80), "separate", 3),
        ("llama3.1-8b", Machine(2, 8, 40), "separate", 9),
    ],
)
def test_what_fits_is_placed(preset: str, machine: Machine, mode: str, learners: int) -> None:
    placement = fitting(load(preset), machine)
    assert (placement.mode, placement.learners) == (mode, learners)
    assert placement.learning_gb <= 0.9 * machine.gpu_gb
    assert placement.rows >= 2
    if mode == "shared":
        assert placement.learner.state + placement.memory_share * machine.gpu_gb <= 0.9 * machine.gpu_gb


@pytest.mark.parametrize(
    ("preset", "machine", "way"),
    [
        ("qwen2.5-3b", Machine(1, 1, 24), "it fits on 8 such GPUs"),
        ("qwen2.5-3b", Machine(1, 4, 24), "set lora.rank=32"),
        (
            "llama3.1-8b",
            Machine(1, 8, 40),
            "set model.context_tokens=8192, agent.page_tokens=4096 and micro_tokens=8192",
        ),
        ("llama3.1-8b", Machine(1, 8, 24), "take GPUs with more memory, or a smaller model"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line_with_what_would(preset: str, machine: Machine, way: str) -> None:
    with pytest.raises(UserError, match=r"does not fit on .* GB: an? (learner|engine) needs [\d.]+ of") as refused:
        fitting(load(preset), machine)
    assert str(refused.value).endswith(way)
    assert "\n" not in str(refused.value)


def test_the_setting_that_is_proposed_fits() -> None:
    settings = ["model.context_tokens=8192", "agent.page_tokens=4096"]
    settings += ["reinforce.micro_tokens=8192"]
    assert fitting(load("llama3.1-8b", *settings), Machine(1, 8, 40))
    assert fitting(load("qwen2.5-3b", "lora.rank=32"), Machine(1, 4, 24))


@pytest.mark.parametrize("preset", ["qwen2.5-3b", "llama3.1-8b", "study-paper"])
def test_a_dry_run_prints_the_table_or_the_placement_on_assumed_gpus(preset: str) -> None:
    text = resolved(of(preset), "train")
    assert "# 2x8 " in text
    assert " learn " in text
    text = resolved(of(preset, "placement.assume=8x80"), "train")
    assert "# placement on 8 GPUs of 80 GB: the first 4 learn, the last 4 sample" in text
    assert "torchrun --nproc-per-node 4" in text
    text = resolved(of(preset, "placement.assume=2x8x80"), "train")
    assert "cluster.engines=8 cluster.learners=8" in text
    text = resolved(of(preset, "placement.assume=8x80", "placement.mode=shared"), "train")
    assert "all 8 sample and learn in turn" in text
    with pytest.raises(UserError, match="does not fit on 1 GPU of 24 GB"):
        resolved(of(preset, "placement.assume=1x24"), "train")


def test_a_model_that_is_not_known_has_no_placement_and_a_dry_run_says_so() -> None:
    assert "# no placement: --model unheard-of: unknown" in resolved(
        of("study-paper", "model.path=un/unheard-of"), "train"
    )


@pytest.mark.parametrize("preset", ["qwen2.5-3b", "llama3.1-8b"])
def test_the_tables_of_the_docs_are_those_of_a_dry_run(preset: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "gpu.md").read_text()
    rows = placement_table(load(preset)).markdown().splitlines()[2:]
    assert "\n".join(rows) in page


@pytest.mark.parametrize("text", ["8", "8x", "0x80", "eight", "1x2x3x4", "8x-80"])
def test_gpus_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="write GPUs x GB, as 8x80"):
        assumed_machine(text)
    assert assumed_machine("2x8x40") == Machine(2, 8, 40)


# --- on a machine with GPUs, as its driver tells them ---


def here(*settings: str) -> Placement | None:
    config = of("qwen2.5-3b", *settings)
    return placement_here(config, config.model.path)


def test_without_a_driver_nothing_is_placed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpus_here() == ()
    assert here() is None


def test_as_many_processes_as_gpus_that_learn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_driver(tmp_path, monkeypatch, *[A100] * 8)
    assert [gpu.index for gpu in gpus_here()] == list("01234567")
    monkeypatch.setenv("WORLD_SIZE", "4")
    placement = here()
    assert placement
    assert (placement.mode, placement.learners, placement.engines) == ("separate", 4, 4)
    monkeypatch.setenv("WORLD_SIZE", "6")  # another number that fits is taken
    placement = here()
    assert placement
    assert (placement.learners, placement.engines) == (6, 2)
    monkeypatch.setenv("WORLD_SIZE", "8")
    placement = here()
    assert placement
    assert (placement.mode, placement.learners, placement.engines) == ("shared", 8, 8)
    monkeypatch.setenv("WORLD_SIZE", "16")
    with pytest.raises(UserError, match=r"16 processes for 4 GPUs that learn on 8 GPUs of 86 GB: .*nproc-per-node 4"):
        here()


def test_only_visible_gpus_count_and_they_are_of_one_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_driver(tmp_path, monkeypatch, A100, A100, ("NVIDIA L40S", 46068), ("NVIDIA L40S", 46068))
    with pytest.raises(UserError, match=r"different kinds \(.*L40S\): .*CUDA_VISIBLE_DEVICES=0,1"):
        here()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-1,0")
    assert [gpu.index for gpu in gpus_here()] == ["1", "0"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpus_here() == ()


def test_gpus_for_assuming_are_not_for_a_run() -> None:
    from clickgrad.backends.engines import refuse_useless

    with pytest.raises(UserError, match=r"placement\.assume is for --dry-run"):
        refuse_useless(of("qwen2.5-3b", "placement.assume=8x80"))

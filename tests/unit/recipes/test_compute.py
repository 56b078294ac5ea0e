"""Which type products have: measured once in a run, written down, and corrected for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clickgrad.backends.learners import ROUNDED_CAP, update_options
from clickgrad.backends.policies import model_spec, settle_compute
from clickgrad.config import Config, load_config
from clickgrad.errors import UserError
from clickgrad.policy.packed import fastest, knows_bfloat16
from clickgrad.run_folder import open_run
from clickgrad.run_layout import COMPUTE, CONFIG

BFLOAT16 = "bfloat16" if knows_bfloat16() else "float32"  # what comes of it on this CPU


def config(*settings: str) -> Config:
    return load_config(None, settings, "reinforce")


def test_auto_is_what_the_machine_is_fastest_with(tmp_path: Path) -> None:
    settled = settle_compute(config("model.compute=auto"), tmp_path)
    assert settled.model.compute == fastest().compute == json.loads((tmp_path / COMPUTE).read_text())["compute"]
    assert model_spec(settled, "smollm2").compute == fastest().compute


@pytest.mark.parametrize("begun", ["float32", "bfloat16"])
def test_a_resumed_run_computes_as_it_began(tmp_path: Path, begun: str) -> None:
    (tmp_path / COMPUTE).write_text(json.dumps({"compute": begun, "gain": 1.0}))
    settled = settle_compute(config("model.compute=auto"), tmp_path).model.compute
    assert settled == (BFLOAT16 if begun == "bfloat16" else begun)


@pytest.mark.parametrize("damaged", ["", "{", "[]", "{}", '{"compute": "gloat32"}'])
def test_what_cannot_be_read_is_measured_again(tmp_path: Path, damaged: str) -> None:
    (tmp_path / COMPUTE).write_text(damaged)
    assert settle_compute(config("model.compute=auto"), tmp_path).model.compute == fastest().compute


def test_a_type_that_was_named_is_not_measured(tmp_path: Path) -> None:
    assert settle_compute(config("model.compute=int8"), tmp_path).model.compute == "int8"
    assert not (tmp_path / COMPUTE).exists()


@pytest.mark.parametrize("wanted", ["auto", "bfloat16"])
def test_a_cpu_without_the_type_computes_in_float32_and_says_so_once(
    wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """auto: of a run that began on a machine that has it."""
    (tmp_path / COMPUTE).write_text(json.dumps({"compute": "bfloat16", "gain": 2.0}))
    settled = settle_compute(config(f"model.compute={wanted}"), tmp_path)
    said = capsys.readouterr().err.count("this CPU has no fast products in bfloat16: float32 instead")
    assert (settled.model.compute, said) == (BFLOAT16, 0 if knows_bfloat16() else 1)
    assert model_spec(config("model.compute=bfloat16"), "smollm2").compute == BFLOAT16
    update = update_options(settled, 1)
    assert update.importance_cap == (ROUNDED_CAP if knows_bfloat16() else 0)


@pytest.mark.parametrize(
    ("settings", "cap"),
    [
        ((), 0.0),
        (("model.compute=bfloat16",), ROUNDED_CAP if knows_bfloat16() else 0.0),
        (("model.compute=int8",), ROUNDED_CAP),
        (("model.compute=bfloat16", "reinforce.importance_cap=1.5"), 1.5),
        (("reinforce.importance_cap=3.0",), 3.0),
    ],
)
def test_rounded_products_are_corrected_for(settings: tuple[str, ...], cap: float) -> None:
    assert update_options(config(*settings), 1).importance_cap == cap


def test_options_of_before_are_refused_by_their_new_name() -> None:
    with pytest.raises(UserError, match=r"learner\.autocast is now model\.compute='bfloat16'"):
        config("learner.autocast=true")
    with pytest.raises(UserError, match=r"reinforce\.int8 is now model\.compute='int8'"):
        config("reinforce.int8=true")


def test_a_run_that_was_started_when_they_were_there_goes_on(tmp_path: Path) -> None:
    with open_run(tmp_path, Config(), "reinforce", "start"):
        (tmp_path / "metrics.jsonl").write_text("")
    written = (tmp_path / CONFIG).read_text()
    unsigned = "\n".join(line for line in written.splitlines() if not line.startswith("#"))
    (tmp_path / CONFIG).write_text(unsigned.replace("[learner]", "[learner]\nautocast = false"))
    with open_run(tmp_path, Config(), "reinforce", "start"):
        pass
    (tmp_path / CONFIG).write_text(unsigned.replace("[learner]", "[learner]\nautocast = true"))
    with (
        pytest.raises(UserError, match=r"was started with learner\.autocast = True"),
        open_run(tmp_path, Config(), "reinforce", "start"),
    ):
        pass

"""What a run was started with, found damaged: named, set aside, and written anew from the options given now."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from clickgrad.config import Config, ReinforceSection
from clickgrad.errors import UserError
from clickgrad.report.runs import RunFolder
from clickgrad.run_folder import open_run


def flip_a_digit(content: bytes) -> bytes:
    """Still TOML, but with another seed."""
    assert content.count(b"\nseed = 0\n") >= 1
    return content.replace(b"\nseed = 0\n", b"\nseed = 1\n", 1)


@pytest.mark.parametrize(
    "spoil",
    [
        flip_a_digit,
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: bytes(len(content)),
        lambda content: content.replace(b"=", b"\xff", 1),
    ],
    ids=["a digit flipped", "empty", "halved", "zeros", "a byte flipped"],
)
def test_damaged_options_are_named_set_aside_and_written_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[bytes], bytes]
) -> None:
    run, config = tmp_path / "run", Config()
    with open_run(run, config, "train"):
        pass
    whole = (run / "config.toml").read_bytes()
    spoilt = spoil(whole)
    (run / "config.toml").write_bytes(spoilt)
    assert "config.toml cannot be read" in RunFolder(run, ".").options()[1]
    with open_run(run, config, "train"):
        pass
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{run}/config.toml is damaged" in said
    assert (run / "config.toml.damaged").read_bytes() == spoilt
    assert (run / "config.toml").read_bytes() == whole
    with open_run(run, config, "train"):
        pass
    assert capsys.readouterr().err == ""


def test_whole_options_are_still_compared(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", Config(), "train"):
        pass
    with (
        pytest.raises(UserError, match="was started with seed = 0, not 1"),
        open_run(tmp_path / "run", Config(seed=1), "train"),
    ):
        pass


def test_options_without_a_signature_are_taken_as_they_are(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", Config(), "train"):
        pass
    path = tmp_path / "run" / "config.toml"
    path.write_text("# mine\n" + path.read_text().partition("\n")[2])
    with open_run(tmp_path / "run", Config(), "train"):
        pass
    assert not path.with_name("config.toml.damaged").exists()
    assert tomllib.loads(path.read_text())["command"] == "train"


def test_an_option_that_there_was_none_of_when_a_run_began_counts_as_its_default(tmp_path: Path) -> None:
    """As in the run folders of an older version."""
    with open_run(tmp_path / "run", Config(), "train"):
        pass
    path = tmp_path / "run" / "config.toml"
    kept = [line for line in path.read_text().splitlines() if not line.startswith(("curriculum", "#"))]
    path.write_text("\n".join(kept) + "\n")
    changed = Config(reinforce=ReinforceSection(curriculum=True))
    with (
        pytest.raises(UserError, match=r"was started with reinforce\.curriculum = False, not True"),
        open_run(tmp_path / "run", changed, "train"),
    ):
        pass
    with open_run(tmp_path / "run", Config(), "train"):
        pass
    assert tomllib.loads(path.read_text())["reinforce"]["curriculum"] is False

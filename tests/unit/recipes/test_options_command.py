"""`clickgrad options`: the table that is generated from the options themselves; and what was probably meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import call

from clickgrad.cli import main
from clickgrad.config import Config
from clickgrad.tools.options import list_options


def test_every_option_has_a_default_and_a_meaning() -> None:
    options = list_options()
    assert {one.name.partition(".")[0] for one in options} == set(Config.model_fields)
    assert [one.name for one in options if not one.meaning or not one.commands] == []


def test_a_section_is_listed_with_what_the_presets_say(tmp_path: Path) -> None:
    told = call(["options", "reinforce", "--json"], tmp_path)
    listed = {one["name"]: one for one in map(json.loads, told.stdout.splitlines())}
    steps = listed["reinforce.steps"]
    assert (steps["default"], steps["presets"]["quick"]) == (10, 14)
    assert {"reinforce", "train"} <= set(steps["commands"])
    assert all(name.startswith("reinforce.") for name in listed)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["options", "reinfroce"], "'reinforce'"),
        (["evaluate", "--set", "evaluate.atempts=2"], "'evaluate.attempts'"),
        (["train", "--config", "quik"], "'quick'"),
        (["tasks", "--suite", "pockte"], "'pocket'"),
        (["evaluate", "--policy", "scripted:noop", "--set", "tasks.templates=['shop.wishlist']"], "'shop.wish_list'"),
        (["watch", "shop.wishlist.0006", "--policy", "scripted:noop"], "'shop.wish_list.0006'"),
    ],
)
def test_a_slip_of_the_pen_is_answered_with_what_was_probably_meant(
    arguments: list[str], meant: str, tmp_path: Path
) -> None:
    told = call(arguments, tmp_path)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert f"(did you mean {meant}?)" in told.stderr


@pytest.mark.parametrize("setting", ["reinforce.learning_rate=1", "learning_rate=1"])
def test_what_is_like_no_option_is_answered_with_none(setting: str, tmp_path: Path) -> None:
    told = call(["train", "--set", setting], tmp_path)
    assert "unknown option" in told.stderr
    assert "did you mean" not in told.stderr


@pytest.mark.parametrize(("words", "meant"), [(["trian"], "'train'"), (["evaluate", "--polcy", "x"], "'--policy'")])
def test_a_command_or_a_flag_that_is_none_is_one_line(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"(did you mean {meant}?)" in told

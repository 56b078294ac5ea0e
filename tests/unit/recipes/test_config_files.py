"""Files are checked like `--set`; presets and the files of whole runs are read in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from clickgrad.backends.tasks import chosen_tasks
from clickgrad.config import READ_BY, load_config, presets
from clickgrad.errors import UserError
from clickgrad.run_folder import open_run

TODO = Path(__file__).parents[3] / "examples" / "todo"


def test_a_section_that_the_command_does_not_read_is_refused_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[reinforce]\nlr = 1e-5\n")
    assert load_config(str(file), [], "reinforce").reinforce.lr == 1e-5
    with pytest.raises(UserError, match=r"mine\.toml: `clickgrad evaluate` does not read the section reinforce"):
        load_config(str(file), [], "evaluate")


def test_a_file_of_a_whole_run_says_so_and_is_held_to_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("command = 'train'\n[reinforce]\nlr = 1e-5\n[evaluate]\nlimit = 3\n")
    assert load_config(str(file), [], "evaluate").evaluate.limit == 3
    file.write_text("command = 'train'\n[turns]\nlimits = [1]\n")
    with pytest.raises(UserError, match="`clickgrad train` does not read the section turns"):
        load_config(str(file), [], "evaluate")
    file.write_text("command = 'trian'\n")
    with pytest.raises(UserError, match="command = 'trian' is none; known are"):
        load_config(str(file), [], "evaluate")


def test_the_options_in_a_runs_folder_are_a_file_for_every_command(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", load_config("quick", [], "train"), "train", "smollm2") as run:
        (run / "metrics.jsonl").write_text("")
    for command in READ_BY:
        assert load_config(str(run / "config.toml"), [], command).tasks.templates


@pytest.mark.parametrize("command", READ_BY)
@pytest.mark.parametrize("preset", presets())
def test_a_preset_is_for_every_command(preset: str, command: str) -> None:
    load_config(preset, [], command)


@pytest.mark.parametrize("suite", ["miniwob", str(TODO)])
@pytest.mark.parametrize("preset", ["quick", "pocket-cpu", "study"])
def test_another_suite_drops_what_the_preset_chose_from_its_own(
    preset: str, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load_config(None, [f"tasks.suite={suite}"], "train", default=preset)
    for split in ("demo", "train", "test"):
        assert chosen_tasks(config, split)
    err = capsys.readouterr().err
    assert len(err.splitlines()) == (preset != "pocket-cpu")  # which chooses nothing
    assert (f"what {preset} says of" in err) == (preset != "pocket-cpu")


def test_the_turn_limit_made_for_the_chosen_tasks_goes_with_them() -> None:
    assert load_config("quick", [], "train").agent.max_turns == 2
    assert load_config("quick", ["tasks.suite=miniwob"], "train").agent.max_turns == 8
    assert load_config("quick", ["tasks.suite=miniwob", "agent.max_turns=3"], "train").agent.max_turns == 3


def test_what_is_set_beside_the_suite_stays(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["tasks.suite=miniwob", 'tasks.templates=["click-test"]']
    assert load_config("quick", settings, "train").tasks.templates == ["click-test"]
    assert load_config("miniwob", ["tasks.suite=miniwob"], "train").tasks.templates[0] == "click-test"

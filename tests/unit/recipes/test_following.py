"""Which demonstrations an episode may begin along, and what is refused by name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tiny import make_task, make_trajectory, make_turn

from clickgrad.agent.prompt import PromptBuilder
from clickgrad.config import Config, ReinforceSection, load_config
from clickgrad.errors import UserError
from clickgrad.recipes.algorithm import refuse_silent
from clickgrad.recipes.following import (
    Earlier,
    Recalled,
    find_demonstrations,
    refuse_unforkable,
    retold,
    stored_rollouts,
)
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import step_trajectories
from clickgrad.types import Click, Given, Task, Trajectory

TASK = replace(make_task(), template="shop.buy", suite="toy")


def demonstration(task: Task = TASK) -> Trajectory:
    turn = make_turn((), (), text='do(action="Click", element="3")')
    return make_trajectory([replace(turn, action=Click(3))] * 2, 1.0, task, f"{task.id}/try-0")


def found(start: str, run: Path, tasks: list[Task], **options: str) -> list[Trajectory]:
    config = Config(reinforce=ReinforceSection.model_validate(options))
    return asyncio.run(find_demonstrations(config, start, run, tasks))


def test_the_demonstrations_of_cloning_lie_beside_its_model_or_in_a_file_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "clone" / "model").mkdir(parents=True)
    TrajectoryFile(tmp_path / "clone" / "trajectories" / "demos.jsonl.zst").extend([demonstration()])
    for start in ("clone", "clone/model", "."):  # as --start takes them
        assert found(str(tmp_path / start), tmp_path, [TASK], starts="demos") == [demonstration()]
    named = str(tmp_path / "clone" / "trajectories" / "demos.jsonl.zst")
    assert found("smollm2", tmp_path, [TASK], starts="demos", demos=named) == [demonstration()]
    assert found("smollm2", tmp_path, [TASK], starts="own") == []
    with pytest.raises(UserError, match="no demonstrations beside the model smollm2"):
        found("smollm2", tmp_path, [TASK], starts="demos")


def test_demonstrations_of_other_templates_are_left_out_and_refused_if_there_are_no_others(tmp_path: Path) -> None:
    file = tmp_path / "demos.jsonl.zst"
    other = demonstration(replace(TASK, id="other", template="shop.sell"))
    TrajectoryFile(file).extend([demonstration(), other])
    assert found("", tmp_path, [TASK], starts="demos", demos=str(file)) == [demonstration()]
    with pytest.raises(UserError, match=r"the first is of shop\.buy of toy"):
        found("", tmp_path, [replace(TASK, template="shop.rent")], starts="demos", demos=str(file))


def test_replies_in_another_format_are_refused() -> None:
    assert retold([demonstration()], PromptBuilder(None, "plain"))[0].turns == demonstration().turns
    with pytest.raises(UserError, match=r"replies in another format than agent\.reply_format=thinking"):
        retold([demonstration()], PromptBuilder(None, "thinking"))


@pytest.mark.parametrize("option", ["starts=own", "branches=2"])
def test_sites_that_cannot_be_put_back_are_refused_by_name(tmp_path: Path, option: str) -> None:
    (tmp_path / "board").mkdir()
    site = tmp_path / "board" / "site.toml"
    site.write_text('name = "board"\nurl = "http://127.0.0.1:9/"\nshared = true\n')
    for suite, name in (("webarena-lite:tasks.json", "webarena-lite"), (str(site.parent), "the site board")):
        settings = [f"tasks.suite={suite}"]
        refuse_unforkable(load_config(None, settings, "reinforce"))
        with pytest.raises(UserError, match=f"reinforce.{option.partition('=')[0]}: {name}"):
            refuse_unforkable(load_config(None, [*settings, f"reinforce.{option}"], "reinforce"))
    site.write_text('name = "board"\nurl = "http://127.0.0.1:9/"\nreset_url = "/reset"\n')
    refuse_unforkable(load_config(None, [f"tasks.suite={site.parent}", f"reinforce.{option}"], "reinforce"))


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("forks=2", "reinforce.forks does nothing without reinforce.branches"),
        ("replay_age=3", "reinforce.replay_age does nothing without reinforce.replay"),
        ("probe_tasks=3", "reinforce.probe_tasks does nothing without reinforce.probe_every"),
        ("clock=cpu", "reinforce.clock does nothing without reinforce.minutes"),
        ("demos=x", "reinforce.demos does nothing without reinforce.starts='demos'"),
        ("first_part=8", "reinforce.first_part=8 is no part of a group of 8"),
    ],
)
def test_options_that_do_nothing_by_themselves_are_refused(setting: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        refuse_silent(load_config(None, [f"reinforce.{setting}"], "reinforce"))


def test_a_success_is_recalled_by_its_name_and_nothing_else_is(tmp_path: Path) -> None:
    names = [f"step-0002/task-00001/member-{member}/try-0" for member in range(3)]
    passed, failed = (make_trajectory((), reward, TASK, name) for reward, name in zip((1.0, 0.0), names, strict=False))
    later = replace(passed, episode=names[2], given=Given(1, "demo", "demo"))
    TrajectoryFile(step_trajectories(tmp_path, 2)).extend([passed, failed, later])
    recall = Recalled(tmp_path)
    assert [recall(name) for name in names] == [passed, None, None]
    assert recall("step-0009/task-00001/member-0/try-0") is None


def test_damage_to_an_earlier_step_is_named_and_what_is_whole_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = TrajectoryFile(step_trajectories(tmp_path, 1))
    file.extend([demonstration(), replace(demonstration(), episode="step-0001/task-00001/member-0/try-0")])
    content = bytearray(file.path.read_bytes())
    content[len(content) // 4] ^= 1
    for reader in (Earlier(tmp_path, "format"), Recalled(tmp_path)):
        file.path.write_bytes(content)
        found = reader(1) if isinstance(reader, Earlier) else [reader("step-0001/task-00001/member-0/try-0")]
        assert [one.episode for one in found if one] == ["step-0001/task-00001/member-0/try-0"]
        assert f"{file.path} is damaged" in capsys.readouterr().err


def test_a_pool_of_another_prompt_format_is_refused_by_name(tmp_path: Path) -> None:
    TrajectoryFile(step_trajectories(tmp_path, 1)).extend([demonstration()])
    assert Earlier(tmp_path, "format")(1) == stored_rollouts(str(tmp_path), "format") == [demonstration()]
    refused = r"episode task/try-0 was recorded with prompt format format, this run's"
    with pytest.raises(UserError, match=refused):
        Earlier(tmp_path, "other")(1)
    with pytest.raises(UserError, match=refused):
        stored_rollouts(str(tmp_path), "other")


def test_rollouts_that_are_none_are_refused_and_demonstrations_are_none(tmp_path: Path) -> None:
    TrajectoryFile(tmp_path / "trajectories" / "demos.jsonl.zst").extend([demonstration()])
    with pytest.raises(UserError, match="there are no judged episodes"):
        stored_rollouts(str(tmp_path), "format")
    file = tmp_path / "some.jsonl.zst"
    TrajectoryFile(file).extend([demonstration()])
    assert stored_rollouts(str(file), "format") == [demonstration()]


def test_webrl_replays_the_demonstrations_beside_its_start_and_does_without(tmp_path: Path) -> None:
    (tmp_path / "clone" / "model").mkdir(parents=True)
    assert found(str(tmp_path / "clone"), tmp_path, [TASK], algorithm="webrl") == []
    TrajectoryFile(tmp_path / "clone" / "trajectories" / "demos.jsonl.zst").extend([demonstration()])
    assert found(str(tmp_path / "clone"), tmp_path, [TASK], algorithm="webrl") == [demonstration()]

"""A user's mistake is one line that says what, where and what to do, exit code 2, and nothing is lost."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
import zstandard
from commands import call, run

from clickgrad.rollout.store import TrajectoryFile

EXAMPLES = Path(__file__).parents[2] / "examples"
QUICK = ("--set", "evaluate.limit=1", "--set", "rollout.concurrency=1")


def assert_mistake(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stderr.startswith("clickgrad: ")
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for part in parts:
        assert part in done.stderr


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("reinforce.learning_rate=1", ("unknown option reinforce.learning_rate", "known here are lr, clip")),
        ("nonsense.lr=1", ("unknown option nonsense", "known here are seed, model")),
        ("reinforce.steps=many", ("option reinforce.steps", "'many'")),
        ("reinforce.steps=0", ("option reinforce.steps", "greater than or equal to 1")),
        ("reinforce.normalizer=mean", ("option reinforce.normalizer", "'paper', 'constant' or 'token'")),
        ("steps", ("write it as section.option=value",)),
        ("seed.deep=1", ("seed is not a section",)),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, setting: str, parts: tuple[str, ...]) -> None:
    assert_mistake(call(["train", "--set", setting], tmp_path), *parts)


def test_an_option_the_command_does_not_read_is_refused(tmp_path: Path) -> None:
    done = run(["evaluate", "--set", "reinforce.lr=1e-5"], tmp_path)
    assert_mistake(done, "`clickgrad evaluate` does not read the section reinforce")


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (["evaluate", "--policy", "scripted:noop", "--set", "model.path=x"], "model.path: --policy says already which"),
        (["reinforce", "--start", "smollm2", "--set", "model.path=x"], "model.path: --start says already which"),
        (["evaluate", "--policy", "scripted:noop", "--set", "chat.tries=1"], "chat.tries: no hosted model is asked"),
        (["study", "format", "--policy", "scripted:noop", "--set", "chat.tries=1"], "chat.tries: no hosted model"),
        (["clone", "--set", "chat.tries=1"], "chat.tries: no hosted model is asked"),
        (["train", "--set", "model.compute=bfloat16", "--set", "model.dtype=bfloat16"], "model.compute does nothing"),
        (["train", "--set", "learner.autocast=true"], "learner.autocast is now model.compute='bfloat16'"),
    ],
)
def test_a_setting_that_would_change_nothing_is_refused(tmp_path: Path, command: list[str], part: str) -> None:
    assert_mistake(call(command, tmp_path), part)


def test_a_setting_of_hosted_models_is_read_where_one_is_asked(tmp_path: Path) -> None:
    hosted = [
        "study",
        "format",
        "--policy",
        "scripted:noop",
        "--policy",
        "chat:m",
        "--set",
        "chat.tries=1",
        "--dry-run",
    ]
    assert call(hosted, tmp_path).returncode == 0
    explained = ["clone", "--set", "clone.remarks=chat:m", "--set", "chat.tries=1", "--dry-run"]
    assert call(explained, tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[reinforce]\nlr = 1e-5\nwarp = 9\n", "bad.toml: unknown option reinforce.warp"),
        ("a = = 1", "bad.toml is not TOML"),
    ],
)
def test_a_wrong_config_file_is_named(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    assert_mistake(call(["train", "--config", "bad.toml"], tmp_path), part)


def test_a_missing_config_file_names_the_presets(tmp_path: Path) -> None:
    assert_mistake(call(["train", "--config", "none.toml"], tmp_path), "config none.toml", "a preset (", "quick")


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    done = call(["evaluate", "--policy", "torch:/no/such/model", *QUICK], tmp_path)
    assert_mistake(done, "'/no/such/model' not found", "give a transformers folder")


def test_an_unknown_policy_is_named(tmp_path: Path) -> None:
    assert_mistake(
        call(["evaluate", "--policy", "oracle", *QUICK], tmp_path), "unknown policy 'oracle'", "scripted:expert"
    )


def test_an_unknown_suite_or_template_is_named(tmp_path: Path) -> None:
    assert_mistake(call(["tasks", "--suite", "webshop"], tmp_path), "unknown suite 'webshop'", "pocket")
    done = call(["train", "--dry-run", "--set", 'tasks.templates=["shop.fly"]'], tmp_path)
    assert_mistake(done, "tasks.templates: no 'shop.fly' in pocket", "shop.add_to_cart")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[", "is not JSON"),
        ("{}", "make it a list of tasks"),
        ('[{"id": "a"}]', "entry 0"),
        ('[{"id": 3}]', "entry 0"),
    ],
)
def test_a_malformed_task_file_is_named(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "tasks.json").write_text(text)
    assert_mistake(call(["tasks", "--suite", "tasks.json"], tmp_path), "tasks.json", part)


def test_a_malformed_trajectory_file_is_named_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "demos.jsonl.zst"
    rubbish = zstandard.ZstdCompressor(write_checksum=True).compress(b'{"format": 2, "trajectory": 7}')
    path.write_bytes(rubbish)
    assert_mistake(
        call(["demos", "--out", path], tmp_path), "demos.jsonl.zst: record 0 is malformed", "move the file away"
    )
    assert path.read_bytes() == rubbish


def test_a_file_that_is_no_trajectory_file_is_named_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "holiday.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    assert_mistake(call(["demos", "--out", path], tmp_path), "holiday.png is no trajectory file", "move it away")
    assert path.read_bytes() == b"\x89PNG\r\n\x1a\n"


def test_a_checkpoint_of_another_version_is_named(coin: Path, tmp_path: Path) -> None:
    broken = tmp_path / "run" / "checkpoints" / "step-0001"
    broken.mkdir(parents=True)
    (broken / "progress.json").write_text('{"format": 99}')
    tasks = f"tasks.suite={coin / 'tasks.json'}"
    done = run(["reinforce", "--start", coin / "model", "--run", "run", "--set", tasks], tmp_path)
    assert_mistake(done, "step-0001 is of another version", "start the run in a new folder")


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert_mistake(call(["serve", "--port", str(port)], tmp_path), str(port), "in use")


def test_no_browser_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLICKGRAD_CHROMIUM", "/no/such/browser")
    done = call(["evaluate", "--policy", "scripted:noop", *QUICK], tmp_path)
    assert_mistake(done, "/no/such/browser")


def test_a_run_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = call(["evaluate", "--policy", "scripted:noop", "--run", "file/run", *QUICK], tmp_path)
    assert_mistake(done, "cannot write to the run folder file/run", "--run")


def test_a_full_disk_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    """A file system of 256 KiB fills up in mid-run; the same command goes on when there is room."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        command = [
            "evaluate",
            "--policy",
            "scripted:noop",
            "--run",
            f"{small}/run",
            "--set",
            "rollout.screenshots=true",
            "--set",
            "evaluate.limit=72",
        ]
        done = run([*command, "--set", "rollout.concurrency=1"], tmp_path)
        assert_mistake(done, os.strerror(errno.ENOSPC), "make room")
        kept = TrajectoryFile(small / "run" / "trajectories" / "evaluate.jsonl.zst").read()
        assert 1 <= len(kept) < 72
        shutil.rmtree(small / "run" / "screenshots")
        again = call([*command, "--set", "rollout.concurrency=1"], tmp_path)
        assert f"evaluate: {len(kept) + 1}/72" in again.stdout
    finally:
        subprocess.run(["umount", small], check=True)


def test_other_options_in_an_old_folder_are_refused(tmp_path: Path) -> None:
    command = ["evaluate", "--policy", "scripted:noop", *QUICK]
    assert call(command, tmp_path).returncode == 0
    done = call([*command, "--set", "agent.max_turns=3"], tmp_path)
    assert_mistake(done, "agent.max_turns = 8, not 3", "--run")


def test_the_dry_run_prints_the_plan_and_touches_nothing(tmp_path: Path) -> None:
    done = run(["train", "--dry-run", "--set", "reinforce.steps=77"], tmp_path)
    assert done.returncode == 0
    assert "steps = 77" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_section_in_a_file_that_the_command_does_not_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[reinforce]\nlr = 1e-5\n")
    done = call(["evaluate", "--config", "mine.toml", "--policy", "scripted:noop", *QUICK], tmp_path)
    assert_mistake(done, "mine.toml: `clickgrad evaluate` does not read the section reinforce", "command = 'train'")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


@pytest.mark.parametrize(
    "command",
    [
        ["train", "--set", "judge.url=http://127.0.0.1:1/v1", "--set", "judge.model=m"],
        ["study", "prompting", "--set", "cluster.workers=2"],
        ["train", "--set", "tasks.suite=miniwob"],
        ["train", "--set", f"tasks.suite={EXAMPLES / 'todo'}"],
    ],
)
def test_an_option_that_the_command_reads_is_taken(tmp_path: Path, command: list[str]) -> None:
    done = call([*command, "--dry-run"], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        ["evaluate", "--policy", "torch:/no/such/model"],
        ["evaluate", "--policy", "oracle"],
        ["evaluate", "--policy", "torch:empty"],
        ["evaluate", "--set", "tasks.suite=webshop"],
        ["train", "--set", "model.path=/no/such/model"],
        ["reinforce", "--start", "/no/such/model"],
        ["study", "prompting", "--policy", "oracle"],
    ],
)
def test_a_command_that_failed_does_not_claim_the_folder(tmp_path: Path, wrong: list[str]) -> None:
    (tmp_path / "empty").mkdir()
    done = call([*wrong, "--run", "run"], tmp_path)
    assert done.returncode == 2, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_the_right_command_goes_on_in_the_folder_of_the_wrong_one(tmp_path: Path) -> None:
    wrong = call(["evaluate", "--policy", "torch:/no/such/model", "--run", "run", *QUICK], tmp_path)
    assert wrong.returncode == 2
    assert call(["evaluate", "--policy", "scripted:noop", "--run", "run", *QUICK], tmp_path).returncode == 0


def test_a_replay_of_nothing_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl.zst").touch()
    assert_mistake(call(["replay", "none.jsonl.zst"], tmp_path), "none.jsonl.zst holds no trajectory")


def test_damaged_metrics_are_named_and_set_aside(coin: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.jsonl").write_bytes(bytes(range(128, 256)))
    small = {"tasks.suite": coin / "tasks.json", "reinforce.steps": 1, "reinforce.groups": 1, "agent.max_turns": 1}
    small |= {"reinforce.group_size": 2, "reinforce.max_refills": 0, "agent.max_new_tokens": 24, "lora.rank": 0}
    sets = [part for name, value in small.items() for part in ("--set", f"{name}={value}")]
    done = call(["reinforce", "--start", coin / "model", "--run", "run", *sets], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "metrics.jsonl is damaged: the figures of 0 steps are lost; kept as metrics.jsonl.damaged" in done.stderr
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 1


def test_the_plan_of_an_evaluation_has_the_format_that_its_policy_was_trained_with(tmp_path: Path) -> None:
    (tmp_path / "run" / "model").mkdir(parents=True)
    (tmp_path / "run" / "config.toml").write_text("command = 'reinforce'\n[agent]\npage_tokens = 400\nmax_turns = 2\n")
    done = call(["evaluate", "--policy", "run", "--dry-run"], tmp_path)
    assert "page_tokens = 400\nmax_turns = 2\n" in done.stdout
    other = call(["evaluate", "--policy", "run", "--dry-run", "--set", "agent.max_turns=6"], tmp_path)
    assert "page_tokens = 400\nmax_turns = 6\n" in other.stdout
    assert "agent.max_turns = 6, but run was trained with 2" in other.stderr

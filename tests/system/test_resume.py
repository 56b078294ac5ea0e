"""Kill it at any moment; the same command goes on, nothing is sampled twice, and the weights come out the same."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import call, descendants, kill, none_left, reinforce_coin, start, wait_until

from clickgrad.rollout.store import TrajectoryFile

GROUPS, SIZE, STEPS = 3, 4, 3


def reinforce(coin: Path, folder: str) -> list[str]:
    return reinforce_coin(
        coin,
        folder,
        reinforce__steps=STEPS,
        reinforce__groups=GROUPS,
        reinforce__group_size=SIZE,
        reinforce__micro_tokens=1,  # a row at a time: an update long enough to be killed in
        reinforce__kl_beta=0.1,
    )


def stored(run_folder: Path, step: int) -> list[str]:
    """What the file holds, episode by episode, seconds included: an episode run again would differ."""
    file = TrajectoryFile(run_folder / "trajectories" / f"step-{step:04d}.jsonl.zst")
    return [f"{trajectory.episode} {trajectory.seconds}" for trajectory in file.read()]


def finish(coin: Path, tmp_path: Path, folder: str) -> Path:
    done = call(reinforce(coin, folder), tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path / folder


def weights(folder: Path) -> bytes:
    return (folder / "model" / "model.safetensors").read_bytes()


def never_killed(coin: Path, tmp_path: Path, like: Path) -> Path:
    """A run from start to end on the same trajectories."""
    shutil.copytree(like / "trajectories", tmp_path / "straight" / "trajectories")
    return finish(coin, tmp_path, "straight")


@pytest.mark.timeout(300)
def test_a_run_that_saves_beside_its_training_comes_out_the_same_bit_for_bit(coin: Path, tmp_path: Path) -> None:
    plain = finish(coin, tmp_path, "plain")
    shutil.copytree(plain / "trajectories", tmp_path / "beside" / "trajectories")
    done = call([*reinforce(coin, "beside"), "--set", "learner.save_async=true"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert weights(tmp_path / "beside") == weights(plain)
    for name in ("weights.safetensors", "optimizer.safetensors"):
        last = f"checkpoints/step-{STEPS:04d}/{name}"
        assert (tmp_path / "beside" / last).read_bytes() == (plain / last).read_bytes()


@pytest.mark.timeout(300)
def test_killed_in_three_updates_and_a_rollout_nothing_is_sampled_twice_and_the_weights_come_out_bit_for_bit(
    coin: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"

    def die(happened: Callable[[], bool], delay_s: float = 0.0) -> None:
        process = start(reinforce(coin, "killed"), tmp_path)
        wait_until(happened, process)
        time.sleep(delay_s)  # not to wait for anything: to die at another place of the update
        assert none_left(kill(process))
        assert not (folder / "model").exists(), "killed too late to test anything"

    die(lambda: len(stored(folder, 1)) == GROUPS * SIZE, 0.15)
    first = stored(folder, 1)
    die(lambda: 3 <= len(stored(folder, 2)) < GROUPS * SIZE - 2)
    kept = stored(folder, 2)
    die(lambda: len(stored(folder, 2)) == GROUPS * SIZE, 0.05)
    second = stored(folder, 2)
    die(lambda: len(stored(folder, 3)) == GROUPS * SIZE)
    third = stored(folder, 3)

    finish(coin, tmp_path, "killed")
    assert [stored(folder, step) for step in range(1, STEPS + 1)] == [first, second, third]
    assert second[: len(kept)] == kept
    for episodes in (first, second, third):
        assert len(episodes) == len({line.split()[0] for line in episodes}) == GROUPS * SIZE
    steps = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [(row["step"], row["episodes"], row["crashed"]) for row in steps] == [
        (step, GROUPS * SIZE, 0) for step in range(1, STEPS + 1)
    ]
    progress = json.loads((folder / "checkpoints" / f"step-{STEPS:04d}" / "progress.json").read_text())
    assert progress["episodes"] == STEPS * GROUPS * SIZE
    assert progress["tasks_taken"] == STEPS * GROUPS
    assert weights(folder) == weights(never_killed(coin, tmp_path, folder))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_says_so_and_leaves_no_browser(coin: Path, tmp_path: Path, number: signal.Signals) -> None:
    process = start(reinforce(coin, "stopped"), tmp_path)
    wait_until(lambda: len(stored(tmp_path / "stopped", 1)) >= 2, process)
    family = descendants(process)
    assert any("chrom" in member.name() for member in family)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip() == "clickgrad: interrupted; the same command goes on from here"
    assert none_left(family)


def test_one_who_presses_ctrl_c_again_and_again_is_told_the_same(tmp_path: Path) -> None:
    """At any moment of the ending, Python's own included: no traceback, no other exit code, no browser left."""
    command = ["evaluate", "--policy", "scripted:expert", "--run", "stopped", "--set", "rollout.concurrency=4"]
    process = start(command, tmp_path)
    file = tmp_path / "stopped" / "trajectories" / "evaluate.jsonl.zst"
    wait_until(file.exists, process)
    family = descendants(process)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "clickgrad: interrupted; the same command goes on from here" in err
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert none_left(family)


def test_more_steps_go_on_from_where_it_ended(coin: Path, tmp_path: Path) -> None:
    folder = finish(coin, tmp_path, "longer")
    first = weights(folder)
    more = call([*reinforce(coin, "longer"), "--set", f"reinforce.steps={STEPS + 1}"], tmp_path)
    assert more.returncode == 0, more.stderr
    assert weights(folder) != first
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == STEPS + 1

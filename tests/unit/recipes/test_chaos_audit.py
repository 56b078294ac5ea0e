"""The auditor of `bench chaos` sees what it is there to see, in folders that are wrong on purpose."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tiny import make_trajectory, make_turn

from clickgrad.bench.chaos.audit import Ledger, false_rewards, undisturbed, wrong_denominators
from clickgrad.bench.chaos.faults import KINDS, draw_faults
from clickgrad.bench.chaos.files import damage, final_tries, read_stored
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import End, Trajectory


def episode(name: str, reward: float | None, seconds: float = 1.0) -> Trajectory:
    return replace(make_trajectory([make_turn([1], [2])], reward, episode=name), seconds=seconds)


def store(run: Path, *trajectories: Trajectory, name: str = "evaluate") -> Path:
    path = run / "trajectories" / f"{name}.jsonl.zst"
    TrajectoryFile(path).extend(trajectories)
    return path


def report(run: Path, n: int, passed: int, infra_failed: int) -> None:
    success = {"n": n, "passed": passed, "infra_failed": infra_failed}
    (run / "report.json").write_text(json.dumps({"success": success}))


def test_an_episode_that_is_gone_is_lost_once_and_one_that_was_damaged_is_not(tmp_path: Path) -> None:
    path = store(tmp_path, *(episode(f"{name}/try-0", 1.0) for name in "abc"))
    ledger = Ledger(tmp_path)
    ledger.note()
    a, b, c = read_stored(path)
    ledger.spoil(path, [a, b, c], b.start + 4, b.start + 5)
    path.write_bytes(a.frame)
    assert ledger.lost() == ["lost: trajectories/evaluate.jsonl.zst: c/try-0"]
    assert ledger.lost() == []


def test_an_episode_played_again_does_not_stand_for_the_one_before(tmp_path: Path) -> None:
    path = store(tmp_path, episode("a/try-0", 1.0, seconds=1.0))
    ledger = Ledger(tmp_path)
    ledger.note()
    path.unlink()
    store(tmp_path, episode("a/try-0", 1.0, seconds=2.0))
    assert ledger.lost() == ["lost: trajectories/evaluate.jsonl.zst: a/try-0"]


def test_frames_around_a_damaged_one_are_read(tmp_path: Path) -> None:
    path = store(tmp_path, *(episode(f"{name}/try-0", 1.0) for name in "abc"))
    a, b, c = read_stored(path)
    path.write_bytes(a.frame + b"\0" * len(b.frame) + c.frame)
    assert [one.episode for one in read_stored(path)] == ["a/try-0", "c/try-0"]


def test_damage_is_what_it_says_and_follows_from_the_seed(tmp_path: Path) -> None:
    path, data = tmp_path / "file", bytes(range(100))

    def damaged(how: str) -> tuple[bytes, tuple[int, int]]:
        path.write_bytes(data)
        lost = damage(path, how, random.Random(0))
        return path.read_bytes(), lost

    cut, (at, end) = damaged("truncate")
    assert (cut, end) == (data[:at], 100)
    assert damaged("empty") == (b"", (0, 100))
    flipped, (at, end) = damaged("flip")
    assert end == at + 1
    assert [index for index in range(100) if flipped[index] != data[index]] == [at]
    assert (flipped[at] ^ data[at]).bit_count() == 1
    assert damaged("flip")[0] == flipped


def test_the_first_try_with_a_reward_counts_else_the_last(tmp_path: Path) -> None:
    tries = [("a/try-0", None), ("a/try-1", 0.0), ("a/try-2", 1.0), ("b/try-1", None), ("b/try-0", None)]
    path = store(tmp_path, *(episode(name, reward) for name, reward in tries))
    assert [one.episode for one in final_tries(read_stored(path))] == ["a/try-1", "b/try-1"]


def test_a_report_that_counts_other_than_the_trajectories_is_wrong(tmp_path: Path) -> None:
    tries = [("a/try-0", None), ("a/try-1", 0.0), ("b/try-0", 1.0), ("c/try-0", None)]
    store(tmp_path, *(episode(name, reward) for name, reward in tries))
    report(tmp_path, n=2, passed=1, infra_failed=1)
    assert wrong_denominators(tmp_path, Ledger(tmp_path)) == []
    report(tmp_path, n=3, passed=1, infra_failed=0)  # the crash of c counted as a failure
    assert wrong_denominators(tmp_path, Ledger(tmp_path)) == [
        "denominator: trajectories/evaluate.jsonl.zst: n is 2, told as 3",
        "denominator: trajectories/evaluate.jsonl.zst: infra_failed is 1, told as 0",
    ]


def test_rows_of_metrics_may_count_what_was_damaged_later_and_no_more(tmp_path: Path) -> None:
    stage = tmp_path / "reinforce"
    path = store(stage, episode("a/try-0", 1.0), episode("b/try-0", None), name="step-0001")
    ledger = Ledger(tmp_path)

    def wrong(episodes: int, crashed: int) -> int:
        (stage / "metrics.jsonl").write_text(json.dumps({"step": 1, "episodes": episodes, "crashed": crashed}) + "\n")
        return len(wrong_denominators(tmp_path, ledger))

    assert (wrong(2, 1), wrong(3, 1), wrong(2, 0)) == (0, 1, 1)
    a, b = read_stored(path)
    ledger.spoil(path, [a, b], b.start, b.end)
    path.write_bytes(a.frame)
    assert (wrong(2, 1), wrong(3, 1), wrong(2, 2)) == (0, 1, 1)


def test_rewards_of_crashes_and_rewards_that_do_not_come_again_are_false(tmp_path: Path) -> None:
    crashed = replace(episode("crashed/try-0", 0.0), end=End.CRASHED)
    upgraded = replace(episode("upgraded/try-0", 0.0), reward=1.0)
    store(
        tmp_path,
        episode("same/try-0", 1.0),
        episode("other/try-0", 0.0),
        episode("none/try-0", None),
        crashed,
        upgraded,
    )
    asked: list[str] = []

    def call(words: Sequence[str]) -> str:
        asked.append(words[0])
        if words[0] == "rejudge":
            return json.dumps({"changed": []})
        rows = [("same/try-0", ""), ("other/try-0", "turn 1: url was 'a', is 'b'")]
        return "\n".join(json.dumps({"episode": name, "difference": what}) for name, what in rows)

    assert false_rewards(tmp_path, (), call, tmp_path) == [
        "false reward: crashed/try-0: reward 0.0 though the episode ended crashed and its verdict is failed",
        "false reward: upgraded/try-0: reward 1.0 though the episode ended stopped and its verdict is failed",
        "false reward: other/try-0: turn 1: url was 'a', is 'b'",
    ]
    assert asked == ["rejudge", "replay", "replay", "replay"]  # three times, before it counts


def test_the_undisturbed_run_gets_what_was_damaged_as_it_was_unless_it_was_played_again(tmp_path: Path) -> None:
    run, stormy = tmp_path / "run", tmp_path / "stormy"
    path = store(run, *(episode(f"{name}/try-0", 1.0) for name in "abc"))
    ledger = Ledger(run)
    a, b, c = read_stored(path)
    ledger.spoil(path, [a, b, c], b.start, c.end)
    path.write_bytes(a.frame)
    store(run, episode("b/try-0", 0.0, seconds=2.0))
    undisturbed(run, stormy, ledger)
    assert [(one.episode, one.reward) for one in read_stored(path)] == [
        ("a/try-0", 1.0),
        ("b/try-0", 0.0),
        ("c/try-0", 1.0),
    ]
    assert len(read_stored(stormy / "trajectories" / "evaluate.jsonl.zst")) == 2


def test_a_plan_takes_every_kind_before_it_takes_one_twice() -> None:
    drawn = draw_faults(KINDS, len(KINDS) + 5, random.Random(1))
    assert sorted(drawn[: len(KINDS)]) == sorted(KINDS)
    assert drawn == draw_faults(KINDS, len(KINDS) + 5, random.Random(1))
    assert drawn != draw_faults(KINDS, len(KINDS) + 5, random.Random(2))

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tiny import make_task, make_trajectory

from clickgrad.backends.tasks import chosen_tasks
from clickgrad.config import load_config
from clickgrad.errors import UserError
from clickgrad.report.compare import compare
from clickgrad.report.episodes import Episode
from clickgrad.report.stats import Pairs
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_folder import open_run
from clickgrad.tasks.checks import judge
from clickgrad.tasks.suites import load_tasks
from clickgrad.tools.compare import compare_pairs, compare_runs
from clickgrad.tools.rejudge import rejudge
from clickgrad.types import AnswerCheck, Evidence, Outcome, StateCheck, Task, Trajectory, Verdict


def attempt(task: str, reward: float | None, number: int = 0, retry: int = 0) -> Trajectory:
    return make_trajectory([], reward, make_task(task), f"{task}/attempt-{number}/try-{retry}")


def episodes(*trajectories: Trajectory) -> list[Episode]:
    return [Episode.of(trajectory) for trajectory in trajectories]


def test_episodes_are_paired_by_task_and_attempt() -> None:
    a = episodes(attempt("w", 1.0), attempt("x", 1.0), attempt("y", 0.0), attempt("y", 1.0, 1), attempt("z", 0.0))
    b = episodes(attempt("z", 0.0), attempt("y", 1.0), attempt("y", 1.0, 1), attempt("x", 0.0), attempt("v", 1.0))
    found = compare(a, b)
    assert found.pairs == Pairs(both=1, only_a=1, only_b=1, neither=1)
    assert (found.gained, found.lost) == (("y/attempt-0",), ("x/attempt-0",))
    assert dict(found.unpaired) == {"w/attempt-0": "only in A", "v/attempt-0": "only in B"}
    assert (found.rates[0].passed, found.rates[1].passed) == (2, 2)
    assert "B - A: +0.0 points" in found.text()
    assert found.plain()["mcnemar_p"] == 1.0


def test_an_episode_without_verdict_or_of_another_task_makes_no_pair() -> None:
    renamed = replace(attempt("x", 1.0), task=make_task("x", intent="Something else."))
    found = compare(episodes(attempt("w", None), attempt("x", 1.0)), episodes(attempt("w", 1.0), renamed))
    assert found.pairs.n == 0
    assert [why for _, why in found.unpaired] == ["no verdict in A", "the task reads differently in the two runs"]


def test_the_usable_try_counts() -> None:
    found = compare(
        episodes(attempt("w", None), attempt("w", 1.0, retry=1)),
        episodes(attempt("w", 0.0), attempt("w", None, retry=1)),
    )
    assert found.pairs == Pairs(both=0, only_a=1, only_b=0, neither=0)


def store(folder: Path, *trajectories: Trajectory) -> Path:
    TrajectoryFile(folder / "trajectories" / "evaluate.jsonl.zst").extend(trajectories)
    return folder


def test_runs_that_cannot_be_compared_are_named(tmp_path: Path) -> None:
    one = store(tmp_path / "one", attempt("w", 1.0))
    other = store(tmp_path / "train" / "evaluate-start", attempt("x", 1.0))
    with pytest.raises(UserError, match="give one of its stages: evaluate-start"):
        compare_runs(one, tmp_path / "train")
    with pytest.raises(UserError, match="no judged episode of the same task"):
        compare_runs(one, other)
    assert compare_runs(one, one).pairs == Pairs(1, 0, 0, 0)


def test_the_pairs_of_several_seeds_are_pooled(tmp_path: Path) -> None:
    before = store(tmp_path / "before", attempt("w", 0.0), attempt("x", 1.0))
    after = store(tmp_path / "after", attempt("w", 1.0), attempt("x", 1.0))
    found = compare_pairs([before, after, after, before, before, after])
    assert found.pairs == Pairs(both=3, only_a=1, only_b=2, neither=0)
    assert "pooled, B - A: +16.7 points" in found.text()
    assert "unpaired" in found.text()
    assert [one["difference"] for one in found.plain()["comparisons"]] == [0.5, -0.5, 0.5]
    with pytest.raises(UserError, match="in pairs, A B A B …; 3 were given"):
        compare_pairs([before, after, after])


def ended(task: Task, answer: str) -> Trajectory:
    evidence = Evidence(answer, task.start_url, "", ())
    verdict = judge(task, evidence)
    reward = float(verdict.outcome is Outcome.PASSED)
    trajectory = make_trajectory([], reward, task, f"{task.id}/attempt-0/try-0")
    return replace(trajectory, evidence=evidence, verdict=verdict)


def test_rejudging_uses_the_checks_of_today_and_keeps_the_old_verdicts(tmp_path: Path) -> None:
    asked = next(task for task in load_tasks("pocket", "all") if _is_a_question(task))
    wrong_then = replace(asked, checks=(AnswerCheck(("nonsense",)),))
    own = replace(make_task("own", answer="yes"), suite="toss")
    run = store(
        tmp_path / "run",
        ended(wrong_then, _answer(asked)),  # failed then, passes today
        ended(own, "yes"),  # of no bundled suite: its stored checks
        attempt("w", 0.0),  # without evidence
    )
    file = run / "trajectories" / "evaluate.jsonl.zst"
    before = file.read_bytes()
    found = rejudge(run)
    assert [change[1:] for change in found.changed] == [(f"{asked.id}/attempt-0/try-0", "failed", "passed")]
    assert (found.before.passed, found.after.passed, found.after.n) == (1, 2, 2)
    assert (found.by_stored_checks, found.without_evidence) == (1, 1)
    assert file.read_bytes() == before
    assert [Path(name).name for name in found.written] == ["evaluate.rejudged-1.json"]
    assert rejudge(run).written == ()
    assert "failed -> passed" in found.text()


def _is_a_question(task: Task) -> bool:
    first, *rest = task.checks
    return isinstance(first, AnswerCheck) and rest in ([], [StateCheck(())])


def _answer(task: Task) -> str:
    check = task.checks[0]
    assert isinstance(check, AnswerCheck)
    return check.expected[0]


def test_a_folder_without_trajectories_cannot_be_rejudged(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run folder"):
        rejudge(tmp_path / "none")
    with pytest.raises(UserError, match="holds no trajectories"):
        rejudge(tmp_path)


def test_a_record_that_is_not_ours_is_named(tmp_path: Path) -> None:
    odd = replace(attempt("w", 0.0), verdict=Verdict(Outcome.FAILED))
    run = store(tmp_path / "run", odd)
    with open(run / "trajectories" / "evaluate.jsonl.zst", "ab") as file:
        file.write(b"rubbish")
    assert "no zstd frame" in rejudge(run).unreadable[0]


def test_the_tasks_of_the_default_run_are_judged_by_the_checks_of_today(tmp_path: Path) -> None:
    config = load_config("quick", [], "evaluate")
    tasks = chosen_tasks(config, "test")
    with open_run(tmp_path / "run", config, "evaluate", "smollm2") as run:
        store(run, *(ended(task, "N/A") for task in tasks))
    found = rejudge(run)
    assert found.after.n == len(tasks) == 105
    assert found.by_stored_checks == 0


def test_options_of_a_run_that_are_no_options_leave_the_defaults(tmp_path: Path) -> None:
    run = store(tmp_path / "run", ended(load_tasks("pocket", "test")[0], "N/A"))
    (run / "config.toml").write_text("[tasks]\nseed = 'three'\n")
    assert rejudge(run).by_stored_checks == 0


def test_a_record_that_was_damaged_since_it_was_indexed_is_named_and_the_others_are_judged(tmp_path: Path) -> None:
    tasks = load_tasks("pocket", "test")[:2]
    run = store(tmp_path / "run", *(ended(task, "N/A") for task in tasks))
    assert rejudge(run).after.n == 2  # leaves an index beside the file
    file = run / "trajectories" / "evaluate.jsonl.zst"
    content = bytearray(file.read_bytes())
    content[4:40] = bytes(36)
    file.write_bytes(content)
    found = rejudge(run)
    assert found.after.n <= 1
    assert found.unreadable

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import util
from pathlib import Path

import pytest
from full_disk import file_size_limit
from tiny import make_task, make_trajectory, make_turn

from clickgrad.errors import UserError
from clickgrad.report.chart import interval_chart, line_chart, share_chart
from clickgrad.report.episodes import Episode
from clickgrad.report.metrics import Metrics, read_steps, timed
from clickgrad.report.page import RunReport, read_report, start_levels
from clickgrad.report.phases import find_phases
from clickgrad.report.rows import CloneRow, LossRow, ReinforceRow, StepRow, metrics_of, plain, read_loss, read_step
from clickgrad.report.stats import Pairs, Rate
from clickgrad.report.summary import EvalReport, PassK, summarize
from clickgrad.report.tables import Table
from clickgrad.report.writers import open_mirrors
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.run_layout import TIMES
from clickgrad.types import CheckResult, End, Outcome, Trajectory, Verdict

TURN = make_turn([1, 2, 3], [4, 5])


def attempt(task: str, number: int, reward: float | None) -> Trajectory:
    return make_trajectory([TURN], reward, make_task(task), f"{task}/attempt-{number}/try-0")


def test_lost_episodes_are_in_no_denominator() -> None:
    unjudged = replace(make_trajectory([TURN], None), end=End.STOPPED)
    passed, failed, crashed = (
        make_trajectory([TURN, TURN], 1.0),
        make_trajectory([TURN], 0.0),
        make_trajectory([], None),
    )
    report = summarize([passed, failed, crashed, unjudged])
    assert report.success == Rate(1, 2, infra_failed=1, unjudged=1)
    assert str(report.success) == "50.0% (n=2, 95 % CI 9.5% to 90.5%, 1 infra-failed, 1 unjudged)"
    assert dict(report.ends) == {"stopped": 3, "crashed": 1}
    assert dict(report.by_end) == {"stopped": Rate(1, 2, 0, 1), "crashed": Rate(0, 0, 1)}
    assert (report.mean_turns, report.mean_reply_tokens) == (1.0, 2.0)
    assert (report.mean_sampled_tokens, report.mean_prompt_tokens) == (2.0, 3.0)
    plain = report.plain()["by_template"]["toy.choose"]
    assert (plain["n"], plain["infra_failed"], plain["unjudged"]) == (2, 1, 1)


def test_attempts_at_a_task_make_pass_k() -> None:
    rewards: dict[str, list[float | None]] = {"a": [1.0, 0.0, 0.0], "b": [1.0, 1.0, None]}
    report = summarize([attempt(task, k, reward) for task, given in rewards.items() for k, reward in enumerate(given)])
    # a: 1 of 3, b: 2 of 2. k=1: 1/3 and 1. k=2: 1 - C(2,2)/C(3,2) = 2/3 and 1; none and all of b's. k=3: only a.
    assert report.passes == (
        PassK(1, pytest.approx((1 / 3 + 1) / 2), pytest.approx((1 / 3 + 1) / 2), 2, 0),  # type: ignore[arg-type]
        PassK(2, pytest.approx((2 / 3 + 1) / 2), pytest.approx((0 + 1) / 2), 2, 0),  # type: ignore[arg-type]
        PassK(3, 1.0, 0.0, 1, 1),
    )
    assert "| 2 | 83.3% | 50.0% | 2 | 0 |" in report.markdown()


def test_failures_are_counted_by_cause() -> None:
    wrong = Verdict(Outcome.FAILED, (CheckResult("answer", False, "no"), CheckResult("url", True, "")))
    stopped = replace(make_trajectory([TURN], 0.0), verdict=wrong)
    crashed = replace(make_trajectory([], None), error="BrowserError: opening the start page")
    report = summarize([stopped, stopped, replace(stopped, end=End.TURN_LIMIT), crashed, make_trajectory([TURN], 1.0)])
    assert dict(report.failures) == {"wrong answer": 2, "turn limit, wrong answer": 1, "crashed: BrowserError": 1}


def test_an_evaluation_is_saved_as_json_and_markdown(tmp_path: Path) -> None:
    report = summarize([attempt("a", 0, 1.0)])
    report.save(tmp_path / "report.json")
    assert (tmp_path / "report.json").exists()
    text = (tmp_path / "report.md").read_text()
    assert "| toy | 100.0% | 20.7 – 100.0 | 1 / 1 | 0 | 0 |" in text
    assert "macro average" in text
    assert "toy.choose" in report.text()


def test_a_report_that_has_no_room_leaves_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    summarize([attempt("a", 0, 1.0)]).save(path)
    before = path.read_text()
    with file_size_limit(100), pytest.raises(UserError, match=r"cannot write .*report\.json"):
        summarize([attempt("a", 0, 0.0)]).save(path)
    assert path.read_text() == before


def test_tables_align_and_keep_their_bars() -> None:
    table = Table(("name", "n"), (("a|b", "1"), ("c", "100")))
    assert table.markdown() == "| name | n |\n| --- | ---: |\n| a\\|b | 1 |\n| c | 100 |"
    assert table.text() == "name    n\n─────────\na|b     1\nc     100"


def test_metrics_survive_a_torn_line_and_rewind(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    assert metrics.read() == []
    for step in (1, 2, 3):
        metrics.append({"step": step, "loss": 1 / 3})
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write('{"step": 4, "lo')
    assert [row["step"] for row in metrics.read()] == [1, 2, 3]
    metrics.rewind(2)
    assert metrics.read() == [{"step": 1, "loss": 0.333333}, {"step": 2, "loss": 0.333333}]


def test_mirrors_are_told_every_row(tmp_path: Path) -> None:
    told: list[object] = []

    class Listener:
        def write(self, figures: Mapping[str, object]) -> None:
            told.append(dict(figures))

        def close(self) -> None:
            told.append("closed")

    metrics = Metrics(tmp_path / "metrics.jsonl", [Listener()])
    metrics.append({"step": 1, "loss": 0.5})
    metrics.close()
    assert told == [{"step": 1, "loss": 0.5}, "closed"]
    assert metrics.read() == [{"step": 1, "loss": 0.5}]


def test_a_writer_that_is_not_installed_is_named(tmp_path: Path) -> None:
    assert open_mirrors(tmp_path, tensorboard=False, wandb="") == []
    if util.find_spec("tensorboard") is None:
        with pytest.raises(UserError, match="pip install tensorboard, or --set log"):
            open_mirrors(tmp_path, tensorboard=True, wandb="")
    if util.find_spec("wandb") is None:
        with pytest.raises(UserError, match="wandb is not installed"):
            open_mirrors(tmp_path, tensorboard=False, wandb="project")


def test_whoever_looks_on_gets_the_readable_rows(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    assert read_steps(path) == ([], [])
    lines = ['{"kind": "clone", "step": 1, "loss": NaN}', "rubbish", "[3]", '{"kind": "clone", "step": 2, "new": 5}']
    path.write_text("\n".join([*lines, '{"kind": "of tomorrow", "step": 3}', '{"kind": ["clone"], "step": 4}', '{"st']))
    rows, skipped = read_steps(path)
    assert rows == [CloneRow(step=1), CloneRow(step=2, more={"new": 5})]
    assert skipped == [f"metrics.jsonl: line {number} is no row of figures" for number in (2, 3, 5, 6)]


def test_a_row_is_read_as_it_was_written(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    rows: list[StepRow] = [
        CloneRow(step=1, loss=0.5),
        ReinforceRow(step=2, success=0.25, crashed=3, more={"worker/a/failed": 1.0}),
    ]
    for row in rows:
        metrics.append(plain(row))
    assert read_steps(tmp_path / "metrics.jsonl") == (rows, [])
    assert [row["kind"] for row in metrics.read()] == ["clone", "reinforce"]


def test_rows_from_before_there_were_kinds_are_told_apart() -> None:
    assert read_step({"step": 1, "lr": 1e-4, "loss": 0.5}) == CloneRow(step=1, lr=1e-4, loss=0.5)
    old = {"step": 3, "success": None, "reward": None, "mean_turns": 2.0}
    assert read_step(old) == ReinforceRow(step=3, mean_turns=2.0)


def test_what_is_drawn_comes_from_the_fields_of_a_row_and_then_from_its_engine() -> None:
    rows = [ReinforceRow(step=1, success=0.5, more={"worker/a/failed": 2.0}), ReinforceRow(step=2)]
    first, *_, last = metrics_of(rows)
    assert (first.name, first.title, first.top) == ("success", "Success of sampled episodes", 1.0)
    assert first.points(rows) == [(1, 0.5)]
    assert (last.title, last.points(rows)) == ("Worker/a/failed", [(1, 2.0)])
    assert "groups_mixed" not in {metric.name for metric in metrics_of(rows)}  # a picture of its own


def test_the_report_names_what_a_cluster_lost(tmp_path: Path) -> None:
    (tmp_path / "cluster.jsonl").write_text(
        '{"time": 1.5, "kind": "worker lost", "what": "w1", "then": "started anew"}\n'
    )
    report = read_report(tmp_path)
    assert report.losses == (LossRow("worker lost", "w1", "started anew"),)
    assert "<td>worker lost</td><td>w1</td><td>started anew</td>" in report.html("run")
    assert read_loss({"what": "w1"}) is None


def test_times_are_written_down_even_when_interrupted(tmp_path: Path) -> None:
    def interrupted() -> None:
        with timed(tmp_path, "rest"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [row["part"] for row in Metrics(tmp_path / TIMES).read()] == ["rest"]


def evaluation(rewards: list[float]) -> EvalReport:
    return summarize([attempt(f"task-{number}", 0, reward) for number, reward in enumerate(rewards)])


def test_the_page_escapes_what_others_wrote(tmp_path: Path) -> None:
    report = RunReport((("<script>x</script>", evaluation([1.0])),), (), (), {"note": "</pre><script>"})
    html = report.html("<b>run</b>")
    assert "<script>" not in html
    assert "&lt;b&gt;run&lt;/b&gt;" in html
    report.save(tmp_path)
    assert (tmp_path / "report.json").exists()


def test_a_report_is_made_from_what_lies_in_the_folder(tmp_path: Path) -> None:
    for stage, rewards in (("evaluate-start", [0.0, 0.0]), ("evaluate-clone", [1.0, 0.0])):
        file = TrajectoryFile(tmp_path / stage / "trajectories" / "evaluate.jsonl.zst")
        file.extend([attempt(f"task-{number}", 0, reward) for number, reward in enumerate(rewards)])
        Metrics(tmp_path / stage / TIMES).append({"part": "evaluation", "seconds": 30.0})
    (tmp_path / "reinforce").mkdir()
    Metrics(tmp_path / "reinforce" / "metrics.jsonl").append(
        {
            "step": 1,
            "success": 0.5,
            "rollout_s": 60.0,
            "update_s": 20.0,
            "groups_mixed": 2,
            "sampled_tokens_per_s": 10.0,
        }
    )
    with open(file.path, "ab") as torn:
        torn.write(b"rubbish at the end")
    (tmp_path / "config.toml").write_text("seed = ")

    report = read_report(tmp_path)
    assert [(name, one.success.value) for name, one in report.evaluations] == [
        ("before cloning", 0.0),
        ("after cloning", 0.5),
    ]
    assert {part.name: (part.seconds, part.tokens) for part in report.parts} == {
        "evaluation before cloning": (30.0, None),
        "evaluation after cloning": (30.0, None),
        "rollout": (60.0, 600),
        "update": (20.0, 0),
    }
    assert [what.partition(":")[0] for what in report.skipped] == [
        "config.toml cannot be read (Invalid value (at end of document))",
        "evaluate-clone/evaluate.jsonl.zst",
    ]
    assert report.gain == Pairs(both=0, only_a=0, only_b=1, neither=1)
    page = report.html("run")
    assert "+50.0 points" in page
    assert "Not everything could be read" in page
    assert "were not found in the success curve" in page
    assert "http://" not in page.replace("http://toy/", "")


def test_an_empty_run_has_a_report_too(tmp_path: Path) -> None:
    assert "Versions" in read_report(tmp_path).html("empty")


def test_phases_are_found_where_the_pace_changes() -> None:
    waver = [0.03, -0.03, 0.04, -0.02]
    rise = [(step, 0.2 + 0.03 * step) for step in range(1, 11)]
    plateau = [(step, 0.5 + 0.002 * (step - 10) + waver[step % 4]) for step in range(11, 29)]
    settled = [(step, 0.62 + 0.001 * (step - 28)) for step in range(29, 41)]
    borders = find_phases([*rise, *plateau, *settled])
    assert borders is not None
    assert borders == pytest.approx((11, 29), abs=1)
    chart = line_chart("Success", [*rise, *plateau, *settled], 1.0, borders)
    assert chart.count('class="border"') == 2


@pytest.mark.parametrize(
    "curve",
    [
        [0.1, 0.2, 0.3],  # too short
        [0.5] * 40,  # nothing happens
        [step / 40 for step in range(40)],  # one steady rise
        [0.9 - step / 50 for step in range(40)],  # it unlearns
    ],
)
def test_phases_are_not_claimed_where_there_are_none(curve: list[float]) -> None:
    assert find_phases(list(enumerate(curve, 1))) is None


def test_a_chart_shows_every_point() -> None:
    assert line_chart("Success", [(1, 0.5), (2, 0.75)], 1.0).count("<circle") == 2
    assert share_chart("Groups", [1, 2], [("a", "all-0", [1, 0]), ("b", "mixed", [3, 4])]).count("<rect") == 4
    assert interval_chart("Rates", [("<a>", Rate(1, 2))]).count("&lt;a&gt;") == 2
    assert line_chart("Nothing", []) == share_chart("Nothing", [], []) == interval_chart("Nothing", []) == ""


def test_an_episode_knows_its_place() -> None:
    episode = Episode.of(make_trajectory([TURN], 1.0, episode="step-0003/task-00012/member-5/try-1"))
    assert (episode.slot, episode.group, episode.step) == (
        "step-0003/task-00012/member-5",
        "step-0003/task-00012",
        3,
    )
    assert Episode.of(make_trajectory([], 1.0, episode="shop.1/attempt-0/try-0")).group is None


def test_an_evaluation_that_measured_nothing_shows_no_rate_anywhere(tmp_path: Path) -> None:
    crashed = [make_trajectory([], None, make_task(name), f"{name}/attempt-0/try-0") for name in ("a", "b")]
    report = summarize([replace(one, end=End.CRASHED) for one in crashed])
    plain = report.plain()
    assert plain["success"] == {
        "rate": None, "passed": 0, "n": 0, "low": None, "high": None, "infra_failed": 2, "unjudged": 0,
    }  # fmt: skip
    assert plain["macro_average"] is None
    assert "not measured (n=0, 2 infra-failed)" in report.text()
    page = RunReport((("now", report),), (), (), {}).html("run")
    assert "not measured" in page
    assert "0.0%" not in page.replace(" ", "")
    assert "0.0%" not in report.text() + report.markdown()


def test_the_report_says_from_where_on_episodes_of_a_template_began(tmp_path: Path) -> None:
    levels = {3: {"shop.buy": 2, "map.tour": 1}, 4: {"shop.buy": 2}, 5: {"shop.buy": 3}, 6: {"shop.buy": 2}}
    rows = [
        ReinforceRow(step=step, success=0.5, more={f"left/{name}": left for name, left in some.items()})
        for step, some in levels.items()
    ]
    assert start_levels(rows) == [
        ("map.tour", "1 from step 3"),
        ("shop.buy", "2 from step 3, 3 from step 5, 2 from step 6"),
    ]
    for row in rows:
        Metrics(tmp_path / "metrics.jsonl").append(plain(row))
    assert "2 from step 3, 3 from step 5" in read_report(tmp_path).html("run")

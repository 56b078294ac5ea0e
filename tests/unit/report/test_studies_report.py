"""Tables made from what lies in a study's folder, whole or not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tiny import make_task, make_trajectory, make_turn

from clickgrad.config import BaselinesSection, ForksSection
from clickgrad.report import paper
from clickgrad.report.chart import Curve, curves_chart
from clickgrad.report.cuts import Cut, read_cuts, write_cuts
from clickgrad.report.forks import CLONING, NAMES
from clickgrad.report.metrics import Metrics
from clickgrad.report.rows import ReinforceRow, plain
from clickgrad.report.studies import read_study
from clickgrad.report.study_report import StudyReport
from clickgrad.report.viewer.server import make_app
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.studies.forks import ARMS

TURN = make_turn([1, 2, 3], [4, 5])


def evaluation(folder: Path, rewards: list[float | None], policy: str = "torch:<i>tiny</i>") -> Path:
    file = TrajectoryFile(folder / "trajectories" / "evaluate.jsonl.zst")
    named = [(f"task-{number}", reward) for number, reward in enumerate(rewards)]
    file.extend([make_trajectory([TURN], r, make_task(name), f"{name}/attempt-0/try-0") for name, r in named])
    (folder / "config.toml").write_text(f'command = "evaluate"\nstart = "{policy}"\n')
    return file.path


def begin(run: Path, study: str) -> None:
    run.mkdir(exist_ok=True)
    (run / "config.toml").write_text(f'command = "study {study}"\n')


def read(run: Path) -> StudyReport:
    report = read_study(run)
    assert report
    return report


def rows(report: StudyReport) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in report.tables[0][1].rows}


def test_a_folder_that_is_no_studys_has_no_study(tmp_path: Path) -> None:
    assert read_study(tmp_path) is None
    (tmp_path / "config.toml").write_text('command = "train"\n')
    assert read_study(tmp_path) is None
    (tmp_path / "config.toml").write_text("command = ")
    assert read_study(tmp_path) is None


def test_a_start_study_pairs_before_and_after_and_dashes_what_is_missing(tmp_path: Path) -> None:
    begin(tmp_path, "start")
    evaluation(tmp_path / "r1" / "evaluate-clone", [1.0, 0.0, 0.0, None])
    evaluation(tmp_path / "r1" / "evaluate-reinforce", [1.0, 1.0, 0.0, 0.0])
    evaluation(tmp_path / "zero" / "evaluate-start", [0.0])
    table = rows(read(tmp_path))
    # Wilson, 1 of 3: 6.1 to 79.2; 2 of 4: 15.0 to 85.0. Of three pairs one is gained: +33.3.
    assert table["R1, plain cloning: ours"][:3] == ("3 / 4", "33.3 (6.1 – 79.2, 1 infra-failed)", "50.0 (15.0 – 85.0)")
    assert table["R1, plain cloning: ours"][3].startswith("+33.3 (")
    assert table["R1, plain cloning: ours"][4:] == ("2 → 2", "1.0 → 1.0")
    assert table["R1, plain cloning: paper"] == ("165", "20.0", "33.9", "+13.9", "48 → 42", "9 → 8")
    assert table["R1-Zero, the base model: ours"][1:4] == ("0.0 (0.0 – 79.3)", "–", "–")
    assert table["R1-CoT, cloned long reasoning: ours"] == ("–", "–", "–", "–", "– → –", "– → –")


def test_turn_limits_stand_beside_the_papers(tmp_path: Path) -> None:
    begin(tmp_path, "turns")
    folder = tmp_path / "01-torch-tiny"
    evaluation(folder, [1.0, 0.0])
    cuts = [Cut("a", 2, 2, 0.0, "rule"), Cut("a", 5, 4, 1.0, "kept"), Cut("b", 2, 2, 1.0, "replay")]
    write_cuts(folder, [*cuts, Cut("b", 5, 5, None, "lost")])
    report = read(tmp_path)
    table = rows(report)
    assert list(table) == ["2", "5", "10", "15", "20", "25", "30"]
    assert table["2"] == ("50.0 (9.5 – 90.5)", "–", "–", "–")
    assert table["5"] == ("100.0 (20.7 – 100.0, 1 infra-failed)", "2.4", "10.3", "17.6")
    assert report.tables[1][1].rows == (
        ("torch:<i>tiny</i>", "2", "0", "1", "1", "0", "2.0"),
        ("torch:<i>tiny</i>", "5", "1", "0", "0", "1", "4.5"),
    )
    page = report.html("run")
    assert page.count("<svg") == 2
    assert "<i>tiny</i>" not in page
    report.save(tmp_path)
    plain = json.loads((tmp_path / "report.json").read_text())
    assert plain["ours"][0]["limits"][0]["decided"] == {"kept": 0, "rule": 1, "replay": 1, "lost": 0}
    assert paper.CAVEAT in (tmp_path / "report.md").read_text()


def test_prompting_is_told_by_site_in_the_papers_order(tmp_path: Path) -> None:
    begin(tmp_path, "prompting")
    evaluation(tmp_path / "01-a", [1.0], "a")
    report = read(tmp_path)
    assert report.tables[0][1].header[2:5] == ("forum / Reddit", "code / GitLab", "admin / CMS")
    assert rows(report)["Qwen2.5-3B: paper"] == ("165", "5.3", "13.3", "5.7", "0.0", "4.4", "–", "6.1")
    assert rows(report)["a: ours"] == ("1", "–", "–", "–", "–", "–", "–", "100.0 (20.7 – 100.0)")


@pytest.mark.parametrize("content", ["", "[", "{}", '[{"is": "Cut"}]', '["x"]', "\x00\xff"])
def test_broken_cuts_are_named_and_the_rest_is_told(tmp_path: Path, content: str) -> None:
    begin(tmp_path, "turns")
    for name in ("01-good", "02-broken"):
        evaluation(tmp_path / name, [1.0], name)
    write_cuts(tmp_path / "01-good", [Cut("a", 2, 2, 1.0, "kept")])
    (tmp_path / "02-broken" / "cuts.json").write_bytes(content.encode("latin-1"))
    report = read(tmp_path)
    assert [what.partition(":")[0] for what in report.skipped] == ["02-broken/cuts.json"]
    assert report.tables[0][1].header[1] == "01-good: ours, n=1"
    assert "Not everything could be read" in report.html("run")
    assert "not read: 02-broken/cuts.json" in report.text()


def test_a_torn_evaluation_within_a_study_is_named(tmp_path: Path) -> None:
    begin(tmp_path, "format")
    evaluation(tmp_path / "01-a" / "plain", [1.0, 0.0], "a")
    with open(evaluation(tmp_path / "01-a" / "thinking", [1.0], "a"), "ab") as file:
        file.write(b"rubbish")
    report = read(tmp_path)
    assert rows(report)["a: ours"][0] == "2 / 1"
    assert report.skipped[0].startswith("thinking/evaluate.jsonl.zst: everything from byte")


def test_cuts_are_written_whole_and_read_back(tmp_path: Path) -> None:
    assert read_cuts(tmp_path, []) == []
    cuts = [Cut("a", 2, 2, None, "lost"), Cut("b", 2, 1, 1.0, "kept")]
    write_cuts(tmp_path, cuts)
    assert read_cuts(tmp_path, []) == cuts
    assert [path.name for path in tmp_path.iterdir()] == ["cuts.json"]


def test_curves_share_one_scale_and_escape_their_names() -> None:
    chart = curves_chart("Success", [Curve("<a>", ((1, 0.5), (4, 1.0)), ((0.2, 0.8), (0.4, 1.0)))], 1.0, "turns")
    assert (chart.count("<circle"), chart.count('class="bar"'), chart.count("&lt;a&gt;")) == (2, 2, 2)
    assert "turns 4" in chart
    assert curves_chart("Nothing", [], 1.0, "turns") == ""


def test_the_viewer_shows_a_study_as_its_report(tmp_path: Path) -> None:
    begin(tmp_path, "prompting")
    evaluation(tmp_path / "01-a", [1.0], "a")
    client = TestClient(make_app(tmp_path), base_url="http://127.0.0.1")
    assert "<h1>Prompting baselines</h1>" in client.get("/report", params={"run": "."}).text
    assert "<h1>01-a</h1>" in client.get("/report", params={"run": "01-a"}).text


def test_arms_are_pooled_over_the_seeds_and_compared_with_the_clone_and_with_cloning_on(tmp_path: Path) -> None:
    """Two seeds of four tasks. The clones solve 1 and 2 of them, cloning on 2 and 2, all additions 3 and 3."""
    tmp_path.joinpath("config.toml").write_text(
        'command = "study forks"\n[forks]\nseeds = [0, 1]\narms = ["cloning", "paper", "all"]\n'
    )
    solved = {
        "evaluate-clone": ([1, 0, 0, 0], [1, 1, 0, 0]),
        "cloning/evaluate-after": ([1, 1, 0, 0], [1, 1, 0, 0]),
        "all/evaluate-after": ([1, 1, 1, 0], [0, 1, 1, 1]),
    }
    for place, by_seed in solved.items():
        for seed, rewards in enumerate(by_seed):
            evaluation(tmp_path / f"seed-{seed}" / place, list(map(float, rewards)))
    for seed in range(2):
        for step, spent_s in ((1, 60.0), (2, 150.0)):
            row = ReinforceRow(step=step, success=0.5, groups_all_0=1, groups_mixed=2, groups_all_1=1, spent_s=spent_s)
            row = replace(row, sampled_tokens=1000)
            folder = tmp_path / f"seed-{seed}" / "all" / "reinforce"
            folder.mkdir(exist_ok=True)
            Metrics(folder / "metrics.jsonl").append(plain(row))
    report = read(tmp_path)
    table = rows(report)
    assert table["the clone"][:2] == ("8", "37.5 (13.7 – 69.4)")  # Wilson, 3 of 8
    # Of the pairs of all seeds four are gained and one is lost: p = 2 (C(5,0) + C(5,1)) / 2^5 = 12/32.
    arm = report.figures["arms"]["all"]
    assert (arm["over_clone"]["gained"], arm["over_clone"]["lost"], arm["over_clone"]["mcnemar_p"]) == (4, 1, 0.375)
    assert (arm["over_cloning"]["gained"], arm["over_cloning"]["lost"]) == (3, 1)
    assert (arm["steps"], arm["mixed_share"], arm["sampled_tokens"], arm["minutes"]) == (4, 0.5, 4000, 5.0)
    assert table["… and all three"][0] == "8"
    assert table["… and all three"][2].startswith("+37.5 (")
    assert table["… and all three"][-3:] == ("4", "8 (50%)", "4 k")
    assert set(table["M-GRPO as in the paper"]) == {"0", "–"}, "still to come"


def test_every_arm_of_the_options_is_one_that_the_study_knows() -> None:
    assert ForksSection().arms == [CLONING, *ARMS]
    assert {*ForksSection().arms, *BaselinesSection().arms} == set(NAMES)


def test_a_study_of_baselines_has_a_table_for_each_budget_and_the_papers_rows(tmp_path: Path) -> None:
    """Two tasks were failed by the clone; AWR gains one of them after the same minutes, and both after the episodes."""
    arms = '["cloning", "awr-offline", "awr"]'
    (tmp_path / "config.toml").write_text(
        f'command = "study baselines"\n[baselines]\nminutes = 1.0\nepisodes = 4\nseeds = [7]\narms = {arms}\n'
    )
    seed = tmp_path / "seed-7"
    evaluation(seed / "evaluate-clone", [1.0, 0.0, 0.0])
    evaluation(seed / "minutes" / "cloning" / "evaluate-after", [1.0, 0.0, 0.0])
    evaluation(seed / "minutes" / "awr" / "evaluate-after", [1.0, 1.0, 0.0])
    evaluation(seed / "episodes" / "awr" / "evaluate-after", [1.0, 1.0, 1.0])
    row = {"kind": "reinforce", "step": 1, "value_auc": 0.7, "sampled_tokens": 2000, "groups_mixed": 2}
    (seed / "minutes" / "awr" / "reinforce").mkdir()
    (seed / "minutes" / "awr" / "reinforce" / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    report = read(tmp_path)
    titles = [title for title, _ in report.tables]
    assert titles == ["Success after the same minutes", "Success after the same episodes", "What the papers report"]
    minutes, episodes, papers = ({row[0]: row[1:] for row in table.rows} for _, table in report.tables)
    assert list(minutes) == ["the clone", "cloning continued", "AWR"], "offline there are no minutes to share out"
    assert minutes["AWR"][2].startswith("+33.3")
    assert minutes["AWR"][4].startswith("+33.3"), "over cloning continued"
    assert minutes["AWR"][8] == "2 k"
    assert list(episodes) == ["the clone", "AWR, offline", "AWR"]
    assert episodes["AWR, offline"][1] == "–"
    assert episodes["AWR"][2].startswith("+66.7")
    assert papers["WebRL"][0] == "42.4"
    assert report.figures["minutes"]["awr"]["value_auc"] == 0.7
    assert report.figures["minutes"]["awr"]["over_cloning"]["gained"] == 1
    assert paper.PROVENANCE in report.text()

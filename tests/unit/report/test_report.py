from __future__ import annotations

from pathlib import Path

import pytest
from tiny import make_trajectory, make_turn

from clickgrad.report.chart import line_chart
from clickgrad.report.metrics import Metrics
from clickgrad.report.page import TrainReport
from clickgrad.report.stats import Rate
from clickgrad.report.summary import summarize


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [  # Wilson's formula: (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n), z = 1.96
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
    ],
)
def test_the_interval_is_wilsons(passed: int, n: int, low: float, high: float) -> None:
    assert Rate(passed, n).interval == pytest.approx((low, high), abs=5e-5)


def test_a_rate_without_episodes_claims_nothing() -> None:
    assert Rate(0, 0).interval == (0.0, 1.0)


def test_lost_episodes_are_in_no_denominator() -> None:
    turn = make_turn([1], [2, 3])
    report = summarize([make_trajectory([turn, turn], 1.0), make_trajectory([turn], 0.0), make_trajectory([], None)])
    assert report.success == Rate(1, 2, infra_failed=1)
    assert str(report.success) == "50.0% (n=2, 95 % CI 9.5% to 90.5%, 1 infra-failed)"
    assert dict(report.ends) == {"stopped": 2, "crashed": 1}
    assert (report.mean_turns, report.mean_reply_tokens) == (1.0, 2.0)
    assert report.plain()["by_template"]["toy.choose"]["n"] == 2


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


def test_the_page_escapes_what_others_wrote(tmp_path: Path) -> None:
    hostile = make_trajectory([make_turn([1], [2])], 1.0)
    evaluation = summarize([hostile])
    report = TrainReport((("<script>x</script>", evaluation),), (), (), {"note": "</pre><script>"}, 60.0)
    html = report.html("<b>run</b>")
    assert "<script>" not in html
    assert "&lt;b&gt;run&lt;/b&gt;" in html
    report.save(tmp_path)
    assert (tmp_path / "report.json").exists()


def test_a_chart_shows_every_point() -> None:
    assert line_chart("Success", [(1, 0.5), (2, 0.75)], 1.0).count("<circle") == 2
    assert line_chart("Nothing", []) == ""

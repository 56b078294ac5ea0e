from __future__ import annotations

from pathlib import Path

import pytest
from full_disk import file_size_limit

from clickgrad.errors import UserError
from clickgrad.report.metrics import Metrics, read_rows, read_steps
from clickgrad.report.rows import read_time


@pytest.fixture
def metrics(tmp_path: Path) -> Metrics:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    for step in (1, 2, 3):
        metrics.append({"step": step, "loss": 0.5})
    return metrics


def rewound(metrics: Metrics, step: int) -> tuple[list[int], list[str]]:
    told: list[str] = []
    metrics.rewind(step, told.append)
    return [row["step"] for row in metrics.read()], told


def test_whole_metrics_and_a_torn_end_are_nothing_to_speak_of(tmp_path: Path, metrics: Metrics) -> None:
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write('{"step": 4, "lo')
    assert rewound(metrics, 2) == ([1, 2], [])


@pytest.mark.parametrize(
    ("content", "left", "lost"),
    [
        (b"", [], 2),
        (b"\x00\xff\xfe binary, without a line", [], 2),
        (b"\x00\xff\n\xfe\n\n", [], 2),
        (b'{"step": 1}\n{"st\xffep": 2}\n', [1], 1),
        (b'{"step": 1}\n[2]\n{"step": "2"}\n', [1], 1),
        (b'{"step": 1}\n', [1], 1),
        (b"[" * 100_000 + b'\n{"step": 2}\n', [2], 1),
    ],
)
def test_damaged_metrics_are_named_in_a_line_and_kept(
    tmp_path: Path, metrics: Metrics, content: bytes, left: list[int], lost: int
) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(content)
    steps, (line,) = rewound(metrics, 2)
    assert steps == left
    assert f"{path} is damaged: the figures of {lost} steps are lost" in line
    if "kept as" in line:
        assert (tmp_path / "metrics.jsonl.damaged").read_bytes() == content
    metrics.append({"step": 3})
    assert [row["step"] for row in metrics.read()] == [*left, 3]


def test_no_flipped_bit_makes_another_figure(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    written = [{"step": step, "loss": 0.25 * step} for step in (1, 2)]
    for row in written:
        Metrics(path).append(row)
    whole = path.read_bytes()
    for bit in range(8 * len(whole)):
        path.write_bytes(whole[: bit // 8] + bytes([whole[bit // 8] ^ 1 << bit % 8]) + whole[bit // 8 + 1 :])
        read = [{name: value for name, value in row.items() if name in written[0]} for row in Metrics(path).read()]
        assert all(row in written for row in read), bit


def test_a_figure_that_became_another_is_named_and_taken_out(tmp_path: Path, metrics: Metrics) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(path.read_text().replace('"step": 2, "loss": 0.5', '"step": 2, "loss": 0.7'))
    steps, (line,) = rewound(metrics, 3)
    assert steps == [1, 3]
    assert "the figures of 1 steps are lost; kept as metrics.jsonl.damaged" in line
    assert read_steps(path)[1] == []  # what is left is whole


def test_rows_without_a_checksum_are_still_read(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    metrics = Metrics(tmp_path / "metrics.jsonl")
    metrics.append({"step": 2, "loss": 0.25})
    assert rewound(metrics, 2) == ([1, 2], [])


def test_a_row_after_a_torn_one_is_not_lost_with_it(tmp_path: Path) -> None:
    times = Metrics(tmp_path / "times.jsonl")
    times.append({"part": "evaluation", "seconds": 1.0})
    with open(tmp_path / "times.jsonl", "a") as file:
        file.write('{"part": "eva')
    times.append({"part": "evaluation", "seconds": 2.0})
    rows, skipped = read_rows(tmp_path / "times.jsonl", read_time)
    assert [row.seconds for row in rows] == [1.0, 2.0]
    assert skipped == ["times.jsonl: line 2 is no row of figures"]


def test_a_full_disk_is_one_line_and_the_rows_before_it_stay(tmp_path: Path, metrics: Metrics) -> None:
    size = (tmp_path / "metrics.jsonl").stat().st_size
    with file_size_limit(size + 5), pytest.raises(UserError, match=r"cannot write .*metrics\.jsonl .*make room"):
        metrics.append({"step": 4, "loss": 0.5})
    assert rewound(metrics, 3) == ([1, 2, 3], [])
